//! Judges the retransmissions of a direction from the fates of all transmissions.

use super::fates::{Known, Outcome};
use super::passage::{Passage, Sides};
use super::reports::Reports;
use crate::result::{Confidence, Verdict};
use eifel_base::ranges::{Block, Ranges};
use std::collections::BTreeMap;

/// What the judge looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    /// The place where the direction arrives.
    pub(super) sides: Sides<'a>,
    pub(super) passage: &'a Passage,
    pub(super) reports: &'a Reports,
    pub(super) outcomes: &'a [Vec<Outcome>],
    /// Bytes of a full segment, by which large frames are cut.
    pub(super) unit: Option<u64>,
    /// Whether the receiver's capture began before the direction and shows no sign of a gap.
    pub(super) complete: bool,
}

/// One segment of a transmission.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Segment {
    /// The transmission.
    pub(super) index: usize,
    pub(super) block: Block,
    pub(super) known: Known,
    pub(super) again: Option<Again>,
}

/// What is known of a segment that is a retransmission.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Again {
    /// The number of this transmission: 2 is the first retransmission.
    pub(super) copy: u32,
    pub(super) verdict: Verdict,
    pub(super) confidence: Confidence,
    pub(super) original_known: bool,
}

/// The transmissions before the one that is judged.
#[derive(Debug, Default)]
struct Before {
    seen: Ranges,
    /// Data that arrived, surely and by all that is known.
    surely: Ranges,
    arrived: Ranges,
    /// Data that may have arrived, and data that was lost by the order of packets alone.
    perhaps: Ranges,
    doubtful: Ranges,
    /// Data whose transmission the sender's capture lacks: it may have left at any time before.
    foreign: Ranges,
    copies: BTreeMap<u64, u32>,
}

/// Returns the segments of all transmissions, in the order in which they left.
pub(super) fn segments(evidence: Evidence<'_>) -> Vec<Segment> {
    let mut before = Before::default();
    let mut foreign = evidence.passage.foreign.clone();
    foreign.sort_by_key(|part| part.nanos);
    foreign.iter().for_each(|part| before.foreign.add(part.block));
    let mut foreign = foreign.into_iter().peekable();
    let mut segments = Vec::new();
    for (index, sent) in evidence.sides.sent.iter().enumerate() {
        let at = evidence.sides.at(sent.nanos);
        let possible = evidence.sides.compared.clocks.possible(at);
        // What arrived before this transmission could had left before it.
        while let Some(part) =
            foreign.next_if(|part| possible.is_some_and(|possible| evidence.sides.at(part.nanos) < possible))
        {
            before.seen.add(part.block);
            before.arrived.add(part.block);
            if evidence.sides.compared.clocks.is_bounded() {
                before.surely.add(part.block);
            }
        }
        for block in evidence.cut(index) {
            let known = evidence.known(index, block);
            let again = before.judge(block, index, evidence);
            segments.push(Segment { index, block, known, again });
        }
        before.add(sent.block(), &evidence.outcomes[index]);
    }
    segments
}

impl Evidence<'_> {
    /// Cuts a transmission into the segments that devices make of it.
    fn cut(&self, index: usize) -> Vec<Block> {
        let block = self.sides.sent[index].block();
        let mut cuts: Vec<u64> = match self.unit.filter(|unit| *unit > 0) {
            Some(unit) => (block.start..block.end).step_by(unit as usize).skip(1).collect(),
            None => self.passage.parts[index].iter().flat_map(|part| [part.block.start, part.block.end]).collect(),
        };
        cuts.extend([block.start, block.end]);
        cuts.sort_unstable();
        cuts.dedup();
        cuts.windows(2).map(|ends| Block { start: ends[0], end: ends[1] }).collect()
    }

    fn known(&self, index: usize, block: Block) -> Known {
        let touching =
            self.outcomes[index].iter().filter(|one| one.block.start < block.end && block.start < one.block.end);
        let worst = |one: Known, other: Known| match (one, other) {
            (Known::Lost, _) | (_, Known::Lost) => Known::Lost,
            (Known::Unknown, _) | (_, Known::Unknown) => Known::Unknown,
            _ => Known::Arrived,
        };
        touching.map(|one| one.known).reduce(worst).unwrap_or(Known::Unknown)
    }
}

impl Before {
    fn add(&mut self, block: Block, outcomes: &[Outcome]) {
        self.seen.add(block);
        for one in outcomes {
            match (one.known, one.sure) {
                (Known::Arrived, true) => {
                    self.surely.add(one.block);
                    self.arrived.add(one.block);
                }
                (Known::Arrived, false) => self.arrived.add(one.block),
                (Known::Unknown, _) => self.perhaps.add(one.block),
                (Known::Lost, false) => self.doubtful.add(one.block),
                (Known::Lost, true) => {}
            }
        }
    }

    /// Judges a segment, if it is a retransmission.
    fn judge(&mut self, block: Block, index: usize, evidence: Evidence<'_>) -> Option<Again> {
        let Evidence { sides, reports, .. } = evidence;
        let at = sides.at(sides.sent[index].nanos);
        let possible = sides.compared.clocks.possible(at);
        let reported = possible.is_some_and(|possible| {
            reports.had_before(block, sides.compared.zero.wrapping_add_signed(possible as i64))
        });
        if self.seen.covered(block.start, block.end) == 0 && !reported {
            return None;
        }
        let copies = self.copies.entry(block.start).or_insert(1);
        *copies += 1;
        let copy = *copies;
        let surely = reported && sides.compared.clocks.is_bounded() || self.surely.covers(block);
        let (verdict, confidence) = if surely {
            (Verdict::Spurious, Confidence::Certain)
        } else if reported || self.arrived.covers(block) {
            (Verdict::Spurious, Confidence::Likely)
        } else {
            let open = self.open(block, evidence.complete);
            let sure = open.ascending().any(|one| self.doubtful.covered(one.start, one.end) < one.end - one.start);
            match (open.is_empty(), sure) {
                (true, _) => (Verdict::Undecidable, Confidence::Weak),
                (false, true) if reports.would_show_missed_copies() => (Verdict::Needed, Confidence::Certain),
                (false, _) => (Verdict::Needed, Confidence::Likely),
            }
        };
        Some(Again { copy, verdict, confidence, original_known: self.seen.covers(block) })
    }

    /// Returns the data of a segment of which no copy that left before has arrived.
    fn open(&self, block: Block, complete: bool) -> Ranges {
        let mut open = Ranges::default();
        open.add(block);
        for known in [&self.arrived, &self.perhaps, &self.foreign] {
            known.within(block).for_each(|one| open.remove(one));
        }
        if complete {
            return open;
        }
        // Data below the newest that the sender's capture did not see may have left before it began.
        let newest = self.seen.highest().unwrap_or(u64::MAX);
        let mut unseen = Ranges::default();
        unseen.add(block);
        self.seen.within(block).for_each(|one| unseen.remove(one));
        unseen.ascending().filter(|one| one.start < newest).for_each(|one| open.remove(one));
        open
    }
}
