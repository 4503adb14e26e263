//! Chunks that the sender has abandoned (RFC 3758, sections 3.4 and 3.5).
//!
//! "The sender MUST treat the data chunk as being finally acked and no longer outstanding" (rule
//! A2). So it is neither under way nor marked, and adds nothing to the news of a SACK that passes
//! or reports it.

use super::Ledger;
use crate::fact::Block;

impl Ledger {
    /// Abandons an outstanding chunk.
    pub(in super::super) fn abandon(&mut self, position: u64) {
        if self.is_abandoned(position) {
            return;
        }
        self.extend_newest(position + 1);
        let one = Block { start: position, end: position + 1 };
        if self.marked.containing(position).is_some() {
            self.uncount_mark(position);
            self.marked.remove(one);
        } else if self.reported.containing(position).is_none() {
            let (last, size) = (self.chunk(position).last, self.chunk(position).size);
            self.under_way[last.0].positions.remove(one);
            self.under_way[last.0].size.remove(size);
        }
        self.abandoned.add(one);
    }

    pub(in super::super) fn is_abandoned(&self, position: u64) -> bool {
        self.abandoned.containing(position).is_some()
    }

    /// Returns whether an abandoned chunk is not acknowledged yet.
    pub(in super::super) fn has_abandoned(&self) -> bool {
        !self.abandoned.is_empty()
    }

    /// Returns the first position beyond the abandoned chunks that follow the cumulative TSN
    /// without a gap: one more than "Advanced.Peer.Ack.Point" (rule C2).
    pub(in super::super) fn peer_ack_point(&self) -> u64 {
        self.abandoned.containing(self.una()).map_or(self.una(), |block| block.end)
    }

    /// Returns whether a chunk is outstanding that is not abandoned.
    pub(in super::super) fn has_outstanding(&self) -> bool {
        self.abandoned.covered(self.una(), self.nxt()) < self.nxt() - self.una()
    }
}
