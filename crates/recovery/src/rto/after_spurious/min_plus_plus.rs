//! *Looks at* verdicts.
//! *Decides* to raise the minimum by a step after each spurious timeout, and to set it back on a genuine one.
//! *Blind to* the length of the spikes.
//! *From* "Responding to Spurious Timeouts in TCP", section III.C, option 3, and table 4, note a (a step of 1 s).

use super::{AfterSpurious, TimerChange};
use crate::detect::Outcome;
use crate::time::Duration;

/// An additive increase of the minimum.
#[derive(Debug)]
pub struct MinPlusPlus {
    step: Duration,
}

impl MinPlusPlus {
    /// Raises by `step` each time.
    pub fn new(step: Duration) -> Self {
        Self { step }
    }
}

impl AfterSpurious for MinPlusPlus {
    fn settled(&mut self, outcome: Outcome, _: Option<Duration>) -> TimerChange {
        match outcome {
            Outcome::Spurious => TimerChange::RaiseMinimum(self.step),
            Outcome::Genuine => TimerChange::ResetMinimum,
        }
    }
}
