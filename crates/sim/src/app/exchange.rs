//! An exchange: both ends send a number of bytes at the same time, as fast as TCP takes them. Each
//! closes its direction after its last byte, while the other may still be sending.

use super::bulk::Bulk;
use super::{Step, Supply};
use crate::end::End;

/// Two bulk transfers over one connection.
pub struct Exchange {
    /// Indexed by the sending end.
    directions: [Bulk; 2],
    /// Whether an end has read all bytes. Indexed by the reading end.
    has_all: [bool; 2],
}

impl Exchange {
    /// Creates an exchange of these transfers, indexed by [`End`].
    pub fn new(directions: [Bulk; 2]) -> Self {
        Self { directions, has_all: [false; 2] }
    }

    pub(super) fn start(&mut self, end: End) -> Step {
        self.directions[end.index()].start()
    }

    pub(super) fn read(&mut self, end: End, total: u64) -> Option<Step> {
        // `Bulk` counts only bytes that `End::To` reads, so this passes `End::To` for either end.
        self.has_all[end.index()] |= self.directions[end.other().index()].read(End::To, total).is_some();
        (self.has_all == [true; 2]).then_some(Step { done: true, ..Step::NOTHING })
    }

    pub(super) fn refill(&mut self, end: End, unsent: u64) -> u64 {
        self.directions[end.index()].refill(unsent)
    }

    pub(super) fn supply(&self, end: End) -> Supply {
        self.directions[end.index()].supply()
    }

    pub(super) fn is_over(&self, end: End) -> bool {
        self.directions[end.index()].is_over()
    }

    pub(super) fn stop(&mut self) {
        self.directions.iter_mut().for_each(Bulk::stop);
    }
}
