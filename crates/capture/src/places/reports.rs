//! What the receiver of a direction reported of its data, as its own place shows it.
//!
//! A receiver reports only what it has. So a report of data that the capture did not see arrive
//! shows that the capture missed a packet, and data that was reported before a transmission could
//! arrive had an earlier copy that arrived.

use super::passage::Part;
use super::seen::{FIRST, Seen};
use eifel_base::ranges::{Block, Ranges};
use eifel_packet::segment::Flags;
use eifel_packet::seq::{Seq, unwrap};
use std::collections::BTreeMap;

/// The first time of each position.
#[derive(Debug, Default)]
struct FirstTimes {
    known: Ranges,
    /// By start: the end and the time.
    times: BTreeMap<u64, (u64, u64)>,
}

impl FirstTimes {
    /// Adds positions, and calls `gap` for each part that is new.
    fn add(&mut self, block: Block, nanos: u64, mut gap: impl FnMut(Block)) {
        if block.start >= block.end {
            return;
        }
        let times = &mut self.times;
        self.known.insert(block, |new| {
            times.insert(new.start, (new.end, nanos));
            gap(new);
        });
    }

    /// Returns the parts of a block that are known, each with its time.
    fn within(&self, block: Block) -> impl Iterator<Item = (Block, u64)> + '_ {
        let before = self.times.range(..=block.start).next_back().map_or(block.start, |(start, _)| *start);
        self.times.range(before..block.end).filter(move |(_, (end, _))| *end > block.start).map(
            move |(start, (end, nanos))| {
                (Block { start: (*start).max(block.start), end: (*end).min(block.end) }, *nanos)
            },
        )
    }

    /// Returns the first time at which all of a block was known.
    fn whole(&self, block: Block) -> Option<u64> {
        if !self.known.covers(block) {
            return None;
        }
        self.within(block).map(|(_, nanos)| nanos).max()
    }

    /// Returns the first time at which any of a block was known.
    fn any(&self, block: Block) -> Option<u64> {
        self.within(block).map(|(_, nanos)| nanos).min()
    }
}

/// A report of the receiver: what it has, cumulatively and beyond.
#[derive(Clone, Debug)]
struct Report {
    nanos: u64,
    cumulative: u64,
    blocks: Vec<Block>,
}

/// The reports about one direction.
#[derive(Debug, Default)]
pub(super) struct Reports {
    arrived: FirstTimes,
    reported: FirstTimes,
    /// In the order of time.
    all: Vec<Report>,
    /// Data that was reported before the capture saw it, and when.
    missed: Vec<(Block, u64)>,
    /// The same in the first report of a capture that began later than the direction.
    before: Vec<(Block, u64)>,
    /// Data that was reported as a duplicate though the capture had seen it once at most.
    unseen_duplicates: Vec<(Block, u64)>,
    /// Whether the receiver reports data beyond a hole, and duplicates.
    has_sack: bool,
    has_dsack: bool,
}

impl Reports {
    /// Reads the packets of the receiver and those that arrived, both at the receiver's place.
    /// `first` is the sequence number at the first position, and `whole` whether the capture began
    /// before the direction.
    pub(super) fn read(arrived: &[Seen], back: &[Seen], first: Seq, whole: bool) -> Self {
        let mut reports = Self::default();
        let mut arrivals = arrived.iter().peekable();
        let mut near = arrived.first().map_or(FIRST, |one| one.start);
        let mut times: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for packet in back {
            while let Some(one) = arrivals.next_if(|one| one.frame < packet.frame) {
                let block = one.numbered();
                near = near.max(block.start);
                times.entry(block.start).or_default().push(block.end);
                reports.arrived.add(block, one.nanos, |_| {});
            }
            if !packet.flags.has(Flags::ACK) || packet.flags.has(Flags::RST) {
                continue;
            }
            let cumulative = unwrap(near, first, packet.ack);
            let place = |seq: Seq| unwrap(cumulative, first, seq);
            let mut blocks: Vec<Block> = packet
                .sack
                .as_slice()
                .iter()
                .map(|(left, right)| Block { start: place(*left), end: place(*right) })
                .filter(|block| block.start < block.end)
                .collect();
            if let Some(duplicate) = duplicate(cumulative, &blocks) {
                blocks.remove(0);
                reports.note_duplicate(duplicate, packet.nanos, &times);
            }
            reports.has_sack |= !blocks.is_empty();
            reports.note(Report { nanos: packet.nanos, cumulative, blocks }, whole);
        }
        for one in arrivals {
            reports.arrived.add(one.numbered(), one.nanos, |_| {});
        }
        reports
    }

