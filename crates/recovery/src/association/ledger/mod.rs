//! The chunks that were sent and are not yet cumulatively acknowledged, with their paths and
//! states.
//!
//! A position is an unwrapped TSN; sizes in bytes are kept separately. Each chunk is in one of
//! three states: under way on the path that it was last sent on, reported by a gap ack block, or
//! marked for retransmission. All three are stored as ranges, so the cost of a SACK grows only with
//! its news. An [abandoned](abandoned) chunk is in none of them, but it may be reported as well.
//! Chunks from `fresh` on need no range: they are under way, and were sent once, on the path of the
//! newest chunk.
//!
//! Miss indications need no counter for each chunk. A SACK counts one for every missing TSN below
//! some position, so indications decrease with the position. Three marks store them: everything
//! missing below mark `k` has more than `k` indications. A position crosses the last mark once,
//! so a chunk is fast retransmitted once (RFC 9260, section 7.2.4, step 5).

mod abandoned;
mod by_time;
mod news;
mod quiet;

pub(super) use by_time::Delivery;
pub(super) use news::{PathNews, SackNews};

use super::PathId;
use crate::fact::{Block, Cause, Covered};
use by_time::{Deliveries, Reported};
use core::ops::Range;
use eifel_base::ranges::Ranges;
use eifel_base::ring::Ring;
use eifel_base::time::Instant;
use eifel_base::units::Timestamp;

/// The most miss indications that [`Rules`](super::Rules) wants.
const MOST_MISS_INDICATIONS: usize = 4;

/// How large a chunk is, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// Bytes of user data, which the peer's window counts.
    pub data: u32,
    /// Bytes of the chunk with header and padding, which congestion control counts.
    pub wire: u32,
}

/// A chunk that is outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) size: Size,
    /// The path that it was last sent on.
    pub(super) last: PathId,
    /// How often it was retransmitted.
    pub(super) copies: u32,
    pub(super) last_sent: Instant,
    /// The timestamp of its first transmission; `None` without timestamps, or if another packet has
    /// the same one.
    pub(super) stamp: Option<Timestamp>,
    /// Why it was last marked for retransmission.
    pub(super) cause: Cause,
    /// Whether it was the first chunk of the packet that it was first sent in.
    pub(super) opens_packet: bool,
}

impl Default for Chunk {
    fn default() -> Self {
        Self {
            size: Size::default(),
            last: PathId(0),
            copies: 0,
            last_sent: Instant::ZERO,
            stamp: None,
            cause: Cause::Timeout,
            opens_packet: false,
        }
    }
}

/// Chunks under way on one path. Chunks that are marked for retransmission are not under way
/// [rfc8540:3.30].
#[derive(Clone, Debug, Default)]
struct InFlight {
    size: TotalSize,
    /// The positions below `fresh` that are under way on this path.
    positions: Ranges,
    /// Wire bytes of the chunks that were last sent on this path and are marked for retransmission.
    marked: u64,
    /// The chunks that were last sent on this path and are reported.
    reported: Reported,
}

/// Bytes of several chunks, as in [`Size`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct TotalSize {
    pub(super) data: u64,
    pub(super) wire: u64,
}

impl TotalSize {
    fn add(&mut self, size: Size) {
        self.data += u64::from(size.data);
        self.wire += u64::from(size.wire);
    }

    fn remove(&mut self, size: Size) {
        self.data -= u64::from(size.data);
        self.wire -= u64::from(size.wire);
    }
}

/// Miss indications.
#[derive(Clone, Debug, Default)]
struct Misses {
    marks: [u64; MOST_MISS_INDICATIONS],
    /// The number of them that makes a chunk count as lost.
    most: usize,
}

/// The chunks that are outstanding. See the module's documentation.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    una: u64,
    chunks: Ring<Chunk>,
    reported: Ranges,
    marked: Ranges,
    /// The chunks that are not sent again, whatever becomes of them (RFC 3758, section 3.4).
    abandoned: Ranges,
    misses: Misses,
    under_way: Vec<InFlight>,
    /// Everything outstanding from here on is under way on `newest_path`.
    fresh: u64,
    newest_path: Option<PathId>,
    /// Whether the next new chunk is the first of its packet.
    at_packet: bool,
    /// What the newest SACK delivered; `None` if losses are found by counting.
    deliveries: Option<Deliveries>,
    /// Number of chunk lookups, which tests compare with a SACK's news.
    #[cfg(test)]
    lookups: core::cell::Cell<u64>,
}

