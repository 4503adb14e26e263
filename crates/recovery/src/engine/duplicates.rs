//! What ACKs deliver where there is no SACK: a duplicate ACK stands for a segment, which a later acknowledgement does not deliver
//! again (RFC 6937, section 3, DeliveredData).

use super::Engine;
use crate::fact::Acked;

/// What duplicate ACKs stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Duplicated {
    bytes: u64,
    /// The first position that was unsent at the last of them: all that they stand for lies below.
    below: u64,
}

impl Duplicated {
    pub(super) const NOTHING: Self = Self { bytes: 0, below: 0 };
}

impl Engine {
    /// Returns the bytes that an ACK has newly delivered. Before it, `delivered` were: acknowledged or reported.
    pub(super) fn newly_delivered(&mut self, acked: &Acked<'_>, delivered: u64) -> u64 {
        let view = self.path.watch.view();
        if view.sack {
            return (self.board.una() + self.board.sacked_bytes()).saturating_sub(delivered);
        }
        let mss = u64::from(view.mss);
        if acked.duplicate {
            // The segment that is asked for has not arrived.
            let most = self.board.outstanding().saturating_sub(mss);
            self.duplicated = Duplicated { bytes: (self.duplicated.bytes + mss).min(most), below: self.board.nxt() };
        }
        // An acknowledgement delivers the segment that was asked for; duplicates stand for the others.
        let known = self.duplicated.bytes.min(acked.bytes.saturating_sub(mss));
        self.duplicated.bytes -= known;
        if self.board.una() >= self.duplicated.below || self.duplicated.bytes == 0 {
            self.duplicated = Duplicated::NOTHING;
        }
        acked.bytes - known
    }
}