    fn note(&mut self, report: Report, whole: bool) {
        let lowest = if whole { self.arrived.known.lowest().map_or(report.cumulative, |one| one.start) } else { 0 };
        let begins = !whole && self.all.is_empty();
        let missed = if begins { &mut self.before } else { &mut self.missed };
        let cumulative = Block { start: lowest, end: report.cumulative };
        for block in [cumulative].into_iter().chain(report.blocks.iter().copied()) {
            let (arrived, nanos) = (&self.arrived, report.nanos);
            self.reported.add(block, nanos, |new| {
                let mut from = new.start;
                for known in arrived.known.within(new).chain([Block { start: new.end, end: new.end }]) {
                    if from < known.start {
                        missed.push((Block { start: from, end: known.start }, nanos));
                    }
                    from = known.end;
                }
            });
        }
        self.all.push(report);
    }

    fn note_duplicate(&mut self, block: Block, nanos: u64, times: &BTreeMap<u64, Vec<u64>>) {
        self.has_dsack = true;
        // Joined frames are longer than the duplicate, but not longer than a packet can be.
        let near = times.range(block.start.saturating_sub(1 << 18)..block.end);
        let seen = near.flat_map(|(_, ends)| ends).filter(|end| **end > block.start).count();
        if seen < 2 {
            self.unseen_duplicates.push((block, nanos));
        }
    }

    /// Returns whether the receiver had reported all of a block before this time.
    pub(super) fn had_before(&self, block: Block, nanos: u64) -> bool {
        self.reported.whole(block).is_some_and(|at| at < nanos)
    }

    /// Returns whether reports show that the capture at the receiver missed packets.
    pub(super) fn show_missed_packets(&self) -> bool {
        !self.missed.is_empty() || !self.unseen_duplicates.is_empty()
    }

    /// Returns whether a copy that the capture missed would show: the receiver reports duplicates,
    /// and no report shows a missed packet.
    pub(super) fn would_show_missed_copies(&self) -> bool {
        self.has_dsack && !self.show_missed_packets()
    }

    /// Returns the number of such reports.
    pub(super) fn missed(&self) -> u64 {
        (self.missed.len() + self.unseen_duplicates.len()) as u64
    }

    /// Returns the data of a block that the receiver had though the capture did not see it arrive,
    /// and when it had reported them.
    pub(super) fn missed_within(&self, block: Block) -> impl Iterator<Item = (Block, u64)> + '_ {
        within(&self.missed, block).chain(within(&self.before, block))
    }

    /// Returns the data of a block of which the capture did not see a copy that the receiver
    /// reported.
    pub(super) fn duplicates_within(&self, block: Block) -> impl Iterator<Item = (Block, u64)> + '_ {
        within(&self.unseen_duplicates, block)
    }

    /// Returns whether the last report before a block arrived, made at or after `nanos`, shows a
    /// hole there.
    pub(super) fn show_hole(&self, block: Block, nanos: u64) -> bool {
        let until = self.arrived.any(block).unwrap_or(u64::MAX);
        let last = self.all.partition_point(|one| one.nanos < until).checked_sub(1);
        let Some(report) = last.map(|last| &self.all[last]).filter(|one| one.nanos >= nanos) else { return false };
        let reported = report.cumulative > block.start
            || report.blocks.iter().any(|one| one.start < block.end && block.start < one.end);
        // A report has room for three blocks. The data at its front are a hole in any case.
        let complete = report.cumulative == block.start || self.has_sack && report.blocks.len() < 3;
        !reported && complete
    }
}

fn within(known: &[(Block, u64)], block: Block) -> impl Iterator<Item = (Block, u64)> + '_ {
    known.iter().filter_map(move |(one, nanos)| {
        let both = Block { start: one.start.max(block.start), end: one.end.min(block.end) };
        (both.start < both.end).then_some((both, *nanos))
    })
}

/// Returns the duplicate that SACK blocks report first (RFC 2883).
fn duplicate(cumulative: u64, blocks: &[Block]) -> Option<Block> {
    let first = *blocks.first()?;
    let inside = blocks.get(1).is_some_and(|next| next.start <= first.start && first.end <= next.end);
    (first.end <= cumulative || first.start < cumulative || inside).then_some(first)
}

/// Returns the parts of a block that none of these parts covers.
pub(super) fn gaps(block: Block, parts: &[Part]) -> Vec<Block> {
    let mut open = Ranges::default();
    open.add(block);
    for part in parts {
        open.remove(part.block);
    }
    open.ascending().collect()
}
