//! Adaptations of the timer to verdicts. One file per adaptation.

crate::registry::algorithms! { none, reseed, back_off, min_plus_plus }
crate::duplicate::duplicate!(AfterSpurious by DuplicateAfterSpurious);

use super::TimerChange;
use crate::detect::Outcome;
use eifel_base::time::Duration;

/// Adapts the timer when a timeout has been judged.
pub trait AfterSpurious: Send + DuplicateAfterSpurious {
    /// Returns the change of the timer. `sample` is the round trip that the settling ACK gave.
    /// After a spurious timeout it is the delayed segment's own. `timeouts` is how often the timer
    /// expired in the episode.
    fn on_verdict(&mut self, outcome: Outcome, sample: Option<Duration>, timeouts: u32) -> TimerChange;
}
