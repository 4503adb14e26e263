//! Which samples a timer takes, and how often.

use super::Sample;
use crate::registry::{Parameter, Parameters};
use crate::rtt::Sampling;
use crate::view::View;
use eifel_base::time::Instant;

/// Which of the connection's samples a timer takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    Every,
    EverySecond,
    /// One per round trip: a segment gives the next sample only if it was sent after the last
    /// sample was taken.
    OneARoundTrip,
}

pub(super) const TIMING: Parameter = Parameter::word(
    "timing",
    "which samples it takes of those that the connection gives",
    "every",
    &["every", "every-second", "one-a-round-trip"],
);

impl Timing {
    pub(super) fn of(parameters: &Parameters) -> Self {
        let words =
            [("every", Self::Every), ("every-second", Self::EverySecond), ("one-a-round-trip", Self::OneARoundTrip)];
        parameters.word("timing", &words)
    }
}

/// The thesis's "RTT sampling rate" (section 5.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rate {
    /// 1: each segment gives a sample.
    One,
    /// 1/2: every second segment does.
    Half,
    /// One sample a round trip.
    OneARoundTrip,
}

/// Chooses the samples to take.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    timing: Timing,
    last: Option<Last>,
    passed: u32,
}

/// The newest sample that was taken.
#[derive(Clone, Copy, Debug)]
struct Last {
    at: Instant,
    /// The first unsent position at that time.
    nxt: u64,
}

impl Last {
    /// Returns whether the segment of `sample` was sent after this sample was taken. For new data
    /// beyond `nxt` that is certain. For other segments the length of the sample decides. An echo's
    /// age counts from the clock tick in which the segment was sent, so it may be a tick too long.
    /// An association's `acked` counts bytes, which are no fewer than its TSNs. Both errors only
    /// reject samples.
    fn precedes(self, sample: &Sample, view: &View) -> bool {
        let unsent = sample.acked > 0 && view.una.saturating_sub(sample.acked) >= self.nxt;
        unsent || view.now.since(self.at) >= sample.rtt
    }
}

impl Timed {
    pub(super) fn new(timing: Timing) -> Self {
        Self { timing, last: None, passed: 0 }
    }

    /// Returns whether this sample is taken.
    pub(super) fn takes(&mut self, sample: &Sample, view: &View) -> bool {
        let takes = match (self.timing, self.last) {
            (Timing::Every, _) | (_, None) => true,
            (Timing::EverySecond, Some(_)) => self.passed > 0,
            (Timing::OneARoundTrip, Some(last)) => last.precedes(sample, view),
        };
        if takes {
            (self.last, self.passed) = (Some(Last { at: view.now, nxt: view.nxt }), 0);
        } else {
            self.passed += 1;
        }
        takes
    }

    /// Returns how often samples are taken, judged by this sample. An ACK of more than one segment
    /// counts as a delayed ACK.
    pub(super) fn rate(&self, sample: &Sample, view: &View) -> Rate {
        match (self.timing, view.round_trips.sampling()) {
            (Timing::OneARoundTrip, _) | (_, Sampling::OneARoundTrip) => Rate::OneARoundTrip,
            (Timing::EverySecond, _) => Rate::Half,
            (Timing::Every, _) if sample.acked > u64::from(view.mss) => Rate::Half,
            (Timing::Every, _) => Rate::One,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congest::Window;
    use crate::rtt::RoundTrips;
    use eifel_base::time::Duration;
    use std::collections::VecDeque;

    const MSS: u64 = 1000;
    const ROUND_TRIP: Duration = Duration::from_micros(10_400);

    /// Simulates a full flight of `window` segments, with one ACK per `every` segments. Each echo
    /// gives the age of the clock `tick` in which the oldest of those segments was sent. Returns
    /// for each ACK whether its sample is taken, and whether that segment was sent no sooner than
    /// the last sample was taken.
    fn taken(window: u64, every: u64, tick: Duration) -> Vec<(bool, bool)> {
        let mut timed = Timed::new(Timing::OneARoundTrip);
        let mut sent: VecDeque<Instant> = (0..window).map(|_| Instant::ZERO).collect();
        let (mut una, mut nxt, mut last) = (0, window * MSS, Instant::ZERO);
        let mut takes = |number: u64| {
            let left = sent[0];
            // Segments arrive one after another.
            let now =
                sent[every as usize - 1] + ROUND_TRIP + Duration::from_micros(number % window.div_ceil(every) * 7);
            let rtt = now.since(Instant::from_nanos(left.as_nanos() / tick.as_nanos() * tick.as_nanos()));
            una += every * MSS;
            let sample = Sample { rtt, acked: every * MSS, window: Window { cwnd: MSS, ssthresh: MSS } };
            let round_trips = RoundTrips::new(true);
            let takes = timed.takes(&sample, &View { now, una, nxt, mss: MSS as u32, sack: true, round_trips });
            let after = left >= last;
            last = if takes { now } else { last };
            sent.drain(..every as usize);
            (0..every).for_each(|_| sent.push_back(now));
            nxt += every * MSS;
            (takes, after)
        };
        (0..200).map(&mut takes).collect()
    }

    #[test]
    fn a_coarse_timestamp_clock_still_gives_a_sample_each_round_trip() {
        for (window, every) in [(1, 1), (2, 2), (4, 1), (8, 2), (9, 3)] {
            for tick in [1, 10, 500].map(Duration::from_millis) {
                let taken = taken(window, every, tick);
                assert!(taken.iter().all(|(takes, after)| takes == after), "{window} {every} {tick:?}: {taken:?}");
                assert!(taken.iter().filter(|(takes, _)| *takes).count() as u64 >= 199 / window.div_ceil(every));
            }
        }
    }

    /// Between a HEARTBEAT and its answer, an association may take a sample from data.
    #[test]
    fn a_sample_without_new_data_counts_if_its_packet_left_after_the_last_sample() {
        let mut timed = Timed::new(Timing::OneARoundTrip);
        let mut takes = |at: u64, acked, rtt: u64| {
            let now = Instant::ZERO + Duration::from_millis(at);
            let (window, round_trips) = (Window { cwnd: 1, ssthresh: 1 }, RoundTrips::new(false));
            let sample = Sample { rtt: Duration::from_millis(rtt), acked, window };
            timed.takes(&sample, &View { now, una: 9000, nxt: 9000, mss: 1000, sack: true, round_trips })
        };
        assert_eq!([takes(100, 1000, 50), takes(110, 0, 11), takes(110, 0, 10)], [true, false, true]);
    }
}
