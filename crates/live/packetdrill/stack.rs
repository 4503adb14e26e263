//! A host for callers on several threads: packetdrill runs a script's blocking calls on a thread of
//! their own.

use crate::flags::Flags;
use crate::inside::{Cause, Inside};
use eifel_base::time::Instant;
use eifel_live::end_settings::EndSettings;
use eifel_live::host::Host;
use eifel_live::system;
use eifel_live::system::clock::Clock;
use eifel_packet::icmp;
use eifel_packet::ip::{self, Version};
use libc::{c_int, pollfd};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::IntoRawFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// An error number of the system.
#[derive(Clone, Copy, Debug)]
pub struct Errno(pub c_int);

/// The longest wait for a packet while a timer runs: longer than any timer of a connection.
const LONGEST: Duration = Duration::from_secs(150);

/// The longest wait for a packet while no timer runs. Nothing but a call or a packet can make one
/// leave then, and packetdrill makes neither while it waits.
const WITHOUT_TIMER: Duration = Duration::from_secs(1);

struct Shared {
    inside: Mutex<Inside>,
    changed: Condvar,
    clock: Clock,
}

/// A host with sockets, and the thread that runs its timers.
pub struct Stack {
    /// The settings of new sockets.
    pub ends: [EndSettings; 2],
    /// The host's addresses.
    pub addresses: Vec<IpAddr>,
    shared: Arc<Shared>,
    timers: Option<thread::JoinHandle<()>>,
}

impl Stack {
    /// Makes a host as `flags` describe it.
    pub fn begin(flags: &str) -> Result<Self, String> {
        let random = system::random().map_err(|error| error.to_string())?;
        let Flags { host, ends } = Flags::read(flags, random)?;
        let inside = Inside {
            host: Host::new(host),
            sockets: BTreeMap::new(),
            courses: BTreeMap::new(),
            waiting: BTreeMap::new(),
            left: VecDeque::new(),
            armed: Instant::NEVER,
            ended: false,
        };
        let shared = Arc::new(Shared { inside: Mutex::new(inside), changed: Condvar::new(), clock: Clock::start() });
        let timers = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.run_timers()
        });
        let addresses = host.v4.map(IpAddr::V4).into_iter().chain(host.v6.map(IpAddr::V6)).collect();
        Ok(Self { ends, addresses, shared, timers: Some(timers) })
    }

    pub fn lock(&self) -> MutexGuard<'_, Inside> {
        self.shared.lock()
    }

    pub fn now(&self) -> Instant {
        self.shared.clock.now()
    }

    /// Polls the packets that may leave after a call, takes the host's events, and wakes waiting
    /// callers.
    pub fn settle(&self, inside: &mut Inside) {
        self.shared.settle(inside, Cause::default());
    }

    /// Waits until `done` returns a result. If the socket does not block, returns EAGAIN instead of
    /// waiting.
    pub fn until<T>(
        &self,
        fd: c_int,
        mut done: impl FnMut(&mut Inside) -> Option<Result<T, Errno>>,
    ) -> Result<T, Errno> {
        let mut inside = self.lock();
        loop {
            let found = done(&mut inside);
            self.settle(&mut inside);
            match found {
                Some(result) => return result,
                None if inside.socket(fd)?.nonblocking => return Err(Errno(libc::EAGAIN)),
                None => inside = self.shared.wait(inside, LONGEST),
            }
        }
    }

    /// Waits up to `limit` for events of `sets`, and returns how many of them have events.
    pub fn poll(&self, sets: &mut [pollfd], limit: Option<Duration>) -> usize {
        let deadline = limit
            .map(|limit| self.shared.clock.now() + eifel_base::time::Duration::from_nanos(limit.as_nanos() as u64));
        let mut inside = self.lock();
        loop {
            for set in &mut *sets {
                let always = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
                set.revents = if set.fd < 0 { 0 } else { inside.ready(set.fd) & (set.events | always) };
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
    ///
    /// # Errors
    /// If the packet is for another address.
    pub fn arrives(&self, packet: &[u8]) -> Result<usize, Errno> {
        let mut inside = self.lock();
        let foreign = inside.host.counts().foreign;
        inside.host.handle_packet(self.now(), packet);
        if inside.host.counts().foreign > foreign {
            eprintln!("a packet for another address than the plugin's: give packetdrill --local_ip, the plugin local=");
            return Err(Errno(libc::EADDRNOTAVAIL));
        }
        self.shared.settle(&mut inside, cause(packet));
        self.shared.changed.notify_all();
        Ok(0)
    }

    /// Waits for the next packet that leaves; `None` if none can leave any more, or none has for
    /// `LONGEST`.
    pub fn next_packet(&self) -> Option<(i64, Vec<u8>)> {
        let begun = self.now();
        let mut inside = self.lock();
        loop {
            if let Some(packet) = inside.left.pop_front() {
                return Some(packet);
            }
            let limit = if inside.host.poll_timeout() == Instant::NEVER { WITHOUT_TIMER } else { LONGEST };
            let left = limit.saturating_sub(Duration::from_nanos(self.now().since(begun).as_nanos()));
            if left.is_zero() {
                return None;
            }
            // The last timer may end without a packet, and nobody would wake this caller.
            inside = self.shared.wait(inside, left.min(WITHOUT_TIMER));
        }
    }

    /// Returns microseconds since 1970.
    pub fn unix_us(&self) -> i64 {
        self.shared.unix_us(self.now())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.lock().ended = true;
        self.shared.changed.notify_all();
        if let Some(timers) = self.timers.take() {
            let _ = timers.join();
        }
        // packetdrill has closed the descriptors of these sockets, as a process does at its end.
        for (_, socket) in std::mem::take(&mut self.lock().sockets) {
            let _ = socket.descriptor.into_raw_fd();
        }
    }
}

/// Finds what a packet says about the events that it causes. A connection that opens now was opened
/// by this packet.
fn cause(packet: &[u8]) -> Cause {
    let Ok(parsed) = ip::parse(packet) else { return Cause::default() };
    let port = parsed.payload.first_chunk().map(|two| u16::from_be_bytes(*two));
    let peer = port.map(|port| SocketAddr::new(parsed.header.addresses.source(), port));
    let refused = matches!(parsed.protocol, icmp::PROTOCOL_V4 | icmp::PROTOCOL_V6)
        && icmp::parse(&parsed).ok().flatten().is_some_and(|message| {
            // A port without a listener.
            (message.kind, message.code) == if message.version == Version::V4 { (3, 3) } else { (1, 4) }
        });
    Cause { peer, refused }
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
    fn settle(&self, inside: &mut Inside, cause: Cause) {
        let mut packet = Vec::new();
        let now = self.clock.now();
        let before = inside.left.len();
        while inside.host.poll_packet(now, &mut packet) {
            inside.left.push_back((self.unix_us(now), packet.clone()));
        }
        let next = inside.host.poll_timeout();
        if inside.take_events(cause) || inside.left.len() > before || next != inside.armed {
            inside.armed = next;
            self.changed.notify_all();
        }
    }

    fn run_timers(&self) {
        let mut inside = self.lock();
        while !inside.ended {
            let now = self.clock.now();
            inside.host.handle_timeout(now);
            self.settle(&mut inside, Cause::default());
            let next = inside.armed;
            let limit = if next == Instant::NEVER { LONGEST } else { Duration::from_nanos(next.since(now).as_nanos()) };
            inside = self.wait(inside, limit.min(LONGEST));
        }
    }
}
