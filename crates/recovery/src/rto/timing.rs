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
    /// One a round trip: the next segment timed is sent after the last sample was taken.
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
    taken_at: Option<Instant>,
    passed: u32,
}

impl Timed {
    pub(super) fn new(timing: Timing) -> Self {
        Self { timing, taken_at: None, passed: 0 }
    }

    /// Returns whether this sample is taken.
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

    /// Returns how often samples are taken, judged by this one: an ACK of more than one segment counts as a delayed ACK.
    pub(super) fn rate(&self, sample: &Sample, view: &View) -> Rate {
        match (self.timing, view.round_trips.sampling()) {
            (Timing::OneARoundTrip, _) | (_, Sampling::OneARoundTrip) => Rate::OneARoundTrip,
            (Timing::EverySecond, _) => Rate::Half,
            (Timing::Every, _) if sample.acked > u64::from(view.mss) => Rate::Half,
            (Timing::Every, _) => Rate::One,
        }
    }
}
