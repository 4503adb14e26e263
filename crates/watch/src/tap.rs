//! The packets that pass the devices of this network namespace. All `unsafe` code of this crate is here and in
//! `undo/struct_ops.rs`.

#![expect(unsafe_code, reason = "times and drops of a packet socket are options that no safe crate offers")]

use crate::error::Error;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, eth, sockopt};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Bytes that the kernel buffers until they are read: a burst of some ten thousand packets.
const ROOM: usize = 32 << 20;
/// Bytes of a control message with one time.
const CONTROL: usize = 64;

/// A packet socket that receives all packets.
#[derive(Debug)]
pub struct Tap {
    socket: OwnedFd,
}

impl Tap {
    /// Receives packets from now on.
    ///
    /// # Errors
    /// If the rights are missing.
    pub fn open() -> Result<Self, Error> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(AddressFamily::PACKET, SocketType::DGRAM, flags, Some(eth::ALL));
        let socket = socket.map_err(|error| {
            let is_denied = matches!(error, Errno::PERM | Errno::ACCESS);
            Error { is_denied, ..Error::new("open a packet socket", error.to_string()) }
        })?;
        // Without the right to exceed it, the kernel's limit applies.
        if sockopt::set_socket_recv_buffer_size_force(&socket, ROOM).is_err() {
            let _ = sockopt::set_socket_recv_buffer_size(&socket, ROOM);
        }
        let on: libc::c_int = 1;
        // SAFETY: the option takes a pointer to an int, which lives through the call, and its size.
        let set = unsafe {
            let size = size_of::<libc::c_int>() as libc::socklen_t;
            libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, (&raw const on).cast(), size)
        };
        if set != 0 {
            return Err(Error::new("ask for the times of packets", io::Error::last_os_error().to_string()));
        }
        Ok(Self { socket })
    }

    /// Reads the next packet into `room`. Returns its length, and when the kernel saw it, in
    /// nanoseconds since 1970. Returns `None` if there is no packet.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn read(&self, room: &mut [u8]) -> Result<Option<(usize, u64)>, Error> {
        let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
        // Control messages are aligned as their header is.
        let mut control = [0_u64; CONTROL / 8];
        // SAFETY: a header of zeros is valid, and asks for nothing.
        let mut header: libc::msghdr = unsafe { zeroed() };
        (header.msg_iov, header.msg_iovlen) = (&raw mut part, 1);
        // C libraries disagree about the type of the length.
        (header.msg_control, header.msg_controllen) = (control.as_mut_ptr().cast(), CONTROL as _);
        // SAFETY: the header names `room` and `control` with their lengths; both live through the call, and nothing else uses them.
        let length = unsafe { libc::recvmsg(self.socket.as_raw_fd(), &raw mut header, 0) };
        let Ok(length) = usize::try_from(length) else {
            let error = io::Error::last_os_error();
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
                _ => Err(Error::new("read from a packet socket", error.to_string())),
            };
        };
        Ok(Some((length, time_in(&header))))
    }

    /// Returns how many packets the kernel dropped for lack of room since the last call.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn missed(&self) -> Result<u32, Error> {
        // SAFETY: counters of zeros are valid.
        let mut counted: libc::tpacket_stats = unsafe { zeroed() };
        let mut size = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        let (level, option) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
        // SAFETY: the option writes a `tpacket_stats`, for which there is room of the size that is given.
        let got = unsafe {
            libc::getsockopt(self.socket.as_raw_fd(), level, option, (&raw mut counted).cast(), &raw mut size)
        };
        match got {
            0 => Ok(counted.tp_drops),
            _ => Err(Error::new("count the packets of a packet socket", io::Error::last_os_error().to_string())),
        }
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Returns the time in the control messages of a packet that was read; 0 if there is none.
fn time_in(header: &libc::msghdr) -> u64 {
    // SAFETY: the kernel has filled the control messages that the header names, and they live as long as it.
    let first = unsafe { libc::CMSG_FIRSTHDR(header) };
    if first.is_null() {
        return 0;
    }
    // SAFETY: `CMSG_FIRSTHDR` points to a whole message within them; a message of this level and
    // type holds a `timespec`.
    let time = unsafe {
        if ((*first).cmsg_level, (*first).cmsg_type) != (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
            return 0;
        }
        libc::CMSG_DATA(first).cast::<libc::timespec>().read_unaligned()
    };
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the time in a control message with these marks, or without any message.
    fn time_of(marks: Option<(i32, i32)>) -> u64 {
        let mut control = [0_u64; CONTROL / 8];
        // SAFETY: a header of zeros names no buffers.
        let mut header: libc::msghdr = unsafe { zeroed() };
        // C libraries disagree about the type of the length.
        (header.msg_control, header.msg_controllen) = (control.as_mut_ptr().cast(), CONTROL as _);
        let Some((level, kind)) = marks else {
            header.msg_controllen = 0;
            return time_in(&header);
        };
        let time = libc::timespec { tv_sec: 5, tv_nsec: 7 };
        // SAFETY: `control` has room for a message with a `timespec`, is aligned for its header, and outlives `header`.
        unsafe {
            let first = libc::CMSG_FIRSTHDR(&raw const header);
            (*first).cmsg_len = libc::CMSG_LEN(size_of::<libc::timespec>() as u32) as _;
            ((*first).cmsg_level, (*first).cmsg_type) = (level, kind);
            libc::CMSG_DATA(first).cast::<libc::timespec>().write_unaligned(time);
        }
        time_in(&header)
    }

    #[test]
    fn only_a_timestamp_control_message_yields_a_time() {
        assert_eq!(time_of(Some((libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS))), 5_000_000_007);
        assert_eq!(time_of(Some((libc::SOL_SOCKET, libc::SCM_RIGHTS))), 0);
        assert_eq!(time_of(Some((libc::SOL_PACKET, libc::SCM_TIMESTAMPNS))), 0);
        assert_eq!(time_of(None), 0);
    }
}
