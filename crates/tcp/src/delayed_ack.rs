//! When an acknowledgement is due (RFC 5681, section 4.2).

use eifel_base::time::{Duration, Instant};

use crate::settings::AckSettings;

/// How long acknowledgements wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckPace {
    /// So many bytes do not wait.
    enough: u64,
    delay: Duration,
}

impl AckPace {
    /// Where the peer's full segments carry `full_size` bytes.
    pub(crate) fn new(settings: &AckSettings, full_size: u32) -> Self {
        let at_once = settings.every <= 1 || settings.delay == Duration::ZERO;
        let enough = if at_once { 0 } else { u64::from(settings.every) * u64::from(full_size) };
        Self { enough, delay: settings.delay }
    }
}

/// What is owed to the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Due {
    owed: Owed,
    /// Bytes that wait for an acknowledgement.
    bytes: u64,
    /// When it leaves, unless something takes it along earlier; never if none is delayed.
    deadline: Instant,
}

/// Whether an acknowledgement is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owed {
    /// None, or one at the deadline.
    InTime,
    /// One at once; a data segment may take it along.
    Now,
    /// One at once, without data: it may have to count as a duplicate acknowledgement, or has SACK blocks to carry.
    Alone,
}

impl Due {
    /// Nothing.
    pub(crate) const NOTHING: Self = Self { owed: Owed::InTime, bytes: 0, deadline: Instant::NEVER };

    /// Whether an acknowledgement is due.
    #[inline]
    pub(crate) fn owed(&self) -> Owed {
        self.owed
    }

    /// `bytes`, one at least, have arrived in order, and nothing is missing behind them.
    #[inline]
    pub(crate) fn in_order(&mut self, now: Instant, bytes: u64, pace: &AckPace) {
        if self.owed != Owed::InTime {
            return;
        }
        if self.bytes == 0 {
            self.deadline = now + pace.delay;
        }
        self.bytes += bytes;
        if self.bytes >= pace.enough {
            self.now();
        }
    }

    /// One is due now, and a data segment may take it along.
    #[inline]
    pub(crate) fn now(&mut self) {
        if self.owed != Owed::Alone {
            self.owed = Owed::Now;
        }
        self.deadline = Instant::NEVER;
    }

    /// One is due now, without data.
    pub(crate) fn alone(&mut self) {
        self.owed = Owed::Alone;
        self.deadline = Instant::NEVER;
    }

    /// When a delayed acknowledgement leaves; never if none waits.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// A delayed acknowledgement whose time has come is due.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.deadline <= now {
            self.now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn pace(every: u32, delay: Duration) -> AckPace {
        AckPace::new(&AckSettings { every, delay }, 1000)
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    #[test]
    fn the_second_full_sized_segment_is_acknowledged_at_once() {
        let mut due = Due::NOTHING;
        due.in_order(at(10), 1000, &pace(2, MS * 200));
        assert_eq!((due.owed, due.deadline), (Owed::InTime, at(210)));
        due.in_order(at(50), 999, &pace(2, MS * 200));
        assert_eq!((due.owed, due.deadline), (Owed::InTime, at(210)));
        due.in_order(at(60), 1, &pace(2, MS * 200));
        assert_eq!((due.owed, due.deadline), (Owed::Now, Instant::NEVER));
    }

    #[test]
    fn the_timer_runs_from_the_first_byte() {
        let mut due = Due::NOTHING;
        due.in_order(at(10), 1000, &pace(2, MS * 200));
        due.handle_timeout(at(209));
        assert_eq!(due.deadline(), at(210));
        due.handle_timeout(at(210));
        assert_eq!((due.owed, due.deadline), (Owed::Now, Instant::NEVER));
    }

    #[test]
    fn no_delay_and_every_single_segment_are_the_same() {
        for pace in [pace(2, Duration::ZERO), pace(1, MS), pace(0, MS)] {
            let mut due = Due::NOTHING;
            due.in_order(at(10), 1, &pace);
            assert_eq!((due.owed, due.deadline), (Owed::Now, Instant::NEVER));
        }
    }
}
