//! Counts deliveries without SACK. A duplicate ACK stands for one segment, which a later ACK does
//! not deliver again (RFC 6937, section 3, DeliveredData).

use super::Engine;
use crate::fact::Acked;

/// The deliveries that duplicate ACKs have reported, until a cumulative ACK covers them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Duplicated {
    bytes: u64,
    /// First position that was unsent at the last duplicate ACK. All these deliveries lie below it.
    below: u64,
}

impl Duplicated {
    pub(super) const NOTHING: Self = Self { bytes: 0, below: 0 };
}

impl Engine {
    /// Returns the bytes that an ACK has newly delivered. `delivered` is `una` plus the SACKed
    /// bytes, before that ACK.
    pub(super) fn newly_delivered(&mut self, acked: &Acked<'_>, delivered: u64) -> u64 {
        let view = self.path.watch.view();
        if view.sack {
            return (self.board.una() + self.board.sacked_bytes()).saturating_sub(delivered);
        }
        let mss = u64::from(view.mss);
        if acked.duplicate {
            // The segment that the duplicate ACK asks for has not arrived.
            let most = self.board.outstanding().saturating_sub(mss);
            self.duplicated = Duplicated { bytes: (self.duplicated.bytes + mss).min(most), below: self.board.nxt() };
        }
        // A cumulative ACK delivers the segment that was asked for. Duplicate ACKs stood for the
        // others.
        let known = self.duplicated.bytes.min(acked.bytes.saturating_sub(mss));
        self.duplicated.bytes -= known;
        if self.board.una() >= self.duplicated.below || self.duplicated.bytes == 0 {
            self.duplicated = Duplicated::NOTHING;
        }
        acked.bytes - known
    }
}