impl Ledger {
    /// Creates an empty ledger. Chunks with this number of miss indications, at least one, count as
    /// lost. `follows` is whether what each SACK delivers is recorded.
    pub(super) fn new(miss_indications: usize, follows: bool) -> Self {
        let deliveries = follows.then(Deliveries::new);
        let misses = Misses { most: miss_indications, ..Misses::default() };
        Self { misses, at_packet: true, deliveries, ..Self::default() }
    }

    pub(super) fn add_path(&mut self) {
        self.under_way.push(InFlight::default());
    }

    /// Returns the first position that is not acknowledged in order.
    pub(super) fn una(&self) -> u64 {
        self.una
    }

    /// Returns the first position that was never sent.
    pub(super) fn nxt(&self) -> u64 {
        self.una + self.chunks.len() as u64
    }

    /// Returns the bytes of user data and of chunks under way on a path.
    pub(super) fn under_way(&self, path: PathId) -> TotalSize {
        self.under_way[path.0].size
    }

    /// Returns the bytes under way on a path.
    pub(super) fn flight(&self, path: PathId) -> u64 {
        self.under_way[path.0].size.wire
    }

    /// Returns the unacknowledged bytes that were last sent on a path: under way, or marked for
    /// retransmission.
    pub(super) fn outstanding(&self, path: PathId) -> u64 {
        self.under_way[path.0].size.wire + self.under_way[path.0].marked
    }

    /// Returns the path on which the newest chunk was first sent.
    pub(super) fn newest_path(&self) -> Option<PathId> {
        self.newest_path
    }

    /// Returns the bytes of user data under way on all paths.
    pub(super) fn data_under_way(&self) -> u64 {
        self.under_way.iter().map(|path| path.size.data).sum()
    }

    /// Returns the lowest position that is marked for retransmission, from `from` on.
    pub(super) fn marked_from(&self, from: u64) -> Option<u64> {
        let lowest = self.marked.lowest()?;
        if from <= lowest.start {
            return Some(lowest.start);
        }
        self.marked.within(Block { start: from, end: self.nxt() }).next().map(|block| block.start)
    }

