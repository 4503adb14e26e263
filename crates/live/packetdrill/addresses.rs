//! C's socket addresses.

use crate::stack::Errno;
use libc::{c_int, sockaddr, socklen_t};
use std::net::SocketAddr;

/// Reads an address. An IPv4 address that is mapped into IPv6 is one of IPv4.
pub fn read(at: *const sockaddr) -> Result<SocketAddr, Errno> {
    if at.is_null() {
        return Err(Errno(libc::EFAULT));
    }
    // SAFETY: the family says which of the two the address is.
    let address: SocketAddr = unsafe {
        match c_int::from((*at).sa_family) {
            libc::AF_INET => {
                let at = &*at.cast::<libc::sockaddr_in>();
                (u32::from_be(at.sin_addr.s_addr).to_be_bytes(), u16::from_be(at.sin_port)).into()
            }
            libc::AF_INET6 => {
                let at = &*at.cast::<libc::sockaddr_in6>();
                (at.sin6_addr.s6_addr, u16::from_be(at.sin6_port)).into()
            }
            _ => return Err(Errno(libc::EAFNOSUPPORT)),
        }
    };
    Ok(SocketAddr::new(address.ip().to_canonical(), address.port()))
}

/// Writes an address as a socket of IPv4 or of IPv6 (`v6`) shows it.
pub fn write(address: SocketAddr, v6: bool, at: *mut sockaddr, len: *mut socklen_t) {
    if at.is_null() || len.is_null() {
        return;
    }
    let mapped = match address {
        SocketAddr::V4(address) if v6 => address.ip().to_ipv6_mapped(),
        SocketAddr::V6(address) => *address.ip(),
        SocketAddr::V4(address) => {
            // SAFETY: packetdrill has room for either, and says so by `len`.
            unsafe {
                at.cast::<libc::sockaddr_in>().write(libc::sockaddr_in {
                    sin_family: libc::AF_INET as u16,
                    sin_port: address.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: address.ip().to_bits().to_be() },
                    sin_zero: [0; 8],
                });
                *len = size_of::<libc::sockaddr_in>() as socklen_t;
            }
            return;
        }
    };
    // SAFETY: as above.
    unsafe {
        at.cast::<libc::sockaddr_in6>().write(libc::sockaddr_in6 {
            sin6_family: libc::AF_INET6 as u16,
            sin6_port: address.port().to_be(),
            sin6_flowinfo: 0,
            sin6_addr: libc::in6_addr { s6_addr: mapped.octets() },
            sin6_scope_id: 0,
        });
        *len = size_of::<libc::sockaddr_in6>() as socklen_t;
    }
}
