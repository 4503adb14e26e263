//! A pair of connected devices.

use eifel_live::system::tun::Tun;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::os::fd::OwnedFd;

/// Descriptors that keep a cable open after a device is gone: the other end of a real cable does
/// not notice that either.
pub type Kept = [OwnedFd; 2];

/// Returns both ends of a cable.
pub fn bare() -> Kept {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let (one, other) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    [one, other]
}

/// Returns the devices at both ends of a cable.
pub fn cable(offloads: bool) -> ([Tun; 2], Kept) {
    let kept = bare();
    let device = |end: &OwnedFd, name| Tun::over(end.try_clone().unwrap(), name, offloads);
    ([device(&kept[0], "one"), device(&kept[1], "other")], kept)
}

/// Returns every packet that has arrived by now.
pub fn read(tun: &Tun) -> Vec<Vec<u8>> {
    let mut room = vec![0; 65_535];
    std::iter::from_fn(|| tun.read(&mut room).unwrap().map(|length| room[..length].to_vec())).collect()
}
