//! A mark in the sequence of positions.

use crate::fact::Block;
use eifel_base::ranges::Ranges;

/// A position below which all segments share a state, and the bytes below it that the peer has
/// reported by SACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    pub(super) at: u64,
    pub(super) sacked_below: u64,
}

impl Mark {
    /// Counts a gap that the peer has newly reported.
    pub(super) fn count(&mut self, gap: Block) {
        self.sacked_below += gap.end.min(self.at).saturating_sub(gap.start);
    }

    /// Subtracts a range that is no longer outstanding.
    pub(super) fn discount(&mut self, gone: Block) {
        self.sacked_below -= gone.end.min(self.at).saturating_sub(gone.start);
    }

    /// Moves the mark up, never down.
    pub(super) fn raise(&mut self, to: u64, sacked: &Ranges) {
        if to > self.at {
            if !sacked.is_empty() {
                self.sacked_below += sacked.covered(self.at, to);
            }
            self.at = to;
        }
    }

    /// Moves the mark up or down.
    pub(super) fn move_to(&mut self, to: u64, sacked: &Ranges) {
        self.raise(to, sacked);
        self.sacked_below -= sacked.covered(to, self.at);
        self.at = to;
    }
}
