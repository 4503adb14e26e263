//! Duplicate ACKs of a sender without SACK.

use super::AckReceived;

/// The number of duplicate ACKs that reports a loss, unless the sender has seen reordering.
pub(super) const DUPLICATES: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub(super) struct Duplicates {
    /// The number at which the sender retransmits, as far as is known. Linux raises it after reordering.
    pub(super) threshold: u32,
    /// The number since the last ACK of new data.
    pub(super) seen: u32,
}

impl Default for Duplicates {
    fn default() -> Self {
        Self { threshold: DUPLICATES, seen: 0 }
    }
}

impl Duplicates {
    /// Handles an ACK. `open` if the sender considers nothing lost. Duplicates before an ACK of new data then
    /// came from reordering, and raise the threshold.
    pub(super) fn on_ack(&mut self, ack: &AckReceived, open: bool) {
        if ack.advances {
            if open {
                self.threshold = self.threshold.max(self.seen);
            }
            self.seen = 0;
        } else if ack.duplicate && !ack.sack {
            self.seen += 1;
        }
    }
}
