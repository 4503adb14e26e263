//! A bulk transfer: a number of bytes, or an endless stream, as fast as TCP takes them.

use super::{Step, Supply};
use crate::end::End;

/// Bytes kept written ahead of the bytes sent, for a transfer that is not written at once. The
/// application tops this up whenever it runs low. It exceeds the largest unscaled window, 65,535
/// bytes. If a scaled window lets all of it leave at once, the application tops up again at once.
const AHEAD: u64 = 128 * 1024;
/// Bytes to write for an endless transfer: 13 days at 1 Tbit/s.
const ENDLESS: u64 = 1 << 57;

/// How the application writes its bytes into the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writing {
    /// Writes all bytes at the beginning.
    AtOnce,
    /// Writes as [`Writing::Ahead`] does, but only after the connection is established.
    AheadLater,
    /// Writes only [`AHEAD`] bytes ahead of the bytes sent, so that the transfer can be stopped.
    Ahead,
}

pub struct Bulk {
    /// Bytes that the receiver reads until the transfer is done; `u64::MAX` if it is endless.
    total: u64,
    unwritten: u64,
    writing: Writing,
    closes: bool,
}

impl Bulk {
    /// Creates a transfer of `bytes`, or an endless transfer for `None`. `closes` says whether the
    /// application closes the connection after the last byte.
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

    /// Returns whether everything is written and the application now closes the connection.
    pub fn is_over(&self) -> bool {
        self.closes && self.unwritten == 0
    }
}
