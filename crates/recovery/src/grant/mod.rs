//! Whether an undo is granted at all. One file a rule; each composes with every detector and response.

crate::registry::algorithms! { always, once_a_round_trip, unless_losses_follow }

use crate::duplicate::DuplicateGrant;
use eifel_base::time::{Duration, Instant};

/// Guards the window against verdicts, which a peer may have forged.
pub trait Grant: Send + DuplicateGrant {
    /// Returns whether the response may undo an episode that was opened at `opened_at` and is now judged spurious. If not,
    /// the window stays as the loss signal has left it. `srtt` is the smoothed round trip now.
    fn grants(&mut self, opened_at: Instant, now: Instant, srtt: Option<Duration>) -> bool;
    /// Learns that a loss signal stands: no verdict has called it spurious. What it is about left at `sent_at`.
    fn lost(&mut self, _sent_at: Instant) {}
}
