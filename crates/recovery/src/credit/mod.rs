//! Which acknowledged chunks let a path's window grow. One file a rule; only an association has several paths.
//!
//! A chunk that left on several paths is acknowledged once. By RFC 9260, section 7.2.1, the path that it left on last is
//! credited. If the original on the primary was only late, the alternate's window grows although all that went there may
//! be lost: the overgrowth of "On making SCTP robust to spurious retransmissions", section 4 and figure 3.

crate::registry::algorithms! { ; association: last_path, unambiguous, evidence }

use crate::association::{PathId, Sack};
use crate::duplicate::DuplicateCredit;

/// Says what a path's window may grow by. Timers, errors and the flight follow the ledger in any case.
pub trait Credit: Send + DuplicateCredit {
    /// Returns whether the chunks that left more than once, on `path` last, count for it. Those that left once do.
    fn counts_repeats(&self, path: PathId, sack: &Sack<'_>) -> bool;
}
