//! A TUN device: IP packets to and from the kernel, one a read and one a write.

use super::{Error, advice};
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// The kernel's `struct ifreq`, as far as TUNSETIFF reads and writes it.
#[repr(C)]
struct Request {
    name: [u8; NAME_LEN],
    flags: u16,
    rest: [u8; 22],
}

const NAME_LEN: usize = 16;
/// `_IOW('T', 202, int)`; what is read is a [`Request`] all the same.
const TUNSETIFF: Opcode = opcode::write::<i32>(b'T', 202);
const IFF_TUN: u16 = 0x0001;
/// No four bytes in front of each packet.
const IFF_NO_PI: u16 = 0x1000;
const O_NONBLOCK: i32 = 0o4000;

/// A device, which is there as long as this is: it goes with the process, however that ends.
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
}

impl Tun {
    /// Makes a device in the network namespace of the calling thread. In place of `%d` the kernel puts the first number that is
    /// free.
    ///
    /// # Errors
    /// Where there is no `/dev/net/tun`, no right to it, or another device has the name.
    pub fn create(name: &str) -> Result<Self, Error> {
        if name.is_empty() || name.len() >= NAME_LEN {
            return Err(Error::new(format!("make the device {name:?}"), &"a name has 1 to 15 bytes", ""));
        }
        let open = OpenOptions::new().read(true).write(true).custom_flags(O_NONBLOCK).open("/dev/net/tun");
        let file = open.map_err(|error| {
            let advice = match error.kind() {
                io::ErrorKind::NotFound => "the kernel has no TUN devices, or this container hides them",
                _ => advice(&error),
            };
            Error::new("open /dev/net/tun", &error, advice)
        })?;
        let mut request = Request { name: [0; NAME_LEN], flags: IFF_TUN | IFF_NO_PI, rest: [0; 22] };
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        // SAFETY: TUNSETIFF takes a pointer to a `struct ifreq`, 40 bytes, which `Request` is laid out as, and writes its name.
        let made = unsafe { ioctl(&file, Updater::<TUNSETIFF, Request>::new(&mut request)) };
        made.map_err(|error| {
            let error = io::Error::from(error);
            let advice = match error.kind() {
                io::ErrorKind::ResourceBusy => "the name is taken: choose another",
                _ => advice(&error),
            };
            Error::new(format!("make the device {name}"), &error, advice)
        })?;
        let name = String::from_utf8_lossy(&request.name);
        let name = name.trim_end_matches('\0').to_owned();
        Ok(Self { file, name })
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the next packet into `room`, and returns its length; `None` if there is none.
    ///
    /// # Errors
    /// Those of the device, such as that it is down.
    pub fn read(&self, room: &mut [u8]) -> Result<Option<usize>, Error> {
        match (&self.file).read(room) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(Error::new(format!("read from {}", self.name), &error, "")),
        }
    }

    /// Hands a packet to the kernel; `false` if it had no room and the packet is lost.
    ///
    /// # Errors
    /// Those of the device.
    pub fn write(&self, packet: &[u8]) -> Result<bool, Error> {
        match (&self.file).write(packet) {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory) => Ok(false),
            Err(error) => Err(Error::new(format!("write to {}", self.name), &error, "")),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
