//! The state of a modelled sender, and what an undo of its episode looks at.

use super::Retransmitted;
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;

/// What an undo looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// TSval of the first retransmission.
    pub(super) stamp: Option<Timestamp>,
    /// The first position that was not acknowledged when the episode began. Reports of duplicates below it are of
    /// earlier episodes.
    pub(super) began_at: u64,
    /// The number of retransmissions not yet reported by DSACK.
    pub(super) unreported: u32,
}

impl Undo {
    /// Returns what an undo looks at of an episode that begins with a retransmission.
    pub(super) fn of(resent: &Retransmitted) -> Self {
        Self { stamp: resent.stamp, began_at: resent.una, unreported: 1 }
    }

    pub(super) fn on_duplicate(&mut self, block: Block) {
        if block.end > self.began_at {
            self.unreported = self.unreported.saturating_sub(1);
        }
    }
}

/// What the sender does.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Open,
    Recovery {
        high: u64,
        /// When the first partial ACK came, in nanoseconds.
        partial: Option<u64>,
        undo: Undo,
    },
    /// Repair after an expiry of the retransmission timer.
    Loss {
        high: u64,
        /// The end of the last retransmission.
        reached: u64,
        /// Whether F-RTO may still undo it.
        forward: bool,
        /// Of the timeout, or of the recovery that it interrupts.
        undo: Undo,
        /// Whether an ACK came since the timeout. Before it, the window is one segment.
        answered: bool,
    },
}
