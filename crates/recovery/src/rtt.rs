//! The one rule by which round-trip times are sampled.
//!
//! With timestamps, every ACK that advances the window gives a sample (RFC 7323, section 4.1), even
//! if the segment was retransmitted. Without timestamps, one segment per round trip is timed. A
//! retransmission of that segment voids its sample (Karn's rule, RFC 6298, section 3).

use crate::fact::{Acked, Echo};
use eifel_base::time::{Duration, Instant};

/// How often an ACK gives a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sampling {
    /// Every ACK that advances the window gives one.
    EachAck,
    /// One segment per round trip is timed, and its ACK gives a sample.
    OneARoundTrip,
}

/// The source of samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    Echoes,
    OneSegment(Option<Timed>),
}

/// The segment being timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Timed {
    end: u64,
    sent_at: Instant,
}

/// An unknown time. It is longer than any sample, so a minimum needs no special case.
const UNKNOWN: Duration = Duration::MAX;

fn known(time: Duration) -> Option<Duration> {
    (time != UNKNOWN).then_some(time)
}

/// Round-trip samples of a connection. A time is `UNKNOWN` until it is measured.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrips {
    source: Source,
    latest: Duration,
    shortest: Duration,
    /// Age, at the last ACK, of the highest segment that the ACK covers; `UNKNOWN` if that segment
    /// was retransmitted or there is none.
    unambiguous: Duration,
    minimum: Duration,
    smoothed: Duration,
    taken: u64,
}

