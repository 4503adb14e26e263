//! The sockets of a host, for callers on several threads: packetdrill runs a script's blocking
//! calls on a thread of their own.

use crate::inside::{Course, Does, Inside, Socket};
use eifel_base::time::Instant;
use eifel_live::end_settings::{EndSettings, Role};
use eifel_live::host::{Config, Host};
use eifel_live::system;
use eifel_live::system::clock::Clock;
use eifel_packet::ip;
use eifel_sim::scenario::Scenario;
use libc::{c_int, c_ulong, pollfd};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// An error number of the system.
#[derive(Clone, Copy, Debug)]
pub struct Errno(pub c_int);

/// The first descriptor, far above those of the process.
const FIRST: c_int = 1000;
/// The longest wait for a packet. A script that expects a packet which never comes has to end.
const LONGEST: Duration = Duration::from_secs(20);

struct Shared {
    inside: Mutex<Inside>,
    changed: Condvar,
    clock: Clock,
}

/// A host with sockets, and the thread that runs its timers.
pub struct Stack {
    shared: Arc<Shared>,
    timers: Option<thread::JoinHandle<()>>,
}

impl Stack {
    /// Makes a host as `flags` describe it.
    pub fn begin(flags: &str) -> Result<Self, String> {
        let random = system::random().map_err(|error| error.to_string())?;
        let mut config = Config { v4: None, v6: None, mtu: 1500, secret: random, most_connections: 1000 };
        let mut terms = [EndSettings::today(random, None), EndSettings::today(random, None)];
        for flag in flags.split(',').filter(|flag| !flag.is_empty()) {
            match flag.split_once('=') {
                Some(("local", address)) => match address.parse() {
                    Ok(IpAddr::V4(address)) => config.v4 = Some(address),
                    Ok(IpAddr::V6(address)) => config.v6 = Some(address),
                    Err(error) => return Err(format!("{flag}: {error}")),
                },
                Some(("like", path)) => {
                    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
                    let scenario = Scenario::parse(&text, path.as_ref()).map_err(|error| error.to_string())?;
                    for (role, terms) in [Role::Calls, Role::Answers].into_iter().zip(&mut terms) {
                        *terms = EndSettings::like(&scenario, role, random, None).ok_or("no flow over TCP in it")?;
                    }
                }
                _ => return Err(format!("{flag}: expected local=ADDRESS or like=SCENARIO.toml")),
            }
        }
        if config.v4.is_none() && config.v6.is_none() {
            config.v4 = Some([192, 168, 0, 1].into());
        }
        let inside = Inside {
            host: Host::new(config),
            terms,
            sockets: BTreeMap::new(),
            courses: BTreeMap::new(),
            waiting: BTreeMap::new(),
            left: VecDeque::new(),
            ended: false,
        };
        let shared = Arc::new(Shared { inside: Mutex::new(inside), changed: Condvar::new(), clock: Clock::start() });
        let timers = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.run_timers()
        });
        Ok(Self { shared, timers: Some(timers) })
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.shared.lock()
    }

    /// Waits until `done` returns a result. If the socket does not block, returns EAGAIN instead of
    /// waiting.
    fn until<T>(&self, fd: c_int, mut done: impl FnMut(&mut Inside) -> Option<Result<T, Errno>>) -> Result<T, Errno> {
        let mut inside = self.lock();
        loop {
            let found = done(&mut inside);
            self.shared.settle(&mut inside);
            match found {
                Some(result) => return result,
                None if inside.socket(fd)?.nonblocking => return Err(Errno(libc::EAGAIN)),
                None => inside = self.shared.wait(inside, LONGEST),
            }
        }
    }

    pub fn socket(&self, domain: c_int, kind: c_int) -> Result<usize, Errno> {
        if !matches!(domain, libc::AF_INET | libc::AF_INET6) || kind & 0xf != libc::SOCK_STREAM {
            return Err(Errno(libc::EPROTONOSUPPORT));
        }
        let mut inside = self.lock();
        let fd = (FIRST..).find(|fd| !inside.sockets.contains_key(fd)).ok_or(Errno(libc::EMFILE))?;
        let nonblocking = kind & libc::SOCK_NONBLOCK != 0;
        inside.sockets.insert(fd, Socket { nonblocking, ..Socket::default() });
        Ok(fd as usize)
    }

    pub fn bind(&self, fd: c_int, address: SocketAddr) -> Result<usize, Errno> {
        self.lock().socket(fd)?.local = Some(address);
        Ok(0)
    }

    pub fn listen(&self, fd: c_int, backlog: usize) -> Result<usize, Errno> {
        let mut inside = self.lock();
        let port = inside.socket(fd)?.local.ok_or(Errno(libc::EDESTADDRREQ))?.port();
        let EndSettings { settings, sender } = inside.terms[1].clone();
        inside.host.listen(port, backlog, &settings, &sender).map_err(|_| Errno(libc::EADDRINUSE))?;
        inside.socket(fd)?.does = Does::Listens { port };
        inside.waiting.entry(port).or_default();
        Ok(0)
    }

    pub fn accept(&self, fd: c_int) -> Result<(c_int, SocketAddr), Errno> {
        self.until(fd, |inside| {
            let Does::Listens { port } = inside.socket(fd).map_or(Does::Nothing, |socket| socket.does) else {
                return Some(Err(Errno(libc::EINVAL)));
            };
            let handle = inside.waiting.get_mut(&port)?.pop_front()?;
            let new = (FIRST..).find(|fd| !inside.sockets.contains_key(fd))?;
            inside.sockets.insert(new, Socket { does: Does::Talks(handle), ..Socket::default() });
            inside.courses.get(&handle).map(|course| Ok((new, course.peer)))
        })
    }

    pub fn connect(&self, fd: c_int, peer: SocketAddr) -> Result<usize, Errno> {
        let begun = {
            let mut inside = self.lock();
            match inside.socket(fd)?.does {
                Does::Talks(handle) => handle,
                Does::Listens { .. } => return Err(Errno(libc::EISCONN)),
                Does::Nothing => {
                    let now = self.shared.clock.now();
                    let EndSettings { settings, sender } = inside.terms[0].clone();
                    let made = inside.host.connect(now, peer, &settings, &sender);
                    let handle = made.map_err(|_| Errno(libc::EADDRNOTAVAIL))?;
                    inside.courses.insert(handle, Course::of(peer));
                    inside.socket(fd)?.does = Does::Talks(handle);
                    self.shared.settle(&mut inside);
                    if inside.socket(fd)?.nonblocking {
                        return Err(Errno(libc::EINPROGRESS));
                    }
                    handle
                }
            }
        };
        self.until(fd, |inside| match inside.courses.get(&begun) {
            Some(Course { error: Some(error), .. }) => Some(Err(Errno(*error))),
            Some(course) if course.opened => Some(Ok(0)),
            Some(_) => None,
            None => Some(Err(Errno(libc::ECONNABORTED))),
        })
    }

    pub fn read(&self, fd: c_int, room: &mut [u8], flags: c_int) -> Result<usize, Errno> {
        let count = self.until(fd, |inside| {
            let handle = match inside.talks(fd) {
                Ok(handle) => handle,
                Err(errno) => return Some(Err(errno)),
            };
            let count = inside.host.connection(handle).map_or(0, |connection| connection.read(room));
            if count > 0 {
                return Some(Ok(Some(count)));
            }
            let course = inside.courses.get(&handle)?;
            match course.error {
                Some(error) => Some(Err(Errno(error))),
                None if course.peer_closed || course.over => Some(Ok(Some(0))),
                None if flags & libc::MSG_DONTWAIT != 0 => Some(Ok(None)),
                None => None,
            }
        })?;
        count.ok_or(Errno(libc::EAGAIN))
    }

    pub fn write(&self, fd: c_int, bytes: &[u8], flags: c_int) -> Result<usize, Errno> {
        let mut written = 0;
        let result = self.until(fd, |inside| {
            let handle = match inside.talks(fd) {
                Ok(handle) => handle,
                Err(errno) => return Some(Err(errno)),
            };
            match inside.courses.get(&handle) {
                Some(Course { error: Some(error), .. }) => return Some(Err(Errno(*error))),
                Some(course) if course.over => return Some(Err(Errno(libc::EPIPE))),
                _ => {}
            }
            let connection = inside.host.connection(handle)?;
            written += connection.write(&bytes[written..]);
            (written == bytes.len() || flags & libc::MSG_DONTWAIT != 0).then_some(Ok(()))
        });
        match result {
            Err(Errno(libc::EAGAIN)) | Ok(()) if written > 0 || bytes.is_empty() => Ok(written),
            Ok(()) => Err(Errno(libc::EAGAIN)),
            Err(errno) => Err(errno),
        }
    }

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
        let handle = inside.talks(fd)?;
        let connection = inside.host.connection(handle).ok_or(Errno(libc::ENOTCONN))?;
        match request {
            libc::FIONREAD => Ok(connection.readable() as c_int),
            libc::TIOCOUTQ => Ok((connection.end() - connection.engine().una()) as c_int),
            _ => Err(Errno(libc::EINVAL)),
        }
    }

    pub fn close(&self, fd: c_int) -> Result<usize, Errno> {
        let mut inside = self.lock();
        inside.socket(fd)?;
        if let Ok(handle) = inside.talks(fd)
            && let Some(connection) = inside.host.connection(handle)
        {
            connection.close(self.shared.clock.now());
        }
        inside.sockets.remove(&fd);
        self.shared.settle(&mut inside);
        Ok(0)
    }

    pub fn shutdown(&self, fd: c_int, how: c_int) -> Result<usize, Errno> {
        let mut inside = self.lock();
        let handle = inside.talks(fd)?;
        if how != libc::SHUT_RD
            && let Some(connection) = inside.host.connection(handle)
        {
            connection.shutdown_write();
        }
        self.shared.settle(&mut inside);
        Ok(0)
    }

    /// Returns an option's value as the kernel would lay it out.
    pub fn option(&self, fd: c_int, level: c_int, name: c_int) -> Result<Vec<u8>, Errno> {
        let mut inside = self.lock();
        match (level, name) {
            (libc::SOL_SOCKET, libc::SO_ERROR) => {
                let handle = inside.talks(fd)?;
                let error = inside.courses.get_mut(&handle).and_then(|course| course.error.take());
                Ok(error.unwrap_or(0).to_ne_bytes().to_vec())
            }
            (libc::IPPROTO_TCP, libc::TCP_MAXSEG) => {
                let handle = inside.talks(fd)?;
                let connection = inside.host.connection(handle).ok_or(Errno(libc::ENOTCONN))?;
                Ok(connection.mss().to_ne_bytes().to_vec())
            }
            (libc::IPPROTO_TCP, libc::TCP_NODELAY) => Ok(1_i32.to_ne_bytes().to_vec()),
            _ => Err(Errno(libc::ENOPROTOOPT)),
        }
    }

    /// Accepts an option that changes nothing here: addresses can always be used again, and no data
    /// waits for full segments.
    pub fn set_option(&self, fd: c_int, level: c_int, name: c_int) -> Result<usize, Errno> {
        self.lock().socket(fd)?;
        match (level, name) {
            (libc::SOL_SOCKET, libc::SO_REUSEADDR) | (libc::IPPROTO_TCP, libc::TCP_NODELAY) => Ok(0),
            _ => Err(Errno(libc::ENOPROTOOPT)),
        }
    }

    /// Waits up to `limit` for events of `sets`, and returns how many of them have events.
    pub fn poll(&self, sets: &mut [pollfd], limit: Option<Duration>) -> usize {
        let deadline = limit
            .map(|limit| self.shared.clock.now() + eifel_base::time::Duration::from_nanos(limit.as_nanos() as u64));
        let mut inside = self.lock();
        loop {
            for set in &mut *sets {
                set.revents = inside.ready(set.fd) & (set.events | libc::POLLERR | libc::POLLHUP | libc::POLLNVAL);
            }
            let count = sets.iter().filter(|set| set.revents != 0).count();
            let left = deadline
                .map_or(LONGEST, |deadline| Duration::from_nanos(deadline.since(self.shared.clock.now()).as_nanos()));
            if count > 0 || left.is_zero() {
                return count;
            }
            inside = self.shared.wait(inside, left);
        }
    }

    /// Takes a packet that the script sends.
    pub fn arrives(&self, packet: &[u8]) {
        let mut inside = self.lock();
        let now = self.shared.clock.now();
        inside.host.handle_packet(now, packet);
        // A connection that opens now was opened by this packet.
        let from = ip::parse(packet).ok().and_then(|parsed| {
            let port = parsed.payload.first_chunk().map(|two| u16::from_be_bytes(*two))?;
            Some(SocketAddr::new(parsed.header.addresses.source(), port))
        });
        inside.take_news(from);
        self.shared.settle(&mut inside);
        self.shared.changed.notify_all();
    }

    /// Waits for the next packet that leaves; `None` if there is none within `LONGEST`.
    pub fn next_packet(&self) -> Option<(i64, Vec<u8>)> {
        let begun = self.shared.clock.now();
        let mut inside = self.lock();
        loop {
            if let Some(packet) = inside.left.pop_front() {
                return Some(packet);
            }
            let waited = Duration::from_nanos(self.shared.clock.now().since(begun).as_nanos());
            if waited >= LONGEST {
                return None;
            }
            inside = self.shared.wait(inside, LONGEST - waited);
        }
    }

    /// Returns microseconds since 1970.
    pub fn unix_us(&self) -> i64 {
        self.shared.unix_us(self.shared.clock.now())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.lock().ended = true;
        self.shared.changed.notify_all();
        if let Some(timers) = self.timers.take() {
            let _ = timers.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, inside: MutexGuard<'a, Inside>, limit: Duration) -> MutexGuard<'a, Inside> {
        self.changed.wait_timeout(inside, limit).unwrap_or_else(PoisonError::into_inner).0
    }

    fn unix_us(&self, at: Instant) -> i64 {
        (self.clock.unix_nanos(at) / 1000) as i64
    }

    /// Polls the packets that may leave, takes the host's events, and wakes waiting callers.
    fn settle(&self, inside: &mut Inside) {
        let mut packet = Vec::new();
        let now = self.clock.now();
        let before = inside.left.len();
        while inside.host.poll_packet(now, &mut packet) {
            inside.left.push_back((self.unix_us(now), packet.clone()));
        }
        if inside.take_news(None) || inside.left.len() > before {
            self.changed.notify_all();
        }
    }

    fn run_timers(&self) {
        let mut inside = self.lock();
        while !inside.ended {
            let now = self.clock.now();
            inside.host.handle_timeout(now);
            self.settle(&mut inside);
            let next = inside.host.poll_timeout();
            let limit = if next == Instant::NEVER { LONGEST } else { Duration::from_nanos(next.since(now).as_nanos()) };
            inside = self.wait(inside, limit.min(LONGEST));
        }
    }
}
