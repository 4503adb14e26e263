//! A segment that is outstanding, and its index in the ring.

use crate::fact::Covered;
use eifel_base::ring::Ring;
use eifel_base::time::Instant;
use eifel_base::units::Timestamp;

/// A segment that was sent and is not yet acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentSegment {
    pub(super) start: u64,
    pub(super) len: u32,
    pub(super) copies: u32,
    pub(super) last_sent: Instant,
    /// TSval of its first transmission, if `stamped`. An `Option` would take eight bytes, and two segments would
    /// no longer fit a cache line.
    stamp: Timestamp,
    stamped: bool,
}

impl SentSegment {
    /// Returns the record of a segment that was sent once, with TSval `stamp`.
    #[inline]
    pub(super) fn new(start: u64, len: u32, last_sent: Instant, stamp: Option<Timestamp>) -> Self {
        let (stamp, stamped) = (stamp.unwrap_or_default(), stamp.is_some());
        Self { start, len, copies: 0, last_sent, stamp, stamped }
    }

    /// Returns its first position.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the first position beyond it.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// Returns the TSval of its first transmission.
    #[inline]
    pub fn stamp(&self) -> Option<Timestamp> {
        self.stamped.then_some(self.stamp)
    }

    /// Returns how often it was retransmitted.
    pub fn copies(&self) -> u32 {
        self.copies
    }

    /// Returns when it was last sent.
    pub fn last_sent(&self) -> Instant {
        self.last_sent
    }

    /// Removes the part below `cumulative`, which is acknowledged.
    pub(super) fn cut(&mut self, cumulative: u64) {
        let cut = cumulative.saturating_sub(self.start);
        self.start += cut;
        self.len -= cut as u32;
    }

    pub(super) fn covered(&self) -> Covered {
        Covered { end: self.end(), copies: self.copies, last_sent: self.last_sent }
    }
}

/// Returns the index of the segment that contains `position`.
pub(super) fn index_of(sent: &Ring<SentSegment>, position: u64) -> Option<usize> {
    let (first, last) = (sent.front()?, sent.back()?);
    let outstanding = last.end() - first.start;
    if position < first.start || position >= last.end() {
        return None;
    }
    // Most retransmissions begin at the front.
    if first.end() > position {
        return Some(0);
    }
    // Segments usually have equal length. If all do, this index is right, and saves a search
    // through cold memory.
    let share = u128::from(position - first.start) * sent.len() as u128 / u128::from(outstanding);
    let guess = share as usize;
    if sent.get(guess).is_some_and(|segment| (segment.start..segment.end()).contains(&position)) {
        return Some(guess);
    }
    Some(sent.partition_point(|segment| segment.end() <= position))
}
