//! The segments that one ACK newly acknowledges.

use std::collections::BTreeMap;

use super::{SHORT_ROUND_TRIP, SegmentEvidence};
use crate::order::{CapturePoint, Transmission};
use eifel_base::ranges::Ranges;

/// A summary of the segments that one ACK newly acknowledges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NewlyAcked {
    /// When the lowest segment left, if it was sent once.
    pub(super) front: Option<u64>,
    /// The end of the highest segment whose first transmission the ACK answers.
    pub(super) highest: u64,
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
    /// Returns whether the ACK answers first transmissions above `position`.
    pub(super) fn beyond(&self, position: u64) -> bool {
        self.highest > position
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
            self.front = self.front.or((first && sent.copies == 1).then_some(sent.nanos));
            self.highest = sent.end();
        }
    }
}
