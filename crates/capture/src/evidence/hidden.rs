//! What the capture does not show of the receiver: SACK blocks of ACKs that were lost, and the refusal
//! of a segment, which looks like any ACK without news.

use super::SegmentEvidence;
use super::receiver_reports::ReceiverReports;
use crate::order::Transmission;
use crate::stream::Acknowledgement;
use eifel_base::ranges::{Block, Ranges};
use eifel_base::units::Timestamp;
use std::collections::VecDeque;

/// Lost ACKs and ACKs without news that are remembered.
const MOST: usize = 1 << 10;
/// SACK blocks that an ACK with timestamps has room for.
const BLOCKS: u32 = 3;

/// An ACK without news, which may refuse a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    pub(super) nanos: u64,
    pub(super) cumulative: u64,
    pub(super) echo: Timestamp,
}

/// ACKs that may hide what the receiver got.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// When ACKs were found to be missing, in nanoseconds, and how many.
    missing: VecDeque<(u64, u32)>,
    /// Positions next to reported data, at which data were missing.
    gap_edges: Ranges,
    refusals: VecDeque<Refusal>,
}

impl Hidden {
    /// Records that `count` ACKs are missing before the one that passes at `now`, in nanoseconds.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_missing_acks(&mut self, now: u64, count: u32) {
        if self.missing.len() == MOST {
            self.missing.pop_front();
        }
        self.missing.push_back((now, count));
    }

    /// Returns whether `least` ACKs in a row are missing between two times.
    fn misses(&self, from: u64, until: u64, least: u32) -> bool {
        let place = self.missing.partition_point(|(nanos, _)| *nanos < from);
        self.missing.range(place..).take_while(|(nanos, _)| *nanos <= until).any(|(_, count)| *count >= least)
    }

    /// Returns whether the receiver may have got a segment before the transmission at `index`, and lost ACKs hide
    /// it: those with the SACK block, which several ACKs in a row repeat, and the one that reported this
    /// transmission as a duplicate. That came a round trip later, and no round trip was longer than from the
    /// original to its answer. No SACK block is hidden if an earlier retransmission was still under way: then no
    /// ACK had reported data that left after it.
    pub(crate) fn may_miss_report(&self, one: &SegmentEvidence, index: usize, shortest: u64) -> bool {
        let (Some(answered), Some(sent)) = (one.answer, one.transmissions.get(index)) else { return false };
        let newest = answered.newest;
        let (answered, original, soonest) = (answered.when.nanos, one.transmissions[0].nanos, shortest - shortest / 16);
        let longest = answered.saturating_sub(original);
        let again = || self.misses(one.transmissions[1].nanos + soonest, sent.nanos, BLOCKS);
        let under_way = || one.transmissions[index - 1].nanos >= newest;
        (one.first.may_be_left_out || index > 1 && (under_way() || again()))
            && self.misses(sent.nanos + soonest, answered.max(sent.nanos + longest), 1)
    }

    /// Returns whether the receiver may have got the data of `block` though a SACK does not report them: the ACKs
    /// before it are missing, and it has room for few blocks. None ends at these data, which would show a gap.
    pub(super) fn may_be_left_out(&self, reports: &ReceiverReports, block: Block) -> bool {
        let since = reports.missing_since(block.start);
        since.is_some_and(|(since, _)| self.misses(since, since, BLOCKS))
            && self.gap_edges.covered(block.start, block.end) == 0
    }

    /// Records the positions at which the SACK blocks of an ACK end, up or down: there, data were missing.
    /// The highest data that were reported end at `highest`.
    pub(super) fn on_gap_edges(&mut self, ack: &Acknowledgement, highest: Option<u64>) {
        let Some(highest) = highest.filter(|_| self.gap_edges.count() < MOST) else { return };
        let blocks = ack.reports.sacks();
        let below = blocks.iter().map(|block| block.start - 1);
        let behind = blocks.iter().map(|block| block.end).filter(|end| *end < highest);
        let front = blocks.first().map(|_| ack.cumulative);
        for missing in below.chain(behind).chain(front) {
            self.gap_edges.add(Block { start: missing, end: missing + 1 });
        }
    }

    /// Forgets what lies below `una`.
    pub(super) fn on_advance(&mut self, una: u64) {
        self.gap_edges.remove_below(una, |_| {});
    }

    /// Records an ACK without news.
    pub(super) fn on_refusal(&mut self, refusal: Refusal) {
        if self.refusals.len() == MOST {
            self.refusals.pop_front();
        }
        self.refusals.push_back(refusal);
    }

    /// Returns whether an ACK without news may refuse a first transmission.
    pub(super) fn may_be_refused(&self, first: &Transmission, shortest: u64) -> bool {
        let Some(stamp) = first.stamp().filter(|_| first.nanos > 0 && !first.missing) else { return false };
        let refuses = |one: &&Refusal| {
            one.nanos >= first.nanos + (shortest - shortest / 16)
                && one.cumulative <= first.start
                && stamp.precedes(one.echo)
        };
        self.refusals.iter().rev().take_while(|one| one.nanos >= first.nanos).any(|one| refuses(&one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Answered;
    use crate::result::When;

    #[test]
    fn lost_acks_and_refusals_take_at_most_64_kib_of_a_direction() {
        let mut hidden = Hidden::default();
        for number in 0..10 * MOST as u64 {
            hidden.on_missing_acks(number, 1);
            hidden.on_refusal(Refusal { nanos: number, cumulative: 0, echo: Timestamp(0) });
            let mut reports = crate::stream::Reports::default();
            let start = 100 * number + 50;
            (reports.sacks[0], reports.count) = (Block { start, end: start + 10 }, 1);
            let when = When { nanos: number, frame: number };
            let ack = Acknowledgement {
                when,
                cumulative: start - 40,
                advances: false,
                reports,
                echo: None,
                stamp: None,
                plain: true,
                answers: true,
            };
            hidden.on_gap_edges(&ack, Some(u64::MAX));
        }
        let missing = hidden.missing.capacity() * size_of::<(u64, u32)>();
        let refusals = hidden.refusals.capacity() * size_of::<Refusal>();
        // An ACK adds at most nine edges, two for each block and one in front.
        assert!(hidden.gap_edges.count() < MOST + 9);
        let edges = hidden.gap_edges.count() * size_of::<Block>();
        assert!(missing + refusals + edges <= 64 << 10, "{missing} {refusals} {edges}");
    }

    #[test]
    fn an_ack_without_news_may_refuse_an_original_before_that_is_sent_again() {
        let refused = |nanos, echo| {
            let mut hidden = Hidden::default();
            hidden.refusals.push_back(Refusal { nanos, cumulative: 500, echo: Timestamp(echo) });
            hidden.may_be_refused(&Transmission::new(500, 10, 1000, Some(Timestamp(7))), 160)
        };
        // It comes a round trip behind the original, or later, and echoes a newer timestamp.
        assert!(refused(1150, 8) && refused(9000, 8));
        assert!(!refused(1149, 8) && !refused(1150, 7));
    }

    #[test]
    fn a_lost_ack_may_hide_the_duplicate_of_a_retransmission_that_was_under_way() {
        let may_miss = |missing: u64, newest| {
            let mut hidden = Hidden::default();
            hidden.on_missing_acks(missing, 1);
            let mut one = SegmentEvidence::new(10, Transmission::new(0, 10, 1000, None));
            [2000, 3000].iter().for_each(|sent| one.transmissions.push(Transmission::new(0, 10, *sent, None)));
            let when = When { nanos: 3100, frame: 1 };
            one.answer = Some(Answered { when, echo: None, newest, up_to: None });
            [1, 2].map(|index| hidden.may_miss_report(&one, index, 160))
        };
        // Nothing was reported that left after the retransmission at 2000, so it may have arrived late.
        assert_eq!(may_miss(3200, 2000), [false, true]);
        assert_eq!(may_miss(3200, 2001), [false, false]);
        // The report comes a round trip after the second retransmission, or later.
        assert_eq!([may_miss(3149, 2000), may_miss(3150, 2000)], [[false, false], [false, true]]);
    }

    #[test]
    fn lost_acks_may_hide_what_a_few_sack_blocks_leave_out() {
        let block = |start, end| Block { start, end };
        let at = |nanos| (When { nanos, frame: 1 }, None);
        let left_out = |missing, edges: &[u64]| {
            let (mut hidden, mut reports) = (Hidden::default(), ReceiverReports::default());
            hidden.on_missing_acks(900, missing);
            reports.on_block(0, block(600, 700), at(900));
            edges.iter().for_each(|edge| hidden.gap_edges.add(block(*edge, edge + 1)));
            hidden.may_be_left_out(&reports, block(200, 300))
        };
        assert!(left_out(BLOCKS, &[599]) && !left_out(BLOCKS - 1, &[599]));
        assert!(!left_out(BLOCKS, &[299]) && !left_out(BLOCKS, &[200]), "a block ends at it");
    }
}
