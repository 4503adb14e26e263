//! Which of the samples that come a timer takes, and how often that is.

use super::Sample;
use crate::rtt::Sampling;
use crate::view::View;
use eifel_base::time::Instant;

/// Which samples are taken of those that the connection gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// Each.
    Every,
    /// Every other one.
    EverySecond,
    /// That of one segment a round trip: the next one timed is sent after the last sample was taken.
    OneARoundTrip,
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

/// Takes samples.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    timing: Timing,
    taken_at: Option<Instant>,
    passed: u32,
}

impl Timed {
    pub(super) fn new(timing: Timing) -> Self {
        Self { timing, taken_at: None, passed: 0 }
    }

    /// Whether this sample is taken.
    pub(super) fn takes(&mut self, sample: &Sample, view: &View) -> bool {
        let takes = match (self.timing, self.taken_at) {
            (Timing::Every, _) | (_, None) => true,
            (Timing::EverySecond, Some(_)) => self.passed > 0,
            (Timing::OneARoundTrip, Some(last)) => view.now.since(last) >= sample.rtt,
        };
        if takes {
            (self.taken_at, self.passed) = (Some(view.now), 0);
        } else {
            self.passed += 1;
        }
        takes
    }

    /// How often samples are taken, going by this one: an ACK of more than one segment stands for two, as delayed ACKs do.
    pub(super) fn rate(&self, sample: &Sample, view: &View) -> Rate {
        match (self.timing, view.round_trips.sampling()) {
            (Timing::OneARoundTrip, _) | (_, Sampling::OneARoundTrip) => Rate::OneARoundTrip,
            (Timing::EverySecond, _) => Rate::Half,
            (Timing::Every, _) if sample.acked > u64::from(view.mss) => Rate::Half,
            (Timing::Every, _) => Rate::One,
        }
    }
}
