//! The descriptors of a stack, and the state behind them.

use crate::stack::Errno;
use eifel_live::end_settings::EndSettings;
use eifel_live::host::{Handle, Host, HostEvent};
use eifel_tcp::{Event, State};
use libc::c_int;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

/// A descriptor.
#[derive(Default)]
pub struct Socket {
    pub local: Option<SocketAddr>,
    pub nonblocking: bool,
    pub does: Does,
}

#[derive(Clone, Copy, Default)]
pub enum Does {
    #[default]
    Nothing,
    Listens {
        port: u16,
    },
    Talks(Handle),
}

/// A connection: its peer, its progress, and the error that ended it.
pub struct Course {
    pub peer: SocketAddr,
    pub opened: bool,
    pub peer_closed: bool,
    pub over: bool,
    pub error: Option<c_int>,
}

pub struct Inside {
    pub host: Host,
    pub terms: [EndSettings; 2],
    pub sockets: BTreeMap<c_int, Socket>,
    pub courses: BTreeMap<Handle, Course>,
    /// Connections that wait to be accepted, by port.
    pub waiting: BTreeMap<u16, VecDeque<Handle>>,
    /// Packets that have left, with microseconds since 1970.
    pub left: VecDeque<(i64, Vec<u8>)>,
    pub ended: bool,
}

// SAFETY: only a witness may tie a host to a thread, and this one never has a witness.
unsafe impl Send for Inside {}

impl Inside {
    pub fn socket(&mut self, fd: c_int) -> Result<&mut Socket, Errno> {
        self.sockets.get_mut(&fd).ok_or(Errno(libc::EBADF))
    }

    pub fn talks(&mut self, fd: c_int) -> Result<Handle, Errno> {
        match self.socket(fd)?.does {
            Does::Talks(handle) => Ok(handle),
            _ => Err(Errno(libc::ENOTCONN)),
        }
    }

    /// Takes the host's events, and returns whether there were any. `from` is the peer whose packet
    /// caused them.
    pub fn take_news(&mut self, from: Option<SocketAddr>) -> bool {
        let mut any = false;
        while let Some((handle, happening)) = self.host.poll_event() {
            any = true;
            if let (HostEvent::Opened { port }, Some(peer)) = (&happening, from) {
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
            Does::Nothing => libc::POLLHUP,
            Does::Listens { port } => {
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
        Self { peer, opened: false, peer_closed: false, over: false, error: None }
    }
}
