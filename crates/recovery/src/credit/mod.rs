//! Which acknowledged chunks let a path's window grow. One file per rule; only an association has
//! several paths.
//!
//! A chunk that was sent on several paths is acknowledged once. RFC 9260, section 7.2.1, credits
//! the path that it was last sent on. If the original on the primary was only late, the alternate's
//! window grows, although all packets on it may be lost. This is the overgrowth of "On making SCTP
//! robust to spurious retransmissions", section 4 and figure 3.

crate::registry::algorithms! { ; association: last_path, unambiguous, evidence }
crate::duplicate::duplicate!(Credit by DuplicateCredit);

use crate::association::{PathId, Sack};

/// Decides which acknowledged chunks let a path's window grow. Timers, error counters and the
/// flight follow the ledger in any case.
pub trait Credit: Send + DuplicateCredit {
    /// Returns whether chunks that were sent more than once, and last on `path`, count for `path`.
    /// Chunks that were sent once always count.
    fn counts_repeats(&self, path: PathId, sack: &Sack<'_>) -> bool;
}
