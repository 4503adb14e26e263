//! When an acknowledgement is due (RFC 5681, section 4.2).

use eifel_base::time::{Duration, Instant};

#[cfg(test)]
use crate::settings::Gro;
use crate::settings::{AckCount, AckSettings};

/// How data that has arrived out of order is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutOfOrderAck {
    /// By a segment without data, so that it counts as a duplicate ACK (RFC 5681, section 2). A data
    /// segment carries SACK blocks only if it is short enough.
    Alone,
    /// As in Linux: by data that may leave at once, otherwise by a segment without data. While there
    /// are SACK blocks, each data segment carries them, and is shorter by their length (RFC 9293,
    /// section 3.7.1).
    WithData,
}

/// Thresholds for delayed acknowledgements: bytes and time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckPace {
    /// Unacknowledged bytes that make an immediate acknowledgement due.
    enough: u32,
    /// Minimum bytes that a segment counts for.
    least: u32,
    delay: Duration,
    /// Unacknowledged bytes that end a batch of merged segments.
    most: u32,
    /// How long a batch may wait, in nanoseconds; 0 if segments are not merged. Four seconds at most, to keep
    /// a connection small.
    wait: u32,
}

impl AckPace {
    /// Returns the thresholds for a peer whose full segments carry `full_size` bytes.
    pub(crate) fn new(settings: &AckSettings, full_size: u32) -> Self {
        let at_once = settings.every <= 1 || settings.delay == Duration::ZERO;
        let enough = if at_once { 0 } else { settings.every.saturating_mul(full_size) };
        let least = if settings.counted == AckCount::Segments { full_size } else { 0 };
        let most = settings.gro.map_or(0, |gro| gro.segments.saturating_mul(full_size));
        let wait = settings.gro.map_or(0, |gro| u32::try_from(gro.wait.as_nanos()).unwrap_or(u32::MAX));
        Self { enough, least, delay: settings.delay, most, wait }
    }
}

/// The acknowledgement due to the peer, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Due {
    owed: DueAck,
    /// Bytes covered by the delayed acknowledgement, as many as fit.
    bytes: u32,
    /// When the delayed acknowledgement becomes due; [`Instant::NEVER`] if none is delayed.
    deadline: Instant,
}

/// Whether an acknowledgement is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DueAck {
    /// None, or a delayed one.
    InTime,
    /// Due now. A data segment may carry it.
    Now,
    /// Due now, without data: it may have to count as a duplicate ACK, or carries SACK blocks.
    Alone,
}

impl Due {
    /// No acknowledgement is due.
    pub(crate) const NOTHING: Self = Self { owed: DueAck::InTime, bytes: 0, deadline: Instant::NEVER };

    /// Returns whether an acknowledgement is due.
    #[inline]
    pub(crate) fn owed(&self) -> DueAck {
        self.owed
    }

    /// Records that `bytes`, at least one, have arrived in order without filling a gap.
    #[inline]
    pub(crate) fn in_order(&mut self, now: Instant, bytes: u64, pace: &AckPace) {
        if self.owed != DueAck::InTime {
            return;
        }
        if self.bytes == 0 {
            self.deadline = now + pace.delay;
        }
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.bytes = self.bytes.saturating_add(bytes.max(pace.least));
        if self.bytes >= pace.enough {
            self.end_batch(now, pace);
        }
    }

    /// Makes an acknowledgement due, now or when the batch of merged segments ends.
    #[inline]
    fn end_batch(&mut self, now: Instant, pace: &AckPace) {
        if self.bytes >= pace.most || pace.wait == 0 {
            self.now();
        } else {
            self.deadline = self.deadline.min(now + Duration::from_nanos(u64::from(pace.wait)));
        }
    }

    /// Makes an acknowledgement due now. A data segment may carry it.
    #[inline]
    pub(crate) fn now(&mut self) {
        if self.owed != DueAck::Alone {
            self.owed = DueAck::Now;
        }
        self.deadline = Instant::NEVER;
    }

    /// Makes an acknowledgement due now that must not be combined with data.
    pub(crate) fn alone(&mut self) {
        self.owed = DueAck::Alone;
        self.deadline = Instant::NEVER;
    }

    /// Returns when a delayed acknowledgement becomes due; [`Instant::NEVER`] if none is delayed.
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Makes a delayed acknowledgement due if its delay is over.
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
        AckPace::new(&AckSettings { every, delay, ..AckSettings::default() }, 1000)
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    #[test]
    fn the_second_full_sized_segment_is_acknowledged_at_once() {
        let mut due = Due::NOTHING;
        due.in_order(at(10), 1000, &pace(2, MS * 200));
        assert_eq!((due.owed, due.deadline), (DueAck::InTime, at(210)));
        due.in_order(at(50), 999, &pace(2, MS * 200));
        assert_eq!((due.owed, due.deadline), (DueAck::InTime, at(210)));
        due.in_order(at(60), 1, &pace(2, MS * 200));
        assert_eq!((due.owed, due.deadline), (DueAck::Now, Instant::NEVER));
    }

    #[test]
    fn the_second_segment_of_any_size_is_acknowledged_where_segments_count() {
        let settings = AckSettings { counted: AckCount::Segments, ..AckSettings::default() };
        let pace = AckPace::new(&settings, 1000);
        let mut due = Due::NOTHING;
        due.in_order(at(10), 1, &pace);
        assert_eq!(due.owed, DueAck::InTime);
        due.in_order(at(20), 2, &pace);
        assert_eq!(due.owed, DueAck::Now);
    }

    #[test]
    fn the_timer_runs_from_the_first_byte() {
        let mut due = Due::NOTHING;
        due.in_order(at(10), 1000, &pace(2, MS * 200));
        due.handle_timeout(at(209));
        assert_eq!(due.deadline(), at(210));
        due.handle_timeout(at(210));
        assert_eq!((due.owed, due.deadline), (DueAck::Now, Instant::NEVER));
    }

    #[test]
    fn a_delay_of_zero_acknowledges_every_segment_at_once() {
        for pace in [pace(2, Duration::ZERO), pace(1, MS), pace(0, MS)] {
            let mut due = Due::NOTHING;
            due.in_order(at(10), 1, &pace);
            assert_eq!((due.owed, due.deadline), (DueAck::Now, Instant::NEVER));
        }
    }

    /// The second of four segments makes an acknowledgement due, which waits for 1 ms.
    #[test]
    fn merged_segments_are_acknowledged_once_by_count_or_by_time() {
        let gro = Some(Gro { segments: 4, wait: MS });
        let pace = AckPace::new(&AckSettings { gro, ..AckSettings::default() }, 1000);
        let mut due = Due::NOTHING;
        due.in_order(at(10), 1000, &pace);
        assert_eq!((due.owed, due.deadline), (DueAck::InTime, at(210)));
        due.in_order(at(50), 1000, &pace);
        assert_eq!((due.owed, due.deadline), (DueAck::InTime, at(51)));
        due.in_order(at(50), 1000, &pace);
        assert_eq!((due.owed, due.deadline), (DueAck::InTime, at(51)));
        let mut full = due;
        full.in_order(at(50), 1000, &pace);
        assert_eq!((full.owed, full.deadline), (DueAck::Now, Instant::NEVER));
        due.handle_timeout(at(51));
        assert_eq!((due.owed, due.deadline), (DueAck::Now, Instant::NEVER));
    }
}
