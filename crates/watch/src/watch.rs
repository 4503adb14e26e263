//! All observations of a host, and the verdicts as they come.

use crate::attach::{Attached, Filter};
use crate::error::Error;
use crate::fact::{CLOSED, Fact, Start};
use crate::observation::{Judged, Observation};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

/// How long nothing may happen to a repaired connection until its retransmissions are judged, at
/// least, in nanoseconds.
const QUIET: u64 = 2_000_000_000;
/// How long nothing may happen to any connection until then, in nanoseconds.
const LONG_QUIET: u64 = 120_000_000_000;
/// Facts kept of all observations together. Beyond this number the one with the most is judged.
const MOST_FACTS: usize = 2_000_000;
/// How long the end of the watch waits for a fact that is being written, in nanoseconds.
const LONGEST_END: u64 = 1_000_000_000;
/// Facts taken at once, so that the caller hears of time passing.
const AT_ONCE: usize = 100_000;

/// A connection of a socket: its ends, and its number.
type Numbered = (SocketAddr, SocketAddr, u64);

/// Counts since the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Counts {
    /// Facts taken from the ring.
    pub facts: u64,
    /// Facts that the ring had no room for, or of which the kernel told nothing, as its sockets show.
    pub facts_dropped: u64,
    /// Retransmissions among them.
    pub retransmissions_dropped: u64,
    /// Records of a kind that is not known.
    pub malformed: u64,
    pub observations: u64,
    /// Connections with a loss sign.
    pub connections: u64,
    /// Reductions of a window that the kernel undid.
    pub undone: u64,
}

/// The observations, without the kernel: facts go in, verdicts come out.
#[derive(Debug, Default)]
pub struct Observations {
    /// By socket.
    open: BTreeMap<u64, Observation>,
    /// The latest connection of each socket.
    connections: BTreeMap<u64, Numbered>,
    kept: usize,
    /// Added to the kernel's times, to make them those since 1970.
    since_1970: u64,
    pub counts: Counts,
}

impl Observations {
    /// Returns no observations yet. `since_1970` is when the machine was started, in nanoseconds.
    pub fn new(since_1970: u64) -> Self {
        Self { since_1970, ..Self::default() }
    }

    /// Takes the bytes of a fact. Adds the verdicts of an observation that ends with it.
    pub fn take(&mut self, bytes: &[u8], into: &mut Vec<Judged>) {
        self.counts.facts += 1;
        match Fact::parse(bytes) {
            None => self.counts.malformed += 1,
            Some(Fact::Start(start)) => {
                self.finish(start.head.socket, into);
                let connection = self.number(&start);
                self.counts.observations += 1;
                self.open.insert(start.head.socket, Observation::new(start, connection));
            }
            Some(fact) => {
                let head = *fact.head();
                let is_end = matches!(fact, Fact::End(_));
                if let Some(observation) = self.open.get_mut(&head.socket) {
                    let before = observation.len();
                    let (retransmissions, acks) = observation.push(fact);
                    self.counts.retransmissions_dropped += retransmissions;
                    self.counts.facts_dropped += retransmissions + acks;
                    self.kept += observation.len() - before;
                }
                if is_end {
                    self.finish(head.socket, into);
                    if head.flags & CLOSED != 0 {
                        self.connections.remove(&head.socket);
                    }
                }
                if self.kept > MOST_FACTS {
                    let largest = self.open.iter().max_by_key(|(_, one)| one.len()).map(|(socket, _)| *socket);
                    largest.into_iter().for_each(|socket| self.finish(socket, into));
                }
            }
        }
    }

    /// Returns the number of a connection.
    fn number(&mut self, start: &Start) -> u64 {
        let (socket, ends) = (start.head.socket, (start.local, start.remote));
        let known = self.connections.get(&socket).filter(|(local, remote, _)| (*local, *remote) == ends);
        if let Some((.., number)) = known {
            return *number;
        }
        let number = self.counts.connections;
        self.counts.connections += 1;
        self.connections.insert(socket, (start.local, start.remote, number));
        number
    }

