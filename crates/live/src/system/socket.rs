//! The kernel's sockets, as far as the standard library does not reach: listeners with options that
//! their connections inherit, and TCP_INFO.

use super::Error;
use rustix::net::sockopt;
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, AsRawFd};

/// Connections that may wait for `accept`.
const BACKLOG: i32 = 4096;
/// Bytes of `struct tcp_info` up to `tcpi_total_rto`, which Linux 6.7 added.
const INFO: usize = 248;

/// Opens a listener in the namespace of the calling thread. Its connections have this congestion
/// control, and leave at most at `pace` bytes a second; `None` leaves the pace to the kernel.
///
/// # Errors
/// Those of the system, for example because the kernel lacks the congestion control.
pub fn listen(address: SocketAddr, congestion: &str, pace: Option<u64>) -> Result<TcpListener, Error> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, Some(ipproto::TCP))
        .map_err(Error::of("socket"))?;
    sockopt::set_tcp_congestion(&socket, congestion).map_err(Error::of("choose a congestion control"))?;
    if let Some(pace) = pace {
        set_pace(&socket, pace)?;
    }
    rustix::net::bind(&socket, &address).map_err(Error::of("bind"))?;
    rustix::net::listen(&socket, BACKLOG).map_err(Error::of("listen"))?;
    Ok(socket.into())
}

fn set_pace(socket: &impl AsFd, pace: u64) -> Result<(), Error> {
    let (descriptor, length) = (socket.as_fd().as_raw_fd(), size_of::<u64>() as libc::socklen_t);
    let value = (&raw const pace).cast();
    // SAFETY: the kernel reads eight bytes of `pace` during the call only.
    let set = unsafe { libc::setsockopt(descriptor, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, value, length) };
    if set == 0 { Ok(()) } else { Err(Error::new("pace a socket", &std::io::Error::last_os_error(), "")) }
}

/// The sender's state of a connection, by TCP_INFO (tcp(7), linux/tcp.h).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpInfo {
    /// 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
    pub ca_state: u8,
    pub rto_us: u32,
    /// Payload bytes of a full segment.
    pub snd_mss: u32,
    /// Segments.
    pub unacked: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub total_retrans: u32,
    pub segs_in: u32,
    pub notsent_bytes: u32,
    /// Segments with data that have left, retransmissions included.
    pub data_segs_out: u32,
    /// Timeouts; 0 for a kernel before 6.7.
    pub total_rto: u16,
}

impl TcpInfo {
    /// Reads the state of a socket.
    ///
    /// # Errors
    /// If it is no TCP socket.
    pub fn of(socket: &impl AsFd) -> Result<Self, Error> {
        let mut room = [MaybeUninit::<u8>::zeroed(); INFO];
        let mut length = INFO as libc::socklen_t;
        let (descriptor, into) = (socket.as_fd().as_raw_fd(), room.as_mut_ptr().cast());
        // SAFETY: the kernel writes at most `length` bytes into `room`, which is that long.
        let read = unsafe { libc::getsockopt(descriptor, libc::IPPROTO_TCP, libc::TCP_INFO, into, &raw mut length) };
        if read != 0 {
            return Err(Error::new("read TCP_INFO", &std::io::Error::last_os_error(), ""));
        }
        // SAFETY: the array was zeroed, so every byte of it has a value.
        let bytes = room.map(|byte| unsafe { byte.assume_init() });
        Ok(Self::read(&bytes))
    }

    fn read(bytes: &[u8; INFO]) -> Self {
        let number = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Self {
            ca_state: bytes[1],
            rto_us: number(8),
            snd_mss: number(16),
            unacked: number(24),
            snd_ssthresh: number(76),
            snd_cwnd: number(80),
            total_retrans: number(100),
            segs_in: number(140),
            notsent_bytes: number(144),
            data_segs_out: number(156),
            total_rto: u16::from_ne_bytes([bytes[240], bytes[241]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In this `tcp_info`, each aligned number of 32 bits is its own offset.
    #[test]
    fn tcp_info_is_read_by_its_offsets() {
        let mut bytes = [0; INFO];
        for (place, number) in bytes.chunks_exact_mut(4).enumerate() {
            number.copy_from_slice(&(4 * place as u32).to_ne_bytes());
        }
        bytes[1] = 3;
        let read = TcpInfo::read(&bytes);
        assert_eq!((read.ca_state, read.rto_us, read.snd_mss, read.unacked), (3, 8, 16, 24));
        assert_eq!((read.snd_ssthresh, read.snd_cwnd, read.total_retrans, read.segs_in), (76, 80, 100, 140));
        assert_eq!((read.notsent_bytes, read.data_segs_out, u32::from(read.total_rto) & 0xff), (144, 156, 240));
    }

    #[test]
    fn a_connection_s_state_is_read_and_no_socket_has_none() {
        let listener = listen("127.0.0.1:0".parse().unwrap(), "reno", Some(100_000)).unwrap();
        let near = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        for socket in [&near, &far] {
            let info = TcpInfo::of(socket).unwrap();
            assert!((info.ca_state, info.unacked, info.total_retrans) == (0, 0, 0) && info.snd_cwnd > 0, "{info:?}");
        }
        let pipe = rustix::pipe::pipe().unwrap().0;
        assert!(TcpInfo::of(&pipe).unwrap_err().to_string().contains("TCP_INFO"));
        assert!(listen("127.0.0.1:0".parse().unwrap(), "nonesuch", None).unwrap_err().tried.contains("congestion"));
    }
}
