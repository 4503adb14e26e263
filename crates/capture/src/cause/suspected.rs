//! Tracks the data that ACKs gave the sender reason to consider lost.

use crate::stream::Acknowledgement;
use eifel_base::ranges::{Block, Ranges};

/// Without SACK, the number of duplicate ACKs that reports a loss.
const DUPLICATES: u32 = 3;
/// Ranges kept.
const MOST: usize = 1 << 12;

/// Positions that a recovery may repair: from the first missing byte to the recovery point.
#[derive(Debug, Default)]
pub(crate) struct SuspectedLosses {
    positions: Ranges,
    /// With SACK: the gaps that SACK blocks have shown.
    gaps: Ranges,
    /// Without SACK: the last acknowledgement number, and the number of times it was repeated.
    repeated: (u64, u32),
    /// The recovery point: the end of the data sent when the recovery began (RFC 6582, RFC 6675).
    recovers_to: u64,
    /// Where the current recovery begins; `None` once its first retransmission has passed.
    fresh: Option<u64>,
}

impl SuspectedLosses {
    /// Handles an ACK that the sender receives after sending everything below `nxt`. SACK has
    /// reported data up to `highest`.
    pub(crate) fn on_ack(&mut self, ack: &Acknowledgement, nxt: u64, sack: bool, highest: Option<u64>) {
        if sack {
            let mut blocks = ack.reports.sacks;
            let blocks = &mut blocks[..ack.reports.count];
            blocks.sort_unstable_by_key(|block| block.start);
            let mut from = highest.unwrap_or(0).max(ack.cumulative);
            for block in &*blocks {
                if block.start > from && self.gaps.count() < MOST {
                    self.gaps.add(Block { start: from, end: block.start });
                }
                from = from.max(block.end);
            }
            if let Some(last) = blocks.last() {
                self.suspect(ack.cumulative, last.start, nxt);
            }
            return;
        }
        let (before, times) = self.repeated;
        if ack.cumulative == before && ack.plain {
            self.repeated.1 += 1;
            if times + 1 == DUPLICATES {
                self.suspect(before, before + 1, nxt);
            }
        } else if ack.cumulative > before {
            self.repeated = (ack.cumulative, 0);
        }
    }

    /// Handles a sign that data between `una` and `above` are missing, after everything below `nxt`
    /// was sent.
    fn suspect(&mut self, una: u64, above: u64, nxt: u64) {
        if una >= self.recovers_to {
            self.recovers_to = nxt;
            self.fresh = Some(una);
        }
        self.add(Block { start: una, end: above.max(self.recovers_to) });
    }

    fn add(&mut self, block: Block) {
        if block.start < block.end && self.positions.count() < MOST {
            self.positions.add(block);
        }
    }

    /// Starts the count with `duplicates` duplicate ACKs for `una`.
    pub(crate) fn begin(&mut self, una: u64, duplicates: u32) {
        self.repeated = (una, duplicates);
    }

    /// Handles a retransmission at `position` that passes after everything below `nxt`. Data that
    /// pass before the first retransmission of a recovery left before it, so they raise the
    /// recovery point.
    pub(crate) fn on_retransmission(&mut self, position: u64, nxt: u64) {
        if let Some(start) = self.fresh
            && (start..self.recovers_to).contains(&position)
        {
            self.fresh = None;
            self.recovers_to = self.recovers_to.max(nxt);
            self.add(Block { start, end: self.recovers_to });
        }
    }

    /// Returns whether SACK blocks have shown a gap at the position.
    pub(crate) fn shows(&self, position: u64) -> bool {
        self.gaps.containing(position).is_some()
    }

    /// Returns whether a recovery that reaches beyond the position was opened or continued by an
    /// ACK that did not cover it.
    pub(crate) fn covers(&self, position: u64) -> bool {
        self.positions.containing(position).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::When;
    use crate::stream::Reports;

    fn ack(cumulative: u64, blocks: &[(u64, u64)]) -> Acknowledgement {
        let mut reports = Reports { count: blocks.len(), ..Reports::default() };
        for (place, (start, end)) in reports.sacks.iter_mut().zip(blocks) {
            *place = Block { start: *start, end: *end };
        }
        Acknowledgement {
            when: When::default(),
            cumulative,
            advances: false,
            reports,
            echo: None,
            stamp: None,
            plain: true,
            answers: true,
        }
    }

    #[test]
    fn a_recovery_with_sack_covers_all_data_sent_before_it() {
        let mut suspected = SuspectedLosses::default();
        suspected.on_ack(&ack(1000, &[(5000, 6000), (2000, 3000)]), 8000, true, None);
        let shown = [1000, 2000, 3000, 4999, 5000].map(|position| suspected.shows(position));
        assert_eq!(shown, [true, false, true, true, false]);
        let covered = [999, 1000, 7999, 8000].map(|position| suspected.covers(position));
        assert_eq!(covered, [false, true, true, false]);
        // New data pass before the first retransmission does: they had left before it.
        suspected.on_retransmission(1000, 9000);
        assert!(suspected.covers(8999));
        suspected.on_retransmission(3000, 12_000);
        assert!(!suspected.covers(9000));
        // Of the data that left later, only those below the last reported block are suspected.
        suspected.on_ack(&ack(1000, &[(12_000, 13_000), (10_000, 11_000)]), 13_000, true, None);
        assert_eq!([11_999, 12_000].map(|position| suspected.covers(position)), [true, false]);
    }

    #[test]
    fn without_sack_the_third_duplicate_ack_suspects_a_loss() {
        let mut suspected = SuspectedLosses::default();
        suspected.begin(1000, 1);
        suspected.on_ack(&ack(1000, &[]), 8000, false, None);
        assert!(!suspected.covers(1000));
        suspected.on_ack(&ack(1000, &[]), 8000, false, None);
        let covered = [999, 1000, 7999].map(|position| suspected.covers(position));
        assert_eq!((covered, suspected.shows(1000)), ([false, true, true], false));
    }
    #[test]
    fn gaps_and_recoveries_beyond_the_limit_are_ignored() {
        let (mut by_sack, mut by_count) = (SuspectedLosses::default(), SuspectedLosses::default());
        for number in 0..=MOST as u64 {
            let at = 10 * number + 10;
            by_sack.on_ack(&ack(0, &[(at + 5, at + 6)]), at + 9, true, Some(at));
            (0..=DUPLICATES).for_each(|_| by_count.on_ack(&ack(at, &[]), at + 1, false, None));
        }
        let last = 10 * MOST as u64;
        assert_eq!([last, last + 10].map(|position| by_sack.shows(position)), [true, false]);
        assert_eq!([last, last + 10].map(|position| by_count.covers(position)), [true, false]);
    }
}
