//! The outstanding data as the composite detection sees it: which segments were retransmitted,
//! which retransmissions are in flight, and what SACK has reported.

use std::collections::BTreeMap;

use crate::fact::{Acked, Block};
use crate::view::View;
use eifel_base::ranges::Ranges;

/// Outstanding segments that were retransmitted, and outstanding data that was reported.
#[derive(Clone, Debug, Default)]
pub(super) struct Outstanding {
    /// Segments that were ever retransmitted, by their first position.
    resent: BTreeMap<u64, Resent>,
    /// Data that SACK has reported, also before a timeout.
    reported: Ranges,
}

/// A segment that was retransmitted.
#[derive(Clone, Copy, Debug)]
struct Resent {
    end: u64,
    /// Whether a retransmission that is no tail loss probe is in flight.
    in_flight: bool,
}

impl Outstanding {
    /// Records a retransmission. A tail loss probe does not count as in flight.
    pub(super) fn on_retransmission(&mut self, positions: Block, in_flight: bool) {
        let Block { start, end } = positions;
        let resent = self.resent.entry(start).or_insert(Resent { end, in_flight });
        resent.end = resent.end.max(end);
        resent.in_flight |= in_flight;
    }

    /// Returns the number of retransmissions in flight.
    pub(super) fn in_flight(&self) -> u32 {
        self.resent.values().filter(|resent| resent.in_flight).count() as u32
    }

    /// Records a timeout: nothing counts as in flight any more.
    pub(super) fn deem_lost(&mut self) {
        self.resent.values_mut().for_each(|resent| resent.in_flight = false);
    }

    /// Returns whether the segment at `una` was retransmitted.
    pub(super) fn is_oldest_resent(&self, una: u64) -> bool {
        self.resent.first_key_value().is_some_and(|(&start, _)| start <= una)
    }

    /// Returns the number of retransmitted segments inside `block`.
    pub(super) fn resent_within(&self, block: Block) -> u64 {
        let inside = self.resent.range(block.start..block.end);
        inside.filter(|(_, resent)| resent.end <= block.end).count() as u64
    }

    /// Forgets what is below `una`.
    pub(super) fn prune(&mut self, una: u64) {
        self.reported.remove_below(una, |_| ());
        while let Some(first) = self.resent.first_entry()
            && first.get().end <= una
        {
            first.remove();
        }
        if let Some(first) = self.resent.first_entry()
            && *first.key() < una
        {
            // An ACK may cover a part of a segment.
            let rest = first.remove();
            self.resent.entry(una).or_insert(rest);
        }
    }

    /// Records what the ACK delivers; `before` is `una` before it. Returns whether something of it
    /// had left only once, and below `high_seq`.
    pub(super) fn note_delivered(&mut self, acked: &Acked, before: u64, high_seq: u64, view: &View) -> bool {
        let (mut original, resent) = (false, &self.resent);
        let mut judge = |gap: Block| original |= left_once(resent, gap.start, gap.end.min(high_seq));
        if before < acked.cumulative {
            self.reported.insert(Block { start: before, end: acked.cumulative }, &mut judge);
        }
        if acked.sacked > 0 && view.sack {
            for &block in acked.sacks.iter().filter(|block| block.start < block.end && block.end <= view.nxt) {
                self.reported.insert(block, &mut judge);
            }
        }
        if !view.sack && resent.range(..acked.cumulative).next().is_some() {
            // Without SACK, the retransmission may have filled the only hole.
            original = false;
        }
        let reported = &self.reported;
        for (&start, resent) in &mut self.resent {
            resent.in_flight &= !reported.covers(Block { start, end: resent.end });
        }
        original
    }
}

/// Returns whether some of `start..end` is in no retransmitted segment.
fn left_once(resent: &BTreeMap<u64, Resent>, mut start: u64, end: u64) -> bool {
    let below = resent.range(..=start).next_back();
    if let Some((_, resent)) = below {
        start = start.max(resent.end);
    }
    while start < end {
        match resent.get(&start) {
            Some(resent) if resent.end > start => start = resent.end,
            _ => return true,
        }
    }
    false
}
