//! The descriptors of a stack, and the state behind them.

use crate::stack::Errno;
use eifel_base::time::Instant;
use eifel_live::end_settings::EndSettings;
use eifel_live::host::{Handle, Host, HostEvent};
use eifel_tcp::{Connection, Event, State};
use libc::c_int;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

/// A socket of the script.
pub struct Socket {
    /// A descriptor of the process, which is the socket's number. packetdrill closes the descriptors
    /// of sockets that a script leaves open, so no number may be invented.
    pub descriptor: OwnedFd,
    /// Whether the socket's addresses are those of IPv6, IPv4's as mapped ones.
    pub v6: bool,
    pub local: Option<SocketAddr>,
    pub nonblocking: bool,
    /// Whether a close sends a reset.
    pub lingers_zero: bool,
    pub reads_no_more: bool,
    /// The settings of connections that the socket opens, as a caller and as a listener.
    pub ends: [EndSettings; 2],
    pub does: Does,
}

#[derive(Clone, Copy)]
pub enum Does {
    Nothing,
    Listens { port: u16, backlog: usize },
    Talks(Handle),
}

/// A connection: its peer, its progress, and the error that the next call reports.
pub struct Course {
    pub peer: SocketAddr,
    pub opened: bool,
    /// Whether a call has reported that the connection is open.
    pub joined: bool,
    pub peer_closed: bool,
    pub over: bool,
    pub error: Option<c_int>,
}

/// The packet that caused the events of a host.
#[derive(Clone, Copy, Default)]
pub struct Cause {
    /// The sender of a segment.
    pub peer: Option<SocketAddr>,
    /// Whether an ICMP message says that the port has no listener.
    pub refused: bool,
}

pub struct Inside {
    pub host: Host,
    pub sockets: BTreeMap<c_int, Socket>,
    pub courses: BTreeMap<Handle, Course>,
    /// Connections that wait to be accepted, by port.
    pub waiting: BTreeMap<u16, VecDeque<Handle>>,
    /// Packets that have left, with microseconds since 1970.
    pub left: VecDeque<(i64, Vec<u8>)>,
    /// The next timer, for which the thread of timers waits.
    pub armed: Instant,
    pub ended: bool,
}

// SAFETY: only a witness may tie a host to a thread, and this one never has a witness.
unsafe impl Send for Inside {}

impl Inside {
    /// Adds a socket, and returns its descriptor.
    pub fn add(&mut self, socket: Socket) -> c_int {
        let fd = socket.descriptor.as_raw_fd();
        self.sockets.insert(fd, socket);
        fd
    }

    pub fn socket(&mut self, fd: c_int) -> Result<&mut Socket, Errno> {
        self.sockets.get_mut(&fd).ok_or(Errno(libc::EBADF))
    }

    pub fn talks(&mut self, fd: c_int) -> Result<Handle, Errno> {
        match self.socket(fd)?.does {
            Does::Talks(handle) => Ok(handle),
            _ => Err(Errno(libc::ENOTCONN)),
        }
    }

    /// Returns the connection of a descriptor; `None` once the connection has ended.
    pub fn connection(&mut self, fd: c_int) -> Result<Option<&mut Connection>, Errno> {
        let handle = self.talks(fd)?;
        Ok(self.host.connection(handle))
    }

    /// Makes a port's listener, with the socket's settings. It replaces one that is there.
    pub fn listen_with_settings(&mut self, fd: c_int, port: u16, backlog: usize) -> Result<(), Errno> {
        let end = self.socket(fd)?.ends[1].clone();
        self.host.stop_listening(port);
        self.host.listen(port, backlog, &end.settings, &end.sender).map_err(|_| Errno(libc::EINVAL))
    }

    /// Closes what is behind a socket that has been removed.
    pub fn close(&mut self, does: Does, lingers_zero: bool, now: Instant) {
        match does {
            Does::Nothing => {}
            Does::Listens { port, .. } => {
                self.host.stop_listening(port);
                for handle in self.waiting.remove(&port).unwrap_or_default() {
                    if let Some(connection) = self.host.connection(handle) {
                        connection.abort();
                    }
                }
            }
            Does::Talks(handle) => {
                if let Some(connection) = self.host.connection(handle) {
                    if lingers_zero { connection.abort() } else { connection.close(now) }
                }
            }
        }
    }

    /// Takes the host's events, and returns whether there were any.
    pub fn take_events(&mut self, cause: Cause) -> bool {
        let mut any = false;
        while let Some((handle, happening)) = self.host.poll_event() {
            any = true;
            if let (HostEvent::Opened { port }, Some(peer)) = (&happening, cause.peer) {
                self.courses.insert(handle, Course::of(peer));
                self.waiting.entry(*port).or_default().push_back(handle);
            }
            let Some(course) = self.courses.get_mut(&handle) else { continue };
            match happening {
                HostEvent::Opened { .. } | HostEvent::Event(Event::Connected) => course.opened = true,
                HostEvent::Event(Event::PeerClosed) => course.peer_closed = true,
                HostEvent::Event(Event::Reset) => course.error = Some(libc::ECONNRESET),
                HostEvent::Event(Event::Refused) => course.error = Some(libc::ECONNREFUSED),
                HostEvent::Event(Event::TimedOut) => course.error = Some(libc::ETIMEDOUT),
                HostEvent::Event(Event::Unreachable) if cause.refused => course.error = Some(libc::ECONNREFUSED),
                HostEvent::Event(Event::Unreachable) => course.error = Some(libc::EHOSTUNREACH),
                HostEvent::Event(_) => {}
                HostEvent::Ended(_) => course.over = true,
            }
        }
        any
    }

    /// Returns the events that `poll` reports for a descriptor.
    pub fn ready(&mut self, fd: c_int) -> i16 {
        let Some(&Socket { does, .. }) = self.sockets.get(&fd) else { return libc::POLLNVAL };
        match does {
            Does::Nothing => libc::POLLOUT | libc::POLLHUP,
            Does::Listens { port, .. } => {
                let any = self.waiting.get(&port).is_some_and(|waiting| !waiting.is_empty());
                if any { libc::POLLIN } else { 0 }
            }
            Does::Talks(handle) => {
                let Some(course) = self.courses.get(&handle) else { return libc::POLLHUP };
                let mut ready = if course.error.is_some() { libc::POLLERR | libc::POLLHUP } else { 0 };
                if course.peer_closed || course.over {
                    ready |= libc::POLLIN;
                }
                if let Some(connection) = self.host.connection(handle) {
                    if connection.readable() > 0 {
                        ready |= libc::POLLIN;
                    }
                    if matches!(connection.state(), State::Established | State::CloseWait) {
                        ready |= libc::POLLOUT;
                    }
                }
                ready
            }
        }
    }
}

impl Course {
    pub fn of(peer: SocketAddr) -> Self {
        Self { peer, opened: false, joined: false, peer_closed: false, over: false, error: None }
    }

    /// Reports the pending error once, as the system does.
    pub fn report(&mut self) -> Result<(), Errno> {
        self.error.take().map_or(Ok(()), |error| Err(Errno(error)))
    }

    /// Answers a `connect`: `None` while the handshake goes on.
    pub fn connected(&mut self) -> Option<Result<usize, Errno>> {
        if let Err(errno) = self.report() {
            return Some(Err(errno));
        }
        if self.over {
            return Some(Err(Errno(libc::ECONNABORTED)));
        }
        if self.opened && self.joined {
            return Some(Err(Errno(libc::EISCONN)));
        }
        self.joined |= self.opened;
        self.opened.then_some(Ok(0))
    }
}
