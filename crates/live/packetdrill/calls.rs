//! The calls of sockets.

use crate::inside::{Course, Does, Socket};
use crate::stack::{Errno, Stack};
use eifel_live::host::ConnectError;
use eifel_tcp::State;
use libc::c_int;
use rustix::event::{EventfdFlags, eventfd};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

/// Flags of a write that have an effect, or need none.
const WRITES: c_int = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | libc::MSG_MORE | libc::MSG_EOR;
/// Flags of a read that have an effect.
const READS: c_int = libc::MSG_DONTWAIT;

/// Reserves a descriptor of this process. It is no socket of the system, so a caller who asks the
/// system about it, as packetdrill does for TCP_INFO, gets an error instead of wrong numbers.
fn descriptor() -> Result<OwnedFd, Errno> {
    eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| Errno(error.raw_os_error()))
}

impl Stack {
    pub fn socket(&self, domain: c_int, kind: c_int) -> Result<usize, Errno> {
        if !matches!(domain, libc::AF_INET | libc::AF_INET6) || kind & 0xf != libc::SOCK_STREAM {
            return Err(Errno(libc::EPROTONOSUPPORT));
        }
        let socket = Socket {
            descriptor: descriptor()?,
            v6: domain == libc::AF_INET6,
            local: None,
            nonblocking: kind & libc::SOCK_NONBLOCK != 0,
            lingers_zero: false,
            reads_no_more: false,
            ends: self.ends.clone(),
            does: Does::Nothing,
        };
        Ok(self.lock().add(socket) as usize)
    }

    pub fn bind(&self, fd: c_int, address: SocketAddr) -> Result<usize, Errno> {
        let mut inside = self.lock();
        inside.socket(fd)?;
        if !address.ip().is_unspecified() && !self.addresses.contains(&address.ip()) {
            return Err(Errno(libc::EADDRNOTAVAIL));
        }
        let socket = inside.socket(fd)?;
        if socket.local.is_some() {
            return Err(Errno(libc::EINVAL));
        }
        socket.local = Some(address);
        Ok(0)
    }

    pub fn listen(&self, fd: c_int, backlog: usize) -> Result<usize, Errno> {
        let mut inside = self.lock();
        let socket = inside.socket(fd)?;
        let port = socket.local.ok_or(Errno(libc::EDESTADDRREQ))?.port();
        if let Does::Talks(_) = socket.does {
            return Err(Errno(libc::EINVAL));
        }
        let listens = |other: &Socket| matches!(other.does, Does::Listens { port: taken, .. } if taken == port);
        if inside.sockets.iter().any(|(number, other)| *number != fd && listens(other)) {
            return Err(Errno(libc::EADDRINUSE));
        }
        inside.listen_with_settings(fd, port, backlog)?;
        inside.socket(fd)?.does = Does::Listens { port, backlog };
        inside.waiting.entry(port).or_default();
        Ok(0)
    }

    /// Returns the new socket, its peer, and whether it shows addresses of IPv6.
    pub fn accept(&self, fd: c_int) -> Result<(c_int, SocketAddr, bool), Errno> {
        let (handle, peer) = self.until(fd, |inside| {
            let Does::Listens { port, .. } = inside.socket(fd).map_or(Does::Nothing, |socket| socket.does) else {
                return Some(Err(Errno(libc::EINVAL)));
            };
            let handle = inside.waiting.get_mut(&port)?.pop_front()?;
            inside.courses.get(&handle).map(|course| Ok((handle, course.peer)))
        })?;
        let descriptor = descriptor()?;
        let mut inside = self.lock();
        let Socket { v6, local, lingers_zero, ref ends, .. } = *inside.socket(fd)?;
        let socket = Socket {
            descriptor,
            v6,
            local,
            nonblocking: false,
            lingers_zero,
            reads_no_more: false,
            ends: ends.clone(),
            does: Does::Talks(handle),
        };
        Ok((inside.add(socket), peer, v6))
    }

