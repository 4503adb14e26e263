//! Adaptations of the timer to verdicts. One file per adaptation.

crate::registry::algorithms! { none, reseed, back_off, min_plus_plus, min_by_delay }
crate::duplicate::duplicate!(AfterSpurious by DuplicateAfterSpurious);

use super::TimerChange;
use crate::detect::Outcome;
use crate::registry::{Parameter, Parameters};
use eifel_base::time::Duration;

/// Adapts the timer when a timeout has been judged.
pub trait AfterSpurious: Send + DuplicateAfterSpurious {
    /// Returns the change of the timer. `sample` is the round trip that the settling ACK gave.
    /// After a spurious timeout it is the delayed segment's own. `timeouts` is how often the timer
    /// expired in the episode.
    fn on_verdict(&mut self, outcome: Outcome, sample: Option<Duration>, timeouts: u32) -> TimerChange;
}

/// What a genuine timeout does to a raised minimum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnGenuine {
    /// It resets the minimum to the configured one.
    Reset,
    /// It halves the minimum, but not below the configured one.
    Halve,
}

const ON_GENUINE: Parameter = Parameter::word(
    "on_genuine",
    "what a genuine timeout does to the raised minimum: resets it, or halves it",
    "reset",
    &["reset", "halve"],
);

impl OnGenuine {
    fn of(parameters: &Parameters) -> Self {
        parameters.word("on_genuine", &[("reset", Self::Reset), ("halve", Self::Halve)])
    }

    fn change(self) -> TimerChange {
        match self {
            Self::Reset => TimerChange::ResetMinimum,
            Self::Halve => TimerChange::HalveMinimum,
        }
    }
}
