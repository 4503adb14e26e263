//! The segments that one ACK newly acknowledges.

use std::collections::BTreeMap;

use super::{SHORT_ROUND_TRIP, SegmentEvidence};
use crate::order::{CapturePoint, Transmission};
use crate::result::When;
use eifel_base::ranges::{Block, Ranges};

/// A summary of the segments that one ACK newly acknowledges.
#[derive(Clone, Debug, Default)]
pub(super) struct NewlyAcked {
    /// When the lowest segment left for the first time, if the ACK answers that transmission.
    pub(super) front: Option<u64>,
    /// The data whose first transmission the ACK answers, as maximal blocks in ascending order.
    pub(super) originals: Vec<Block>,
    pub(super) reported_before: bool,
    /// Whether one of them was retransmitted.
    pub(super) repaired: bool,
    /// How long the transmission took that the ACK echoes, in nanoseconds.
    pub(super) filler_took: Option<u64>,
    pub(super) count: usize,
    /// The number of duplicate ACKs before this ACK.
    pub(super) duplicates: u32,
}

impl NewlyAcked {
    /// Starts with the next ACK, and keeps the memory.
    pub(super) fn clear(&mut self, duplicates: u32) {
        let mut originals = std::mem::take(&mut self.originals);
        originals.clear();
        *self = Self { originals, duplicates, ..Self::default() };
    }

    /// Returns whether the ACK answers first transmissions above `position`.
    pub(super) fn beyond(&self, position: u64) -> bool {
        self.originals.last().is_some_and(|block| block.end > position)
    }

    /// Returns `when` if the ACK at `when` is the first for the data that end at `position`, and
    /// these were sent once.
    pub(super) fn neighbour(&self, position: u64, when: When) -> Option<When> {
        self.originals.iter().any(|block| block.start < position && position <= block.end).then_some(when)
    }

    /// Adds a segment, given the evidence so far.
    pub(super) fn note(
        &mut self,
        sent: &Transmission,
        segments: &BTreeMap<u64, Box<SegmentEvidence>>,
        sacked: &Ranges,
        point: &CapturePoint,
    ) {
        let first = self.count == 0;
        self.count += 1;
        self.repaired |= sent.copies > 1;
        if !sacked.is_empty() && sacked.covered(sent.start, sent.end()) > 0 {
            self.reported_before = true;
            return;
        }
        let trip = point.receiver_rtt().filter(|trip| *trip >= SHORT_ROUND_TRIP).unwrap_or(0);
        let second = segments.get(&sent.start).and_then(|one| one.transmissions.get(1));
        let original =
            sent.copies == 1 || second.is_some_and(|second| second.nanos.saturating_add(trip) > point.when.nanos);
        if original && !sent.missing {
            if first {
                self.front = Some(sent.nanos);
            }
            match self.originals.last_mut().filter(|last| last.end == sent.start) {
                Some(last) => last.end = sent.end(),
                None => self.originals.push(Block { start: sent.start, end: sent.end() }),
            }
        }
    }
}
