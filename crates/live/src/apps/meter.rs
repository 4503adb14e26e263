//! The progress of a stream, interval by interval.

use crate::host::Tally;
use eifel_base::time::{Duration, Instant};
use eifel_recovery::engine::Snapshot;

/// One interval of a stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// The stream's number, from 1.
    pub stream: u64,
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
    stream: u64,
    every: Duration,
    begun: Instant,
    /// The start of the current interval, and the totals at that time.
    start: Instant,
    bytes: u64,
    retransmissions: u64,
    intervals: Vec<Interval>,
}

impl Meter {
    /// Begins at `now`, with intervals of this length, for the only stream.
    pub fn new(now: Instant, every: Duration) -> Self {
        Self::of_stream(1, now, every)
    }

    /// Begins as [`new`](Self::new) does, for the stream with this number.
    pub fn of_stream(stream: u64, now: Instant, every: Duration) -> Self {
        Self { stream, every, begun: now, start: now, bytes: 0, retransmissions: 0, intervals: Vec::new() }
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
            stream: self.stream,
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

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_recovery::engine::{Config, Engine};
    use eifel_testkit::random::Random;

    /// A sender's variables with this window.
    fn variables(cwnd: u64) -> Snapshot {
        let engine = Engine::new(&Config::default()).unwrap();
        Snapshot { cwnd, ..engine.snapshot() }
    }

    fn tally(retransmissions: u64) -> Tally {
        Tally { retransmissions, ..Tally::default() }
    }

    /// A stream's intervals join without a gap. Their bytes and retransmissions add up to the totals.
    #[test]
    fn intervals_are_contiguous_and_sum_to_the_totals() {
        let mut random = Random(5);
        for case in 0..2000 {
            let begun = Instant::ZERO + Duration::from_millis(random.below(2000));
            let every = Duration::from_millis(1 + random.below(1000));
            let mut meter = Meter::new(begun, every);
            assert_eq!((meter.begun(), meter.due()), (begun, begun + every));
            let (mut now, mut bytes, mut again, mut naive) = (begun, 0, 0, Vec::new());
            let mut last = (begun, 0, 0);
            for _ in 0..random.below(4) {
                now += Duration::from_millis(random.below(1500));
                (bytes, again) = (bytes + random.below(3), again + random.below(2));
                let cut = *meter.cut(now, bytes, tally(again), variables(bytes));
                assert_eq!(Some(&cut), meter.intervals().last(), "{case}");
                naive.push((last.0, now, bytes - last.1, again - last.2, bytes));
                last = (now, bytes, again);
                assert_eq!(meter.due(), now + every, "{case}");
            }
            now += Duration::from_millis(random.below(1500));
            (bytes, again) = (bytes + random.below(2), again + random.below(2));
            let finished = meter.finish(now, bytes, tally(again), variables(bytes)).is_some();
            assert_eq!(finished, naive.is_empty() || bytes > last.1 || again > last.2, "{case}");
            if finished {
                naive.push((last.0, now, bytes - last.1, again - last.2, bytes));
            }
            let found: Vec<_> = meter
                .intervals()
                .iter()
                .map(|one| (begun + one.start, begun + one.end, one.bytes, one.retransmissions, one.variables.cwnd))
                .collect();
            assert_eq!(found, naive, "{case}");
        }
    }

    #[test]
    fn a_rate_counts_bits_over_elapsed_time() {
        let rate = |from, to, bytes| {
            let (start, end) = (Duration::from_millis(from), Duration::from_millis(to));
            Interval { stream: 1, start, end, bytes, retransmissions: 0, variables: variables(0) }.rate_bps()
        };
        assert_eq!(rate(500, 2500, 1000), 4000.0);
        assert_eq!((rate(500, 500, 1000), rate(600, 500, 1000), rate(0, 1000, 0)), (0.0, 0.0, 0.0));
    }
}