    pub fn connect(&self, fd: c_int, peer: SocketAddr) -> Result<usize, Errno> {
        let (handle, unfinished) = {
            let mut inside = self.lock();
            let socket = inside.socket(fd)?;
            match socket.does {
                Does::Talks(handle) => (handle, libc::EALREADY),
                Does::Listens { .. } => return Err(Errno(libc::EISCONN)),
                Does::Nothing => {
                    let end = socket.ends[0].clone();
                    let made = inside.host.connect(self.now(), peer, &end.settings, &end.sender);
                    let handle = made.map_err(|error| match error {
                        ConnectError::NoAddress(_) => Errno(libc::ENETUNREACH),
                        ConnectError::NoPort | ConnectError::InUse(_) => Errno(libc::EADDRNOTAVAIL),
                        ConnectError::Engine(_) => Errno(libc::EINVAL),
                    })?;
                    inside.courses.insert(handle, Course::of(peer));
                    inside.socket(fd)?.does = Does::Talks(handle);
                    self.settle(&mut inside);
                    (handle, libc::EINPROGRESS)
                }
            }
        };
        self.until(fd, |inside| {
            let nonblocking = inside.socket(fd).is_ok_and(|socket| socket.nonblocking);
            let course = inside.courses.get_mut(&handle)?;
            course.connected().or_else(|| nonblocking.then_some(Err(Errno(unfinished))))
        })
    }

    pub fn read(&self, fd: c_int, room: &mut [u8], flags: c_int) -> Result<usize, Errno> {
        if flags & !READS != 0 {
            return Err(Errno(libc::EOPNOTSUPP));
        }
        self.until(fd, |inside| {
            let handle = match inside.talks(fd) {
                Ok(handle) => handle,
                Err(errno) => return Some(Err(errno)),
            };
            let reads_no_more = inside.socket(fd).is_ok_and(|socket| socket.reads_no_more);
            let course = inside.courses.get_mut(&handle)?;
            let connection = inside.host.connection(handle);
            // The application gets data on a SYN once the connection is open (RFC 9293, section
            // 3.10.7.3).
            let count = connection.filter(|_| course.opened).map_or(0, |connection| connection.read(room));
            if count > 0 || room.is_empty() {
                return Some(Ok(count));
            }
            match course.report() {
                Err(errno) => Some(Err(errno)),
                Ok(()) if course.peer_closed || course.over || reads_no_more => Some(Ok(0)),
                Ok(()) => (flags & libc::MSG_DONTWAIT != 0).then_some(Err(Errno(libc::EAGAIN))),
            }
        })
    }

    pub fn write(&self, fd: c_int, bytes: &[u8], flags: c_int) -> Result<usize, Errno> {
        if flags & !WRITES != 0 {
            return Err(Errno(libc::EOPNOTSUPP));
        }
        let mut written = 0;
        let result = self.until(fd, |inside| {
            let handle = match inside.talks(fd) {
                Ok(handle) => handle,
                Err(errno) => return Some(Err(errno)),
            };
            if let Err(errno) = inside.courses.get_mut(&handle)?.report() {
                return Some(Err(errno));
            }
            let open = [State::SynSent, State::Established, State::CloseWait];
            let connection = inside.host.connection(handle);
            let Some(connection) = connection.filter(|connection| {
                open.contains(&connection.state()) || matches!(connection.state(), State::SynReceived(_))
            }) else {
                return Some(Err(Errno(libc::EPIPE)));
            };
            written += connection.write(&bytes[written..]);
            if written == bytes.len() {
                if flags & libc::MSG_MORE != 0 {
                    connection.more_follows();
                } else if flags & libc::MSG_EOR != 0 {
                    connection.end_record();
                }
                return Some(Ok(()));
            }
            (flags & libc::MSG_DONTWAIT != 0).then_some(Err(Errno(libc::EAGAIN)))
        });
        match result {
            Ok(()) => Ok(written),
            Err(_) if written > 0 => Ok(written),
            Err(errno) => Err(errno),
        }
    }

    pub fn close(&self, fd: c_int) -> Result<usize, Errno> {
        let mut inside = self.lock();
        let Socket { does, lingers_zero, .. } = inside.sockets.remove(&fd).ok_or(Errno(libc::EBADF))?;
        inside.close(does, lingers_zero, self.now());
        self.settle(&mut inside);
        Ok(0)
    }

    pub fn shutdown(&self, fd: c_int, how: c_int) -> Result<usize, Errno> {
        let mut inside = self.lock();
        inside.talks(fd)?;
        if how != libc::SHUT_WR {
            inside.socket(fd)?.reads_no_more = true;
        }
        if how != libc::SHUT_RD
            && let Some(connection) = inside.connection(fd)?
        {
            connection.shutdown_write();
        }
        self.settle(&mut inside);
        Ok(0)
    }
}