impl RoundTrips {
    /// Creates the state without samples. `timestamps` says whether ACKs will echo timestamps.
    pub fn new(timestamps: bool) -> Self {
        let source = if timestamps { Source::Echoes } else { Source::OneSegment(None) };
        let (latest, shortest, unambiguous, minimum, smoothed) = (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
        Self { source, latest, shortest, unambiguous, minimum, smoothed, taken: 0 }
    }

    /// Starts anew after the handshake. The timer already has the handshake's samples. The
    /// handshake's round trip stays the minimum until there is a smaller sample, as in Linux.
    pub(crate) fn after_handshake(&self, timestamps: bool) -> Self {
        let Self { shortest, smoothed, taken, minimum, .. } = *self;
        Self { shortest, smoothed, taken, minimum, ..Self::new(timestamps) }
    }

    /// Returns how often an ACK gives a sample.
    pub fn sampling(&self) -> Sampling {
        match self.source {
            Source::Echoes => Sampling::EachAck,
            Source::OneSegment(_) => Sampling::OneARoundTrip,
        }
    }

    /// Returns the newest sample.
    pub fn latest(&self) -> Option<Duration> {
        known(self.latest)
    }

    /// Returns the smallest sample.
    pub fn minimum(&self) -> Option<Duration> {
        known(self.minimum)
    }

    /// Returns SRTT after the newest sample, as the retransmission timer computes it.
    pub fn smoothed(&self) -> Option<Duration> {
        known(self.smoothed)
    }

    /// Returns the number of samples, including the handshake's.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Records SRTT after the newest sample.
    pub(crate) fn on_smoothed(&mut self, srtt: Option<Duration>) {
        self.smoothed = srtt.unwrap_or(UNKNOWN);
    }

    /// Returns the shortest time from a segment's only transmission to its ACK, by the sender's own
    /// clock. Unlike a sample from an echo, it is not rounded up by a coarse timestamp clock. A
    /// segment sent less than this time ago cannot have been acknowledged yet.
    pub fn shortest(&self) -> Option<Duration> {
        known(self.shortest)
    }

    /// Returns the time from transmission to ACK of the highest segment that the last ACK covers,
    /// if that segment was sent only once. It is known with and without timestamps.
    pub fn unambiguous(&self) -> Option<Duration> {
        known(self.unambiguous)
    }

    /// Records that the highest segment which the last ACK covers was sent `rtt` ago and only
    /// once. `None` if it was retransmitted, or the ACK covers no segment.
    #[inline]
    pub(crate) fn on_unambiguous(&mut self, rtt: Option<Duration>) {
        self.unambiguous = rtt.unwrap_or(UNKNOWN);
        self.shortest = self.shortest.min(self.unambiguous);
    }

    /// Times the segment of new data that ends at `end`, unless another is being timed.
    /// [rfc6298:3.b]
    pub(crate) fn on_new(&mut self, now: Instant, end: u64) {
        if let Source::OneSegment(timed @ None) = &mut self.source {
            *timed = Some(Timed { end, sent_at: now });
        }
    }

    /// Stops timing the segment if it reaches beyond `start`, where a retransmission begins: its
    /// ACK is now ambiguous. [rfc6298:3.a]
    pub(crate) fn on_retransmission(&mut self, start: u64) {
        if let Source::OneSegment(timed) = &mut self.source
            && timed.is_some_and(|timed| start < timed.end)
        {
            *timed = None;
        }
    }

    /// Returns the sample that an ACK gives, if any.
    pub(crate) fn on_ack(&mut self, now: Instant, acked: &Acked<'_>) -> Option<Duration> {
        if acked.bytes == 0 { None } else { self.on_progress(now, acked.cumulative, acked.echo) }
    }

    /// Records a sample from any source.
    #[inline(always)]
    pub(crate) fn on_sample(&mut self, sample: Duration) {
        self.latest = sample;
        self.taken += 1;
        self.minimum = self.minimum.min(sample);
    }

    /// Returns the sample that an ACK of new data gives, if any.
    #[inline(always)]
    pub(crate) fn on_progress(&mut self, now: Instant, cumulative: u64, echo: Option<Echo>) -> Option<Duration> {
        let sample = match &mut self.source {
            Source::Echoes => echo?.age()?,
            Source::OneSegment(timed) => {
                let due = (*timed)?;
                if cumulative < due.end {
                    return None;
                }
                *timed = None;
                now.since(due.sent_at)
            }
        };
        self.on_sample(sample);
        Some(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn acked(cumulative: u64) -> Acked<'static> {
        Acked { cumulative, bytes: 1000, ..Acked::default() }
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + MILLISECOND * millis
    }

    #[test]
    fn the_latest_and_the_smallest_sample_are_kept() {
        let mut round_trips = RoundTrips::new(false);
        assert_eq!((round_trips.latest(), round_trips.minimum()), (None, None));
        for (start, took) in [(0, 30), (100, 20), (200, 40)] {
            round_trips.on_new(at(start), 1001);
            assert_eq!(round_trips.on_ack(at(start + took), &acked(1001)), Some(MILLISECOND * took));
        }
        assert_eq!((round_trips.latest(), round_trips.minimum()), (Some(MILLISECOND * 40), Some(MILLISECOND * 20)));
    }

    #[test]
    fn the_handshake_gives_the_first_sample() {
        let mut round_trips = RoundTrips::new(false);
        for turn in [7, 5, 6] {
            round_trips.on_unambiguous(Some(MILLISECOND * turn));
        }
        round_trips.on_new(at(0), 1);
        assert_eq!(round_trips.on_ack(at(6), &acked(1)), Some(MILLISECOND * 6));
        let after = round_trips.after_handshake(true);
        assert_eq!(
            (after.shortest(), after.latest(), after.minimum(), after.sampling()),
            (Some(MILLISECOND * 5), None, Some(MILLISECOND * 6), Sampling::EachAck)
        );
    }

    /// Karn's rule, RFC 6298, section 3.
    #[test]
    fn retransmitting_data_above_the_timed_segment_keeps_its_sample() {
        let timed = |again| {
            let mut round_trips = RoundTrips::new(false);
            round_trips.on_new(at(0), 1001);
            round_trips.on_retransmission(again);
            round_trips.on_ack(at(10), &acked(1001))
        };
        assert_eq!([1000, 1001].map(timed), [None, Some(MILLISECOND * 10)]);
    }
}
