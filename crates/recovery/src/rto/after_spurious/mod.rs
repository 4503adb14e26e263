//! What the timer learns from a verdict. One file an adaptation.

pub mod back_off;
pub mod min_plus_plus;
pub mod none;
pub mod reseed;

use super::TimerChange;
use crate::detect::Outcome;
use crate::duplicate::DuplicateAfterSpurious;
use eifel_base::time::Duration;

/// Adapts the timer when a timeout has been judged.
pub trait AfterSpurious: Send + DuplicateAfterSpurious {
    /// `sample` is the round trip that the settling ACK gave, the delayed segment's own if the timeout was spurious;
    /// `timeouts` is how often the timer expired in the episode.
    fn settled(&mut self, outcome: Outcome, sample: Option<Duration>, timeouts: u32) -> TimerChange;
}
