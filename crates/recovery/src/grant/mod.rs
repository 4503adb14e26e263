//! Whether an undo is granted at all. One file per rule. Each rule combines with every detector and
//! response.

crate::registry::algorithms! { always, once_a_round_trip, unless_losses_follow }
crate::duplicate::duplicate!(Grant by DuplicateGrant);

use eifel_base::time::{Duration, Instant};

/// Guards the window against verdicts, which a peer may have forged.
pub trait Grant: Send + DuplicateGrant {
    /// Returns whether the response may undo an episode that was opened at `opened_at` and is now
    /// judged spurious. If not, the window stays as the loss signal left it. `srtt` is the current
    /// SRTT; `None` without samples.
    fn grants(&mut self, opened_at: Instant, now: Instant, srtt: Option<Duration>) -> bool;
    /// Learns of a loss signal that stands, because no verdict has called it spurious. The segment
    /// in question was sent at `sent_at`.
    fn lost(&mut self, _sent_at: Instant) {}
}
