//! A TUN device: IP packets to and from the kernel, one per read and one per write. With offload, a
//! packet may be a large segment that the kernel cuts or has joined. Its checksum may be left to
//! the side that takes it (struct virtio_net_hdr, linux/virtio_net.h).

use super::{Error, advice};
use eifel_packet::checksum::Sum;
use eifel_packet::tcp::CHECKSUM_OFFSET;
use rustix::io::Errno;
use rustix::ioctl::{IntegerSetter, Opcode, Updater, ioctl, opcode};
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

/// The kernel's `struct ifreq`, as far as TUNSETIFF reads and writes it.
#[repr(C)]
struct Request {
    name: [u8; NAME_LEN],
    flags: u16,
    rest: [u8; 22],
}

const NAME_LEN: usize = 16;
/// `_IOW('T', 202, int)`; the kernel reads a [`Request`] nevertheless.
const TUNSETIFF: Opcode = opcode::write::<i32>(b'T', 202);
const IFF_TUN: u16 = 0x0001;
/// No packet information, four bytes, in front of each packet.
const IFF_NO_PI: u16 = 0x1000;
/// Ten bytes in front of each packet, about checksums and segments.
const IFF_VNET_HDR: u16 = 0x4000;
/// `_IOW('T', 208, unsigned int)`: the work that the kernel may leave to this end.
const TUNSETOFFLOAD: Opcode = opcode::write::<u32>(b'T', 208);
/// TUN_F_CSUM, TUN_F_TSO4 and TUN_F_TSO6.
const OFFLOAD: usize = 1 | 2 | 4;
const NEEDS_CHECKSUM: u8 = 1;
const TSO_V4: u8 = 1;
const TSO_V6: u8 = 4;
const O_NONBLOCK: i32 = 0o4000;

/// A device. It exists as long as this value, and disappears with the process, however the process
/// ends.
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
    offloads: bool,
}

/// A TCP segment whose checksum the kernel fills in, and that the kernel cuts if it is large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offload {
    /// Bytes of the IP header.
    pub ip_len: u16,
    /// Bytes of both headers.
    pub headers_len: u16,
    /// Payload bytes of the segments that it is cut into; 0 if it is not cut.
    pub unit: u16,
    /// Whether it is over IPv6.
    pub is_v6: bool,
}

impl Tun {
    /// Makes a device in the network namespace of the calling thread. The kernel replaces `%d` in
    /// the name by the first free number.
    ///
    /// # Errors
    /// If `/dev/net/tun` is missing or may not be opened, or another device has the name.
    pub fn create(name: &str) -> Result<Self, Error> {
        Self::make(name, false)
    }

