//! A bulk transfer: so many bytes, or without end, as fast as TCP takes them.

use super::{Step, Supply};
use crate::slab::End;

/// What is written ahead of what is sent where a transfer cannot be written at once: more than leaves at one instant of
/// any window that TCP can announce would be endless, so that this is a pipe that is filled again whenever it runs low.
const AHEAD: u64 = 128 * 1024;
/// Written at once for a transfer without end: 36 years at 1 Tbit/s.
const ENDLESS: u64 = 1 << 57;

/// How the bytes come to the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writing {
    /// All at the beginning.
    AtOnce,
    /// As [`Writing::Ahead`], once the connection is there.
    AheadLater,
    /// Only a little ahead of what is sent, so that it can be stopped.
    Ahead,
}

/// A bulk transfer.
pub struct Bulk {
    /// First offset that is not read once all is done; `u64::MAX` for a transfer without end.
    total: u64,
    unwritten: u64,
    writing: Writing,
    closes: bool,
}

impl Bulk {
    /// A transfer of `bytes`; `closes`: whether the connection is closed behind the last byte.
    pub fn new(bytes: Option<u64>, writing: Writing, closes: bool) -> Self {
        Self { total: bytes.unwrap_or(u64::MAX), unwritten: bytes.unwrap_or(ENDLESS), writing, closes }
    }

    pub(super) fn start(&mut self) -> Step {
        let write = match self.writing {
            Writing::AtOnce => self.unwritten,
            Writing::AheadLater | Writing::Ahead => {
                self.writing = Writing::Ahead;
                self.unwritten.min(AHEAD)
            }
        };
        self.unwritten -= write;
        Step { write, close: self.is_over(), ..Step::NOTHING }
    }

    #[inline]
    pub(super) fn read(&mut self, end: End, total: u64) -> Option<Step> {
        (total >= self.total && end == End::To).then_some(Step { done: true, ..Step::NOTHING })
    }

    #[inline]
    pub(super) fn refill(&mut self, unsent: u64) -> u64 {
        if self.supply() == Supply::Complete || unsent >= AHEAD {
            return 0;
        }
        let write = self.unwritten.min(AHEAD - unsent);
        self.unwritten -= write;
        write
    }

    pub(super) fn supply(&self) -> Supply {
        if self.writing == Writing::Ahead && self.unwritten > 0 { Supply::Ahead } else { Supply::Complete }
    }

    pub(super) fn stop(&mut self) {
        self.unwritten = 0;
    }

    /// Whether everything is written, and the connection to be closed then.
    pub fn is_over(&self) -> bool {
        self.closes && self.unwritten == 0
    }
}
