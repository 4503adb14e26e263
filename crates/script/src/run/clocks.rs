//! Measures how long a connection has had data to send, and how long the peer's window has held
//! data back: packetdrill's `tcpi_busy_time` and `tcpi_rwnd_limited`.

use eifel_base::time::{Duration, Instant};
use eifel_tcp::Connection;

/// A clock that can be stopped.
#[derive(Clone, Copy, Default, Debug)]
struct Clock {
    total: Duration,
    runs: bool,
}

/// The clocks of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    /// When the clocks were last set.
    since: Instant,
    busy: Clock,
    held_back: Clock,
}

impl Default for Clocks {
    fn default() -> Self {
        Self { since: Instant::ZERO, busy: Clock::default(), held_back: Clock::default() }
    }
}

impl Clocks {
    /// Sets the clocks after an event.
    pub(crate) fn set(&mut self, now: Instant, connection: &Connection) {
        let (busy, held_back) = (self.busy(now), self.held_back(now));
        let (una, nxt, end) = (connection.engine().una(), connection.engine().nxt(), connection.end());
        let next = (end - nxt.min(end)).min(connection.mss().into());
        let room = (una + connection.peer_window()).saturating_sub(nxt);
        *self = Self {
            since: now,
            busy: Clock { total: busy, runs: una < end && end > 1 },
            held_back: Clock { total: held_back, runs: next > room },
        };
    }

    fn read(&self, clock: Clock, now: Instant) -> Duration {
        if clock.runs { clock.total + now.since(self.since) } else { clock.total }
    }

    pub(crate) fn busy(&self, now: Instant) -> Duration {
        self.read(self.busy, now)
    }

    pub(crate) fn held_back(&self, now: Instant) -> Duration {
        self.read(self.held_back, now)
    }
}
