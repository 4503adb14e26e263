//! The one rule by which round-trip times are sampled.
//!
//! With timestamps every ACK that advances the window gives a sample (RFC 7323, section 4.1), whether or not the
//! segment was retransmitted. Without them one segment a round trip is timed, and a retransmission spoils it (Karn's
//! rule, RFC 6298, section 3).

use crate::fact::{Acked, Echo};
use eifel_base::time::{Duration, Instant};

/// How often an ACK gives a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sampling {
    /// Every ACK that advances the window gives one.
    EachAck,
    /// One segment a round trip is timed, and its ACK gives one.
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

/// Stands for an unknown time: it is longer than any sample, so that a minimum needs no further question.
const UNKNOWN: Duration = Duration::MAX;

fn known(time: Duration) -> Option<Duration> {
    (time != UNKNOWN).then_some(time)
}

/// Round-trip samples of a connection.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrips {
    source: Source,
    latest: Duration,
    shortest: Duration,
    /// The time of the newest turn, if the last ACK has brought one.
    turn: Duration,
    minimum: Duration,
    smoothed: Duration,
    taken: u64,
}

impl RoundTrips {
    /// Begins without samples; `timestamps` says whether echoes will come.
    pub fn new(timestamps: bool) -> Self {
        let source = if timestamps { Source::Echoes } else { Source::OneSegment(None) };
        let (latest, shortest, turn, minimum, smoothed) = (UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
        Self { source, latest, shortest, turn, minimum, smoothed, taken: 0 }
    }

    /// Begins anew after the handshake. Its samples are in the timer already; its round trip counts as the smallest sample
    /// until there is a smaller one, as in Linux.
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

    /// Returns the number of samples, the handshake's included.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Takes note of SRTT after the newest sample.
    pub(crate) fn on_smoothed(&mut self, srtt: Option<Duration>) {
        self.smoothed = srtt.unwrap_or(UNKNOWN);
    }

    /// Returns the shortest time between a segment's only sending and its ACK, by the sender's own clock. Unlike a sample
    /// from an echo, no coarse timestamp clock rounds it up. A segment that left more recently cannot have been answered.
    pub fn shortest(&self) -> Option<Duration> {
        known(self.shortest)
    }

    /// Returns how long the highest segment took that the last ACK covers, if it left only once. Every such ACK has one,
    /// with timestamps or without.
    pub fn turn(&self) -> Option<Duration> {
        known(self.turn)
    }

    /// Takes note that the last ACK covers a segment which left `turn` ago and only once; `None` if it covers none.
    #[inline]
    pub(crate) fn on_turn(&mut self, turn: Option<Duration>) {
        self.turn = turn.unwrap_or(UNKNOWN);
        self.shortest = self.shortest.min(self.turn);
    }

    /// Times the segment of new data that ends at `end`, if no other is being timed. [rfc6298:3.b]
    pub(crate) fn on_new(&mut self, now: Instant, end: u64) {
        if let Source::OneSegment(timed @ None) = &mut self.source {
            *timed = Some(Timed { end, sent_at: now });
        }
    }

    /// Stops timing a segment that reaches beyond `start`, where a retransmission begins: its ACK became ambiguous.
    /// [rfc6298:3.a]
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

    /// Takes a sample in, however it was measured.
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
        Acked {
            cumulative,
            bytes: 1000,
            sacked: 0,
            originals: None,
            duplicate: false,
            highest: None,
            sacked_up_to: 0,
            dsacks: &[],
            echo: None,
            mark: None,
            ece: false,
            all: false,
        }
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
    fn how_long_the_handshake_took_is_known_after_it() {
        let mut round_trips = RoundTrips::new(false);
        for turn in [7, 5, 6] {
            round_trips.on_turn(Some(MILLISECOND * turn));
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
    fn what_is_sent_again_from_beyond_the_timed_segment_does_not_spoil_it() {
        let timed = |again| {
            let mut round_trips = RoundTrips::new(false);
            round_trips.on_new(at(0), 1001);
            round_trips.on_retransmission(again);
            round_trips.on_ack(at(10), &acked(1001))
        };
        assert_eq!([1000, 1001].map(timed), [None, Some(MILLISECOND * 10)]);
    }
}
