//! Whether an undo is granted at all. One file a rule; it composes with every detector and response.

pub mod always;
pub mod once_a_round_trip;

use crate::duplicate::DuplicateGrant;
use eifel_base::time::{Duration, Instant};

/// A rule's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The response may restore what it restores.
    Granted,
    /// The window stays as the loss signal has left it.
    Refused,
}

/// Guards the window against verdicts, which a peer may have forged.
pub trait Grant: Send + DuplicateGrant {
    /// A spurious verdict on an episode that was opened at `opened_at`; `srtt` is the smoothed round trip now.
    fn ask(&mut self, opened_at: Instant, now: Instant, srtt: Option<Duration>) -> Answer;
}
