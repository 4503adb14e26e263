//! What became of each transmission of a direction, by the captures of its path.

use super::clock::Clocks;
use super::passage::{Part, Passage, Sides};
use super::reports::{Reports, gaps};
use super::seen::Seen;
use eifel_base::ranges::Block;

/// What is known of data of one transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Known {
    Arrived,
    Lost,
    Unknown,
}

/// Data of one transmission, and what became of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Outcome {
    pub(super) block: Block,
    pub(super) known: Known,
    /// Whether packets or reports show it. Otherwise the order of packets does.
    pub(super) sure: bool,
}

/// All that is known of a direction at the place where it arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrivals<'a> {
    pub(super) sides: Sides<'a>,
    pub(super) passage: &'a Passage,
    pub(super) reports: &'a Reports,
    /// The first and the last time of a frame at the place.
    pub(super) nanos: (u64, u64),
    /// Whether the capture there began before the direction.
    pub(super) whole: bool,
}

/// Nanoseconds that are added to the longest reordering: queues of hosts and of devices.
const SLACK: f64 = 10_000_000.0;
/// Nanoseconds that a capture has to last after a transmission that nothing followed.
const SILENCE: f64 = 1_000_000_000.0;

/// The transmissions that the capture at a place would have if they had passed.
///
/// Reordered packets may arrive after the capture. So a later one has to have passed, and the capture
/// has to last longer than packets were late.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coverage {
    /// Transmissions before this one are covered, unless more packets were late after the capture
    /// than in it.
    last: usize,
    /// Transmissions before this one are covered for certain.
    surely_last: usize,
    /// How much longer than the shortest delay the longest was, in nanoseconds.
    excess: f64,
    nanos: (f64, f64),
    whole: bool,
}

impl Coverage {
    pub(super) fn new(sides: Sides<'_>, passage: &Passage, nanos: (u64, u64), whole: bool) -> Self {
        let clocks = &sides.compared.clocks;
        let delays = passage.parts.iter().zip(sides.sent).flat_map(|(parts, sent)| {
            let soonest = clocks.soonest(sides.at(sent.nanos));
            parts.iter().filter_map(move |part| Some(sides.at(part.nanos) - soonest?))
        });
        let late = passage.reordering().1.unwrap_or(0) as f64;
        let round_trip = clocks.difference().map_or(0.0, |(_, off)| 2.0 * off);
        let end = sides.at(nanos.1);
        let last = |margin: f64| {
            let passed = |parts: &Vec<Part>| parts.iter().any(|part| sides.at(part.nanos) + margin <= end);
            passage.parts.iter().rposition(passed).unwrap_or(0)
        };
        Self {
            last: last(late),
            surely_last: last(2.0 * late + round_trip + SLACK),
            excess: delays.fold(0.0, f64::max),
            nanos: (sides.at(nanos.0), end),
            whole,
        }
    }

    /// Returns whether a transmission that left at `at` would be in the capture if it had passed.
    pub(super) fn covers(&self, index: usize, clocks: &Clocks, at: f64) -> bool {
        let soonest = clocks.soonest(at);
        let begun = self.whole || soonest.is_some_and(|soonest| self.nanos.0 <= soonest);
        begun && (index < self.last || self.lasts(soonest))
    }

    /// Returns whether this is certain of a transmission that is covered.
    fn surely_covers(&self, index: usize, clocks: &Clocks, at: f64) -> bool {
        index < self.surely_last || self.lasts(clocks.soonest(at))
    }

    fn lasts(&self, soonest: Option<f64>) -> bool {
        soonest.is_some_and(|soonest| soonest + 2.0 * self.excess + SILENCE <= self.nanos.1)
    }
}

