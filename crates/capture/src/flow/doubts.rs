//! The data that ACKs have reported missing, whether or not the sender had heard of it.

use super::half::Acknowledgement;
use eifel_base::ranges::{Block, Ranges};

/// Duplicate ACKs that say that a segment was lost, where there is no SACK.
const DUPLICATES: u32 = 3;
/// Ranges kept.
const MOST: usize = 1 << 12;

/// Positions below data that have arrived, when they had not.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    positions: Ranges,
    /// Without SACK: the last acknowledgement number, and how often it was repeated.
    repeated: (u64, u32),
    /// Without SACK: partial ACKs below this name what is missing (RFC 6582).
    recovers_to: u64,
}

impl Doubts {
    /// An ACK passes, while everything below `nxt` was sent.
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement, nxt: u64, sack: bool) {
        if sack {
            if let Some(above) = ack.sacks().iter().map(|block| block.start).max() {
                self.add(Block { start: ack.cumulative, end: above });
            }
            return;
        }
        let (before, times) = self.repeated;
        if ack.cumulative == before && ack.plain {
            self.repeated.1 += 1;
            if times + 1 == DUPLICATES {
                self.recovers_to = self.recovers_to.max(nxt);
                self.add(Block { start: before, end: before + 1 });
            }
        } else if ack.cumulative > before {
            self.repeated = (ack.cumulative, 0);
            if ack.cumulative < self.recovers_to {
                self.add(Block { start: ack.cumulative, end: ack.cumulative + 1 });
            }
        }
    }

    fn add(&mut self, block: Block) {
        if block.start < block.end && self.positions.count() < MOST {
            self.positions.add(block);
        }
    }

    /// Whether the position was ever missing, or something before it in the window that ends at `nxt`.
    pub(super) fn covers(&self, position: u64, nxt: u64) -> bool {
        let window = nxt.saturating_sub(position);
        self.positions.highest().is_some_and(|highest| highest + window > position)
    }
}
