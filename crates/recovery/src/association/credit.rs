//! Which acknowledged chunks let a path's window grow.
//!
//! A chunk that left on several paths is acknowledged once. By RFC 9260, section 7.2.1, the path that it left on last is
//! credited. If the original on the primary was only late, the alternate's window grows although all that went there may
//! be lost: the overgrowth of "On making SCTP robust to spurious retransmissions", section 4 and figure 3.

use super::ledger::Share;
use super::{PathId, Sack};
use crate::fact::Mark;

/// What a path is credited with. Timers, errors and the flight follow the ledger in any case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Credit {
    /// All chunks that left on it last, as RFC 9260 has it.
    #[default]
    LastPath,
    /// Of these, chunks that left once.
    Unambiguous,
    /// Chunks that left once; those that left again too, if the SACK's mark or echo says that it answers a retransmission on
    /// this path.
    Evidence,
}

impl Credit {
    /// Returns the bytes newly acknowledged and newly reported that count for `path`.
    pub(super) fn of(self, path: PathId, share: &Share, sack: &Sack<'_>) -> (u64, u64) {
        let answered = sack.mark == Some(Mark::Retransmission) || sack.echo_of == Some(path);
        let all = match self {
            Self::LastPath => true,
            Self::Unambiguous => false,
            Self::Evidence => answered,
        };
        if all {
            (share.acked, share.sacked)
        } else {
            (share.acked - share.acked_again, share.sacked - share.sacked_again)
        }
    }
}