impl Arrivals<'_> {
    /// Returns what became of the data of each transmission.
    pub(super) fn outcomes(&self) -> Vec<Vec<Outcome>> {
        let coverage = Coverage::new(self.sides, self.passage, self.nanos, self.whole);
        (0..self.sides.sent.len()).map(|index| self.outcome(index, &coverage)).collect()
    }

    fn outcome(&self, index: usize, coverage: &Coverage) -> Vec<Outcome> {
        let sent = &self.sides.sent[index];
        let parts = &self.passage.parts[index];
        let arrived = |part: &Part| Outcome { block: part.block, known: Known::Arrived, sure: part.sure };
        let mut outcomes: Vec<Outcome> = parts.iter().map(arrived).collect();
        for gap in gaps(sent.block(), parts) {
            let mut rest = vec![gap];
            let reported = self.reported(index, gap);
            for outcome in reported {
                outcomes.push(outcome);
                rest = without(&rest, outcome.block);
            }
            for block in rest {
                let at = self.sides.at(sent.nanos);
                let doubtful = self.passage.doubtful.covered(block.start, block.end) > 0
                    || !coverage.surely_covers(index, &self.sides.compared.clocks, at);
                let known = if self.is_lost(index, block, coverage) { Known::Lost } else { Known::Unknown };
                outcomes.push(Outcome { block, known, sure: known == Known::Lost && !doubtful });
            }
        }
        outcomes
    }

    /// Returns what reports of the receiver show of data of a transmission that the capture there
    /// does not have.
    fn reported(&self, index: usize, gap: Block) -> Vec<Outcome> {
        let mut outcomes: Vec<Outcome> = Vec::new();
        let unknown = self.passage.unsure[index].iter().map(|block| (*block, None));
        let duplicates = self.reports.duplicates_within(gap).map(|(block, nanos)| (block, Some((nanos, false))));
        let missed = self.reports.missed_within(gap).map(|(block, nanos)| (block, Some((nanos, true))));
        for (block, report) in unknown.chain(duplicates).chain(missed) {
            let known = match report {
                None => Known::Unknown,
                Some((nanos, _)) if !self.may_be_there(index, nanos) => continue,
                Some((nanos, true)) if self.is_only_candidate(index, block, nanos) => Known::Arrived,
                Some(_) => Known::Unknown,
            };
            let known_before: Vec<Block> = outcomes.iter().map(|one| one.block).collect();
            let open = known_before.iter().fold(vec![block], |open, known| without(&open, *known));
            outcomes.extend(open.into_iter().map(|block| Outcome { block, known, sure: known == Known::Arrived }));
        }
        outcomes
    }

    /// Returns whether a transmission may have arrived before the receiver's report at `nanos`.
    fn may_be_there(&self, index: usize, nanos: u64) -> bool {
        let at = self.sides.at(self.sides.sent[index].nanos);
        self.sides.compared.clocks.possible(at).is_none_or(|possible| possible <= self.sides.at(nanos))
    }

    /// Returns whether no other transmission of this data explains what the receiver had.
    fn is_only_candidate(&self, index: usize, block: Block, nanos: u64) -> bool {
        let overlaps = |one: &Seen| one.start < block.end && block.start < one.block().end;
        let mut others =
            self.sides.index.near(block).filter(|other| *other != index && overlaps(&self.sides.sent[*other]));
        self.passage.foreign.is_empty()
            && !others.any(|other| self.may_be_there(other, nanos) && !self.has(other, block))
    }

    fn has(&self, index: usize, block: Block) -> bool {
        self.passage.parts[index].iter().any(|part| part.block.start <= block.start && block.end <= part.block.end)
    }

    /// Returns whether a transmission that the capture does not have was lost.
    fn is_lost(&self, index: usize, block: Block, coverage: &Coverage) -> bool {
        let sent = &self.sides.sent[index];
        let at = self.sides.at(sent.nanos);
        if !coverage.covers(index, &self.sides.compared.clocks, at) {
            return false;
        }
        if !self.reports.show_missed_packets() {
            return true;
        }
        // The capture lacks packets. The receiver's reports have to show that this is not one.
        let soonest = self.sides.compared.clocks.soonest(at).map(|at| at as i64);
        soonest.is_some_and(|at| self.reports.show_hole(block, self.sides.compared.zero.wrapping_add_signed(at)))
    }
}

/// Returns the parts of blocks that are not in another.
fn without(blocks: &[Block], other: Block) -> Vec<Block> {
    let parts = |block: &Block| {
        let before = Block { start: block.start, end: block.end.min(other.start) };
        let after = Block { start: block.start.max(other.end), end: block.end };
        [before, after].into_iter().filter(|one| one.start < one.end)
    };
    blocks.iter().flat_map(parts).collect()
}
