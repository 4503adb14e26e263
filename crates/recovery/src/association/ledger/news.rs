//! The news that a SACK brings.

use crate::fact::Covered;

/// A SACK's news about the chunks that were last sent on one path.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct PathNews {
    /// Bytes that were under way before the SACK.
    pub(in super::super) flight: u64,
    /// Bytes that the cumulative TSN newly passed, including bytes reported before.
    pub(in super::super) passed: u64,
    /// Bytes that the cumulative TSN newly acknowledged, without bytes reported before.
    pub(in super::super) acked: u64,
    /// Bytes that gap ack blocks newly reported.
    pub(in super::super) sacked: u64,
    /// Of [`acked`](Self::acked), the bytes of chunks that were sent more than once.
    pub(in super::super) acked_again: u64,
    /// Of [`sacked`](Self::sacked), the bytes of chunks that were sent more than once.
    pub(in super::super) sacked_again: u64,
    /// The highest chunk that the cumulative TSN newly passed.
    pub(in super::super) highest: Option<Covered>,
    /// Whether the oldest chunk under way was acknowledged or reported.
    pub(in super::super) oldest: bool,
}

impl PathNews {
    /// Returns the bytes newly acknowledged and newly reported. `repeats` includes chunks that were
    /// sent more than once.
    pub(in super::super) fn counted(&self, repeats: bool) -> (u64, u64) {
        if repeats {
            (self.acked, self.sacked)
        } else {
            (self.acked - self.acked_again, self.sacked - self.sacked_again)
        }
    }
}

/// A SACK's news about all chunks.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct SackNews {
    /// Whether the cumulative TSN moved.
    pub(in super::super) advanced: bool,
    /// First position beyond the highest chunk that was newly acknowledged or reported; 0 if there
    /// is none.
    pub(in super::super) newest: u64,
    /// First position beyond the highest chunk that the SACK reports.
    pub(in super::super) reported_up_to: u64,
    /// Whether chunks count as under way again that were reported before.
    pub(in super::super) reneged: bool,
    /// Whether abandoned chunks were outstanding. The cumulative TSN may then have advanced because
    /// of a FORWARD TSN, so it shows no delivery.
    pub(in super::super) skips: bool,
}
