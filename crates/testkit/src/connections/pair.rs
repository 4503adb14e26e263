//! Two connections with a path between them.

use std::collections::BTreeMap;

use eifel_base::time::{Duration, Instant};
use eifel_tcp::Connection;

use super::{Sent, next, payload};

/// A segment on its way to the other end.
#[derive(Clone, Debug)]
pub struct Flying {
    /// Index of the end that sent it.
    pub from: usize,
    pub sent: Sent,
    pub payload: Vec<u8>,
}

/// Two connections, the segments between them, and the time.
pub struct Pair {
    pub ends: [Connection; 2],
    pub now: Instant,
    /// Keyed by time of arrival, then by order of sending.
    flying: BTreeMap<(Instant, u64), Flying>,
    copies: u64,
}

impl Pair {
    pub fn new(ends: [Connection; 2]) -> Self {
        Self { ends, now: Instant::ZERO, flying: BTreeMap::new(), copies: 0 }
    }

    /// Sends all segments that both ends have now. `path` returns the delay of each copy that
    /// arrives.
    pub fn send<C: IntoIterator<Item = Duration>>(&mut self, mut path: impl FnMut(&Flying) -> C) {
        for (from, end) in self.ends.iter_mut().enumerate() {
            while let Some(sent) = next(end, self.now) {
                let flying = Flying { from, sent, payload: payload(end, &sent) };
                for delay in path(&flying) {
                    self.copies += 1;
                    self.flying.insert((self.now + delay, self.copies), flying.clone());
                }
            }
        }
    }

    /// Returns the time of the next arrival or timer: now, if a timer is overdue.
    pub fn due(&self) -> Instant {
        let arrival = self.flying.first_key_value().map_or(Instant::NEVER, |(key, _)| key.0);
        self.ends.iter().map(Connection::poll_timeout).fold(arrival, Instant::min).max(self.now)
    }

    /// Moves time to `then`, and delivers the first segment that has arrived by then. If there is
    /// none, handles the timers that are due.
    pub fn step(&mut self, then: Instant) -> Option<Flying> {
        assert!(then >= self.now, "time goes back from {:?} to {then:?}", self.now);
        self.now = then;
        if let Some(first) = self.flying.first_entry()
            && first.key().0 <= then
        {
            let flying = first.remove();
            self.ends[1 - flying.from].handle_segment(then, &flying.sent.segment, &flying.payload);
            return Some(flying);
        }
        for end in self.ends.iter_mut().filter(|end| end.poll_timeout() <= then) {
            end.handle_timeout(then);
        }
        None
    }
}
