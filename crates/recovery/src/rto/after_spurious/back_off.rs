//! *Looks at* verdicts.
//! *Decides* to keep the back-off that a spurious timeout has reached, and to reset it only on a genuine one.
//! *Blind to* the length of the spikes: one long spike holds the timer at many times the round trip.
//! *From* "Responding to Spurious Timeouts in TCP", section III.C, option 2.

use super::{AfterSpurious, TimerChange};
use crate::detect::Outcome;
use eifel_base::time::Duration;

/// Keeps the back-off until a genuine timeout.
#[derive(Clone, Debug)]
pub struct BackOff;

impl AfterSpurious for BackOff {
    fn settled(&mut self, outcome: Outcome, _: Option<Duration>, _: u32) -> TimerChange {
        match outcome {
            Outcome::Spurious => TimerChange::HoldBackOff,
            Outcome::Genuine => TimerChange::ReleaseBackOff,
        }
    }
}
