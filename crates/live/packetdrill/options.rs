//! Options, flags and counts of sockets.

use crate::inside::Does;
use crate::stack::{Errno, Stack};
use eifel_base::time::Duration;
use libc::{c_int, c_ulong};

/// Options that change nothing here: addresses can always be used again, buffers are fixed, and
/// packets leave without an operating system's marks.
const ACCEPTED: [(c_int, c_int); 12] = [
    (libc::SOL_SOCKET, libc::SO_REUSEADDR),
    (libc::SOL_SOCKET, libc::SO_REUSEPORT),
    (libc::SOL_SOCKET, libc::SO_SNDBUF),
    (libc::SOL_SOCKET, libc::SO_KEEPALIVE),
    (libc::SOL_SOCKET, libc::SO_MARK),
    (libc::SOL_SOCKET, libc::SO_PRIORITY),
    (libc::IPPROTO_IP, libc::IP_TOS),
    (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER),
    (libc::IPPROTO_IPV6, libc::IPV6_TCLASS),
    (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER),
    (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY),
    (libc::IPPROTO_TCP, libc::TCP_QUICKACK),
];

impl Stack {
    pub fn fcntl(&self, fd: c_int, command: c_int, value: c_int) -> Result<usize, Errno> {
        let mut inside = self.lock();
        let socket = inside.socket(fd)?;
        match command {
            libc::F_GETFL => Ok((libc::O_RDWR | if socket.nonblocking { libc::O_NONBLOCK } else { 0 }) as usize),
            libc::F_SETFL => {
                socket.nonblocking = value & libc::O_NONBLOCK != 0;
                Ok(0)
            }
            _ => Err(Errno(libc::EINVAL)),
        }
    }

    /// Returns the number that SIOCINQ or SIOCOUTQ asks for.
    pub fn ioctl(&self, fd: c_int, request: c_ulong) -> Result<c_int, Errno> {
        let mut inside = self.lock();
        let connection = inside.connection(fd)?;
        match request {
            libc::FIONREAD => Ok(connection.map_or(0, |connection| connection.readable() as c_int)),
            // The SYN, position 0, is no data.
            libc::TIOCOUTQ => Ok(connection
                .map_or(0, |connection| connection.end().saturating_sub(connection.engine().una().max(1)) as c_int)),
            _ => Err(Errno(libc::EINVAL)),
        }
    }

    /// Returns an option's value as the kernel would lay it out.
    pub fn option(&self, fd: c_int, level: c_int, name: c_int) -> Result<c_int, Errno> {
        let mut inside = self.lock();
        let socket = inside.socket(fd)?;
        let settings = socket.ends[0].settings;
        match (level, name) {
            (libc::SOL_SOCKET, libc::SO_ERROR) => {
                let Does::Talks(handle) = socket.does else { return Ok(0) };
                Ok(inside.courses.get_mut(&handle).and_then(|course| course.error.take()).unwrap_or(0))
            }
            (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => match inside.connection(fd) {
                Ok(Some(connection)) => Ok(connection.mss() as c_int),
                _ => Ok(settings.mss.into()),
            },
            (libc::IPPROTO_TCP, libc::TCP_NODELAY) => Ok((!settings.nagle).into()),
            _ => Err(Errno(libc::ENOPROTOOPT)),
        }
    }

    /// Sets an option of a connection, or of those that the socket will open. `words` are the C ints
    /// of the value.
    pub fn set_option(&self, fd: c_int, level: c_int, name: c_int, words: &[c_int]) -> Result<usize, Errno> {
        let mut inside = self.lock();
        let socket = inside.socket(fd)?;
        let first = words.first().copied();
        match (level, name, first) {
            (libc::SOL_SOCKET, libc::SO_LINGER, Some(on)) => {
                let after = words.get(1).ok_or(Errno(libc::EINVAL))?;
                socket.lingers_zero = on != 0 && *after == 0;
            }
            (libc::IPPROTO_TCP, libc::TCP_NODELAY, Some(on)) => {
                for end in &mut socket.ends {
                    end.settings.nagle = on == 0;
                }
                if let Ok(Some(connection)) = inside.connection(fd) {
                    connection.set_nagle(on == 0);
                }
            }
            (libc::IPPROTO_TCP, libc::TCP_MAXSEG, Some(bytes)) => {
                let bytes = u16::try_from(bytes).ok().filter(|bytes| *bytes > 0).ok_or(Errno(libc::EINVAL))?;
                if let Does::Talks(_) = socket.does {
                    return Err(Errno(libc::EINVAL));
                }
                for end in &mut socket.ends {
                    end.settings.mss = bytes;
                }
            }
            (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT, Some(ms)) => {
                let ms = u64::try_from(ms).map_err(|_| Errno(libc::EINVAL))?;
                let limit = (ms > 0).then(|| Duration::from_millis(ms));
                for end in &mut socket.ends {
                    end.settings.give_up.user_timeout = limit;
                }
                let now = self.now();
                if let Ok(Some(connection)) = inside.connection(fd) {
                    connection.set_user_timeout(now, limit);
                }
            }
            (libc::IPPROTO_TCP, libc::TCP_CORK, Some(on)) => {
                inside.connection(fd)?.ok_or(Errno(libc::ENOTCONN))?.cork(on != 0);
            }
            (level, name, _) if ACCEPTED.contains(&(level, name)) => return Ok(0),
            _ => return Err(Errno(libc::ENOPROTOOPT)),
        }
        if let Does::Listens { port, backlog } = inside.socket(fd)?.does {
            inside.listen_with_settings(fd, port, backlog)?;
        }
        self.settle(&mut inside);
        Ok(0)
    }
}
