//! The progress of a stream, interval by interval.

use crate::host::Tally;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::engine::Snapshot;

/// One interval of a stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// Time since the connection opened.
    pub start: Duration,
    pub end: Duration,
    /// Bytes that the application wrote or read.
    pub bytes: u64,
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// The sender's variables at the end of the interval.
    pub variables: Snapshot,
}

impl Interval {
    /// Returns the rate in bits per second.
    pub fn rate_bps(&self) -> f64 {
        let seconds = self.end.saturating_sub(self.start).as_secs_f64();
        if seconds > 0.0 { self.bytes as f64 * 8.0 / seconds } else { 0.0 }
    }
}

/// Cuts a stream into intervals.
#[derive(Clone, Debug)]
pub struct Meter {
    every: Duration,
    begun: Instant,
    /// The start of the current interval, and the totals at that time.
    start: Instant,
    bytes: u64,
    retransmissions: u64,
    intervals: Vec<Interval>,
}

impl Meter {
    /// Begins at `now`, with intervals of this length.
    pub fn new(now: Instant, every: Duration) -> Self {
        Self { every, begun: now, start: now, bytes: 0, retransmissions: 0, intervals: Vec::new() }
    }

    /// Returns the end of the current interval.
    pub fn due(&self) -> Instant {
        self.start + self.every
    }

    /// Returns the start of the stream.
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// Ends the current interval at `now`. `bytes` and `tally` are totals since the beginning.
    pub fn cut(&mut self, now: Instant, bytes: u64, tally: Tally, variables: Snapshot) -> &Interval {
        let interval = Interval {
            start: self.start.since(self.begun),
            end: now.since(self.begun),
            bytes: bytes - self.bytes,
            retransmissions: tally.retransmissions - self.retransmissions,
            variables,
        };
        (self.start, self.bytes, self.retransmissions) = (now, bytes, tally.retransmissions);
        self.intervals.push(interval);
        &self.intervals[self.intervals.len() - 1]
    }

    /// Ends the last interval, unless it is empty. A stream gets at least one interval.
    pub fn finish(&mut self, now: Instant, bytes: u64, tally: Tally, variables: Snapshot) -> Option<&Interval> {
        let news = bytes > self.bytes || tally.retransmissions > self.retransmissions || self.intervals.is_empty();
        news.then(|| self.cut(now, bytes, tally, variables))
    }

    /// Returns all intervals.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }
}