    /// Makes a device as [`create`](Self::create) does, with offload.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn create_offloading(name: &str) -> Result<Self, Error> {
        Self::make(name, true)
    }

    fn make(name: &str, offloads: bool) -> Result<Self, Error> {
        if name.is_empty() || name.len() >= NAME_LEN {
            return Err(Error::new(format!("make the device {name:?}"), &"a name has 1 to 15 bytes", ""));
        }
        let open = OpenOptions::new().read(true).write(true).custom_flags(O_NONBLOCK).open("/dev/net/tun");
        let file = open.map_err(|error| Error::new("open /dev/net/tun", &error, opening(error.kind())))?;
        let mut request = Request {
            name: [0; NAME_LEN],
            flags: IFF_TUN | IFF_NO_PI | if offloads { IFF_VNET_HDR } else { 0 },
            rest: [0; 22],
        };
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: TUNSETIFF takes a pointer to a `struct ifreq`, 40 bytes, which `Request` is laid out as, and writes its name.
        let made = unsafe { ioctl(&file, Updater::<TUNSETIFF, Request>::new(&mut request)) };
        made.map_err(|error| {
            let error = io::Error::from(error);
            let advice = match error.kind() {
                io::ErrorKind::ResourceBusy => "the name is taken: choose another",
                io::ErrorKind::InvalidInput => {
                    "a device that is not TUN has this name, or the name is not allowed: choose another"
                }
                _ => advice(&error),
            };
            Error::new(format!("make the device {name}"), &error, advice)
        })?;
        let name = String::from_utf8_lossy(&request.name);
        let name = name.trim_end_matches('\0').to_owned();
        if offloads {
            // SAFETY: the opcode takes a number, not a pointer.
            let set = unsafe { ioctl(&file, IntegerSetter::<TUNSETOFFLOAD>::new_usize(OFFLOAD)) };
            set.map_err(|error| Error::new(format!("let {name} offload"), &io::Error::from(error), ""))?;
        }
        Ok(Self { file, name, offloads })
    }

    /// Uses a descriptor as a device, for example one of a pair of sockets. It has to transfer one
    /// packet per read and per write without blocking. With `offloads`, each packet has the ten
    /// bytes of a device with offload in front.
    pub fn over(descriptor: OwnedFd, name: &str, offloads: bool) -> Self {
        Self { file: descriptor.into(), name: name.to_owned(), offloads }
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the next packet into `room`, and returns its length; `None` if there is none.
    ///
    /// # Errors
    /// Those of the device, for example because it is down.
    pub fn read(&self, room: &mut [u8]) -> Result<Option<usize>, Error> {
        let mut front = [0; FRONT];
        let read = match self.offloads {
            false => rustix::io::read(&self.file, &mut *room),
            true => rustix::io::readv(&self.file, &mut [IoSliceMut::new(&mut front), IoSliceMut::new(room)]),
        };
        match read {
            Ok(length) if !self.offloads => Ok(Some(length)),
            Ok(length) => {
                let length = length.saturating_sub(FRONT);
                finish(&front, &mut room[..length]);
                Ok(Some(length))
            }
            Err(Errno::AGAIN) => Ok(None),
            Err(error) => Err(Error::new(format!("read from {}", self.name), &io::Error::from(error), "")),
        }
    }

    /// Returns whether the kernel takes unfinished segments.
    pub fn offloads(&self) -> bool {
        self.offloads
    }

    /// Hands a packet to the kernel; `false` if it had no room and the packet is lost.
    ///
    /// # Errors
    /// Those of the device.
    pub fn write(&self, packet: &[u8]) -> Result<bool, Error> {
        self.hand_over(if self.offloads { &[0; FRONT] } else { &[] }, [packet, &[], &[]])
    }

    /// Hands an unfinished segment to the kernel, as [`write`](Self::write) does a packet. The device has to offload.
    ///
    /// # Errors
    /// Those of the device.
    pub fn write_offloaded(&self, pieces: [&[u8]; 3], how: Offload) -> Result<bool, Error> {
        let kind = if how.is_v6 { TSO_V6 } else { TSO_V4 };
        let mut front = [0; FRONT];
        front[0] = NEEDS_CHECKSUM;
        let large = if how.unit > 0 { [how.headers_len, how.unit] } else { [0; 2] };
        front[1] = if how.unit > 0 { kind } else { 0 };
        let numbers = [large[0], large[1], how.ip_len, CHECKSUM_OFFSET as u16];
        for (place, number) in numbers.into_iter().enumerate() {
            front[2 + 2 * place..][..2].copy_from_slice(&number.to_ne_bytes());
        }
        self.hand_over(&front, pieces)
    }

    /// Writes a packet with raw system calls. The C library's calls check for cancelled threads
    /// each time, which shows at a million packets a second.
    fn hand_over(&self, front: &[u8], [head, first, second]: [&[u8]; 3]) -> Result<bool, Error> {
        let mut slices = [IoSlice::new(&[]); 4];
        let mut count = 0;
        for piece in [front, head, first, second].into_iter().filter(|piece| !piece.is_empty()) {
            slices[count] = IoSlice::new(piece);
            count += 1;
        }
        let written = match &slices[..count] {
            [packet] => rustix::io::write(&self.file, packet),
            pieces => rustix::io::writev(&self.file, pieces),
        };
        match written {
            Ok(_) => Ok(true),
            Err(Errno::AGAIN | Errno::NOMEM) => Ok(false),
            Err(error) => Err(Error::new(format!("write to {}", self.name), &io::Error::from(error), "")),
        }
    }
}

/// Returns advice for a `/dev/net/tun` that cannot be opened. A user namespace does not change its
/// file mode.
fn opening(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => "the kernel has no TUN devices, or this container hides them",
        io::ErrorKind::PermissionDenied => "run it as root, or let root allow it: chmod a+rw /dev/net/tun",
        _ => "",
    }
}

/// Bytes in front of a packet of a device that offloads.
const FRONT: usize = 10;

/// Fills in a checksum that the kernel has left out.
fn finish(front: &[u8; FRONT], packet: &mut [u8]) {
    let number = |at: usize| usize::from(u16::from_ne_bytes([front[at], front[at + 1]]));
    let (start, place) = (number(6), number(6) + number(8));
    if front[0] & NEEDS_CHECKSUM == 0 || place + 2 > packet.len() {
        return;
    }
    let sum = Sum::default().bytes(&packet[start..]).finish();
    packet[place..place + 2].copy_from_slice(&sum.to_be_bytes());
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_names_the_missing_right() {
        assert!(opening(io::ErrorKind::PermissionDenied).contains("chmod a+rw /dev/net/tun"));
        assert!(opening(io::ErrorKind::NotFound).contains("no TUN devices"));
        assert_eq!(opening(io::ErrorKind::Interrupted), "");
    }
}