    fn finish(&mut self, socket: u64, into: &mut Vec<Judged>) {
        if let Some(observation) = self.open.remove(&socket) {
            self.kept -= observation.len();
            self.counts.undone += observation.undone_in_all();
            into.extend(observation.judge(self.since_1970));
        }
    }

    /// Judges the observations in which nothing happens any more at `now`, in nanoseconds since the machine was started.
    pub fn on_time(&mut self, now: u64, into: &mut Vec<Judged>) {
        let is_quiet = |one: &Observation| {
            let since = now.saturating_sub(one.last);
            let trips = u64::from(one.start.srtt_us) * 2000;
            since > LONG_QUIET || since > QUIET.max(trips) && one.is_repaired()
        };
        let quiet: Vec<u64> = self.open.iter().filter(|(_, one)| is_quiet(one)).map(|(socket, _)| *socket).collect();
        quiet.into_iter().for_each(|socket| self.finish(socket, into));
    }

    /// Judges what is observed now, as at the end of a capture.
    pub fn finish_all(&mut self, into: &mut Vec<Judged>) {
        let open: Vec<u64> = self.open.keys().copied().collect();
        open.into_iter().for_each(|socket| self.finish(socket, into));
    }
}

/// The host's connections, watched.
pub struct Watch {
    attached: Attached,
    observations: Observations,
}

/// Returns a clock of the system in nanoseconds.
pub(crate) fn nanos(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

impl Watch {
    /// Attaches to the kernel, but not to the tracepoints `without`.
    ///
    /// # Errors
    /// If rights are missing, or the kernel lacks what is needed.
    pub fn begin(filter: &Filter, without: &[String]) -> Result<Self, Error> {
        let attached = Attached::new(filter, without)?;
        let since_1970 = nanos(ClockId::Realtime).saturating_sub(nanos(ClockId::Monotonic));
        Ok(Self { attached, observations: Observations::new(since_1970) })
    }

    /// Returns what the kernel lacks, and what is not observed because of that, in words.
    pub fn lacking(&self) -> &[String] {
        &self.attached.lacking
    }

    /// Waits for facts, at most `timeout_ms`, and returns the verdicts that they bring.
    ///
    /// # Errors
    /// Those of the system.
    pub fn poll(&mut self, timeout_ms: u32) -> Result<Vec<Judged>, Error> {
        self.wait(timeout_ms).map_err(Error::of("wait for the kernel's facts"))?;
        let mut judged = Vec::new();
        self.drain(&mut judged);
        self.observations.on_time(nanos(ClockId::Monotonic), &mut judged);
        Ok(judged)
    }

    /// Waits until a fact is in the ring, be it whole or still being written. Returns whether one is.
    fn wait(&self, timeout_ms: u32) -> Result<bool, Errno> {
        let timeout =
            Timespec { tv_sec: i64::from(timeout_ms / 1000), tv_nsec: i64::from(timeout_ms % 1000) * 1_000_000 };
        match poll(&mut [PollFd::new(&self.attached.ring, PollFlags::IN)], Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn drain(&mut self, into: &mut Vec<Judged>) {
        for _ in 0..AT_ONCE {
            let Some(bytes) = self.attached.ring.next() else { break };
            self.observations.take(&bytes, into);
        }
    }

    /// Returns the ends, local and remote, of the connections that are observed now.
    pub(crate) fn open(&self) -> impl Iterator<Item = (SocketAddr, SocketAddr)> {
        self.observations.open.values().map(|one| (one.start.local, one.start.remote))
    }

    /// Ends the watch, and judges what is observed now.
    pub fn finish(&mut self) -> Vec<Judged> {
        let mut judged = Vec::new();
        self.attached.detach();
        let began = nanos(ClockId::Monotonic);
        // A fact that one processor is still writing holds back those of the others behind it.
        loop {
            self.drain(&mut judged);
            if self.wait(0) != Ok(true) || nanos(ClockId::Monotonic) - began > LONGEST_END {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        self.observations.finish_all(&mut judged);
        judged
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> Counts {
        let [facts, retransmissions] = self.attached.dropped();
        let mut counts = self.observations.counts;
        counts.facts_dropped += facts;
        counts.retransmissions_dropped += retransmissions;
        counts
    }
}