    /// Iterates over the positions that are marked for retransmission, in ascending order.
    pub(super) fn marked(&self) -> impl Iterator<Item = u64> + '_ {
        self.marked.ascending().flat_map(|block| block.start..block.end)
    }

    pub(super) fn chunk(&self, position: u64) -> &Chunk {
        #[cfg(test)]
        self.lookups.set(self.lookups.get() + 1);
        self.chunks.get((position - self.una) as usize).expect("the position is outstanding")
    }

    /// Returns the number of chunk lookups so far.
    #[cfg(test)]
    pub(super) fn lookups(&self) -> u64 {
        self.lookups.get()
    }

    fn chunk_mut(&mut self, position: u64) -> &mut Chunk {
        self.chunks.get_mut((position - self.una) as usize).expect("the position is outstanding")
    }

    /// Adds a new chunk, and returns its position.
    #[inline]
    pub(super) fn on_new(&mut self, now: Instant, path: PathId, size: Size, stamp: Option<Timestamp>) -> u64 {
        if self.newest_path != Some(path) {
            self.extend_newest(self.nxt());
            self.newest_path = Some(path);
        }
        let position = self.nxt();
        let opens_packet = core::mem::take(&mut self.at_packet);
        self.chunks.push_back(Chunk { size, last: path, last_sent: now, stamp, opens_packet, ..Chunk::default() });
        self.under_way[path.0].size.add(size);
        position
    }

    /// Records that a packet is complete.
    #[inline]
    pub(super) fn end_packet(&mut self) {
        self.at_packet = true;
    }

    /// Records that a marked chunk is retransmitted on `path`. Returns its state before.
    pub(super) fn on_retransmission(&mut self, now: Instant, position: u64, path: PathId) -> Chunk {
        self.marked.remove(Block { start: position, end: position + 1 });
        self.uncount_mark(position);
        let chunk = self.chunk_mut(position);
        let before = *chunk;
        chunk.last = path;
        chunk.last_sent = now;
        chunk.copies += 1;
        self.count_in_flight(position);
        before
    }

    /// Adds the positions from `fresh` to `below` to the range of the newest path. `below` is at
    /// most `nxt`.
    fn extend_newest(&mut self, below: u64) {
        if let Some(path) = self.newest_path.filter(|_| self.fresh < below) {
            self.under_way[path.0].positions.add(Block { start: self.fresh, end: below });
            self.fresh = below;
        }
    }

    /// Counts a chunk below `fresh` as under way.
    fn count_in_flight(&mut self, position: u64) {
        let Chunk { size, last, .. } = *self.chunk(position);
        let path = &mut self.under_way[last.0];
        path.positions.add(Block { start: position, end: position + 1 });
        path.size.add(size);
    }

    /// Stops counting the bytes of an acknowledged chunk that was last sent on `last`.
    fn uncount(&mut self, position: u64, last: PathId, size: Size) {
        let path = &mut self.under_way[last.0];
        if self.marked.containing(position).is_none() {
            path.size.remove(size);
        } else {
            path.marked -= u64::from(size.wire);
        }
    }

    /// Stops counting a chunk as marked.
    fn uncount_mark(&mut self, position: u64) {
        let Chunk { size, last, .. } = *self.chunk(position);
        self.under_way[last.0].marked -= u64::from(size.wire);
    }

    fn is_under_way(&self, position: u64) -> bool {
        let elsewhere = [&self.reported, &self.marked, &self.abandoned];
        elsewhere.iter().all(|positions| positions.containing(position).is_none())
    }

    /// Returns the lowest position under way on a path.
    pub(super) fn oldest(&self, path: PathId) -> Option<u64> {
        let listed = self.under_way[path.0].positions.lowest().map(|range| range.start);
        listed.or_else(|| (self.newest_path == Some(path) && self.fresh < self.nxt()).then_some(self.fresh))
    }

    /// Processes a SACK: everything below `cumulative` arrived, and the `blocks` beyond it.
    /// `news` has a value for each path and is overwritten.
    pub(super) fn on_sack(&mut self, cumulative: u64, blocks: &[Block], news: &mut [PathNews]) -> SackNews {
        for (path, news) in news.iter_mut().enumerate() {
            let (flight, oldest) = (self.flight(PathId(path)), self.oldest(PathId(path)));
            let oldest = oldest.is_some_and(|oldest| {
                oldest < cumulative || blocks.iter().any(|block| block.start <= oldest && oldest < block.end)
            });
            *news = PathNews { flight, oldest, ..PathNews::default() };
        }
        self.begin_deliveries();
        let skips = self.has_abandoned();
        let nxt = self.nxt();
        let advanced = cumulative > self.una;
        let mut newest = self.advance(cumulative, news);
        let mut reported_up_to = cumulative;
        for block in blocks {
            let block = Block { start: block.start.max(cumulative), end: block.end.min(nxt) };
            if block.start < block.end {
                newest = newest.max(self.report(block, news));
                reported_up_to = reported_up_to.max(block.end);
            }
        }
        let reneged = self.renege(blocks, reported_up_to);
        SackNews { advanced, newest, reported_up_to, reneged, skips }
    }

    /// Advances the cumulative TSN. Returns the first position beyond the highest newly
    /// acknowledged chunk, or 0 if there is none.
    fn advance(&mut self, cumulative: u64, news: &mut [PathNews]) -> u64 {
        let mut newest = 0;
        while self.una < cumulative {
            let position = self.una;
            let Chunk { size, last, copies, last_sent, opens_packet, .. } = *self.chunk(position);
            let wire = u64::from(size.wire);
            let news = &mut news[last.0];
            let covered = Covered { end: position + 1, copies, last_sent };
            let abandoned = self.is_abandoned(position);
            if !abandoned {
                news.passed += wire;
                news.highest = Some(covered);
            }
            if self.reported.containing(position).is_some() {
                self.under_way[last.0].reported.remove(opens_packet);
            } else if !abandoned {
                self.note_delivery(last, covered);
                news.acked += wire;
                news.acked_again += if copies > 0 { wire } else { 0 };
                newest = position + 1;
                self.uncount(position, last, size);
            }
            self.chunks.pop_front();
            self.una += 1;
        }
        self.reported.remove_below(self.una, |_| {});
        self.marked.remove_below(self.una, |_| {});
        self.abandoned.remove_below(self.una, |_| {});
        self.under_way.iter_mut().for_each(|path| path.positions.remove_below(self.una, |_| {}));
        self.fresh = self.fresh.max(self.una);
        newest
    }

    /// Processes a gap ack block. Returns the first position beyond the highest newly reported
    /// chunk, or 0 if there is none.
    fn report(&mut self, block: Block, news: &mut [PathNews]) -> u64 {
        if self.reported.covers(block) {
            return 0;
        }
        self.extend_newest(block.end);
        let mut gaps = Vec::new();
        self.reported.insert(block, |gap| gaps.push(gap));
        for gap in &gaps {
            for position in gap.start..gap.end {
                let Chunk { size, last, copies, last_sent, opens_packet, .. } = *self.chunk(position);
                let wire = u64::from(size.wire);
                self.under_way[last.0].reported.add(opens_packet);
                if self.is_abandoned(position) {
                    continue;
                }
                self.note_delivery(last, Covered { end: position + 1, copies, last_sent });
                news[last.0].sacked += wire;
                news[last.0].sacked_again += if copies > 0 { wire } else { 0 };
                self.uncount(position, last, size);
            }
            self.marked.remove(*gap);
            self.under_way.iter_mut().for_each(|path| path.positions.remove(*gap));
        }
        gaps.last().map_or(0, |gap| gap.end)
    }

    /// Finds chunks below `up_to` that were reported before and are not in these blocks, and puts
    /// them under way again. The peer has dropped them (RFC 9260, section 6.2.1, rule D iii). Above
    /// `up_to`, the SACK may only lack room for them. A SACK without blocks has room. Returns whether
    /// there are any.
    fn renege(&mut self, blocks: &[Block], up_to: u64) -> bool {
        if self.reported.is_empty() {
            return false;
        }
        let up_to = if blocks.is_empty() { self.nxt() } else { up_to };
        let mut dropped = Vec::new();
        let mut next = blocks.iter().peekable();
        let ascending = blocks.is_sorted_by_key(|block| block.start);
        for range in self.reported.ascending().take_while(|range| ascending && range.start < up_to) {
            let mut position = range.start;
            while position < range.end.min(up_to) {
                while next.next_if(|block| block.end <= position).is_some() {}
                match next.peek() {
                    Some(block) if block.start <= position => position = block.end,
                    block => {
                        let end = block.map_or(range.end.min(up_to), |block| block.start.min(range.end));
                        dropped.push(Block { start: position, end });
                        position = end;
                    }
                }
            }
        }
        for block in &dropped {
            self.reported.remove(*block);
            for position in block.start..block.end {
                let Chunk { last, opens_packet, .. } = *self.chunk(position);
                self.under_way[last.0].reported.remove(opens_packet);
                if !self.is_abandoned(position) {
                    self.count_in_flight(position);
                }
            }
        }
        !dropped.is_empty()
    }

    /// Counts a miss indication for every missing position below `below`. Returns a range that
    /// contains the positions that are now lost.
    pub(super) fn count_misses(&mut self, below: u64) -> Range<u64> {
        let before = self.misses.marks;
        let mut reach = below;
        for (mark, earlier) in self.misses.marks.iter_mut().zip([below].iter().chain(&before)) {
            reach = reach.min(*earlier);
            *mark = (*mark).max(reach);
        }
        let last = self.misses.most - 1;
        before[last].max(self.una)..self.misses.marks[last].min(self.nxt())
    }

    /// Marks the chunks under way in `lost` for retransmission. Calls `marked` with the path of
    /// each.
    pub(super) fn mark_lost(&mut self, lost: Range<u64>, mut marked: impl FnMut(PathId)) {
        self.extend_newest(lost.end);
        for position in lost {
            if self.is_under_way(position) {
                let path = self.mark(position, Cause::FastRetransmit);
                self.under_way[path.0].positions.remove(Block { start: position, end: position + 1 });
                marked(path);
            }
        }
    }

    /// Marks everything under way on a path, because its timer has expired.
    pub(super) fn mark_all(&mut self, path: PathId) {
        self.extend_newest(self.nxt());
        let positions = core::mem::take(&mut self.under_way[path.0].positions);
        for position in positions.ascending().flat_map(|range| range.start..range.end) {
            self.mark(position, Cause::Timeout);
        }
    }

    /// Marks a chunk, and returns its path. The caller removes it from the path's positions.
    fn mark(&mut self, position: u64, cause: Cause) -> PathId {
        let Chunk { size, last, .. } = *self.chunk(position);
        let path = &mut self.under_way[last.0];
        path.size.remove(size);
        path.marked += u64::from(size.wire);
        self.chunk_mut(position).cause = cause;
        self.marked.add(Block { start: position, end: position + 1 });
        last
    }

    /// Removes a path's marks: chunks that were last sent on it count as under way again.
    pub(super) fn unmark(&mut self, path: PathId) {
        let marked: Vec<Block> = self.marked.ascending().collect();
        for position in marked.iter().flat_map(|block| block.start..block.end) {
            if self.chunk(position).last == path {
                self.marked.remove(Block { start: position, end: position + 1 });
                self.uncount_mark(position);
                self.count_in_flight(position);
            }
        }
    }
}

#[cfg(test)]
mod tests;
