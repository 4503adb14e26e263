//! *Looks at* verdicts.
//! *Decides* to keep the back-off after a spurious timeout, and to reset it only on a genuine one.
//! *Blind to* the length of the delay spikes: one long spike holds the timer at many times the
//! round trip.
//! *From* "Responding to Spurious Timeouts in TCP", section III.C, option 2.

use super::{AfterSpurious, TimerChange};
use crate::detect::Outcome;
use crate::registry::{Entry, RESPONDING};
use eifel_base::time::Duration;

pub(super) const ENTRY: Entry = Entry {
    name: "back-off",
    summary: "the back-off is kept until a genuine timeout",
    source: RESPONDING,
    ..Entry::after_spurious(|_| Box::new(BackOff))
};

/// Keeps the back-off until a genuine timeout.
#[derive(Clone, Debug)]
pub struct BackOff;

impl AfterSpurious for BackOff {
    fn on_verdict(&mut self, outcome: Outcome, _: Option<Duration>, _: u32) -> TimerChange {
        match outcome {
            Outcome::Spurious => TimerChange::HoldBackOff,
            Outcome::Genuine => TimerChange::ReleaseBackOff,
        }
    }
}
