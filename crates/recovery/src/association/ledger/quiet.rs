//! The ledger while nothing is reported or marked, and all outstanding chunks were sent on one
//! path.

use super::{Ledger, TotalSize};
use crate::association::PathId;
use crate::fact::Covered;
use eifel_base::time::Instant;

impl Ledger {
    /// Advances the cumulative TSN, which stays below `nxt`, and returns the last chunk that it
    /// passes. The caller ensures that nothing is reported or marked, that all chunks were sent on
    /// `path`, and that the passed chunks were sent once.
    pub(in super::super) fn pass_quietly(&mut self, path: PathId, cumulative: u64) -> Covered {
        let (mut size, mut last_sent) = (TotalSize::default(), Instant::ZERO);
        for _ in self.una..cumulative {
            let chunk = self.chunks.pop_front().expect("the position is outstanding");
            size.data += u64::from(chunk.size.data);
            size.wire += u64::from(chunk.size.wire);
            last_sent = chunk.last_sent;
        }
        let path = &mut self.under_way[path.0];
        path.size.data -= size.data;
        path.size.wire -= size.wire;
        path.positions.remove_below(cumulative, |_| {});
        self.fresh = self.fresh.max(cumulative);
        self.una = cumulative;
        Covered { end: cumulative, copies: 0, last_sent }
    }

    /// Returns whether a gap ack block has reported something that is outstanding.
    pub(in super::super) fn has_reports(&self) -> bool {
        !self.reported.is_empty()
    }

    /// Returns the path on which all outstanding chunks were sent. Returns `None` if nothing is
    /// outstanding, something is reported, marked or abandoned, or several paths are in use.
    pub(in super::super) fn only_path(&self) -> Option<PathId> {
        let whole = self.reported.is_empty() && self.marked.is_empty() && self.abandoned.is_empty();
        let mut used = (0..self.under_way.len()).map(PathId).filter(|path| self.oldest(*path).is_some());
        let only = used.next().filter(|_| whole)?;
        used.next().is_none().then_some(only)
    }
}
