//! What RACK-TLP asks of the ledger: deliveries, and the chunks under way on one path (RFC 8985).

use super::{Chunk, Ledger};
use crate::association::PathId;
use crate::fact::{Block, Cause, Covered, Delivered};
use crate::recover::tlp::Tail;
use eifel_base::time::Instant;

/// The chunks of one path that gap ack blocks report.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reported {
    chunks: u32,
    /// Of the chunks, the first ones of their packets.
    packets: u32,
}

impl Reported {
    pub(super) fn add(&mut self, opens_packet: bool) {
        self.chunks += 1;
        self.packets += u32::from(opens_packet);
    }

    pub(super) fn remove(&mut self, opens_packet: bool) {
        self.chunks -= 1;
        self.packets -= u32::from(opens_packet);
    }
}

/// What a SACK has delivered of one path's chunks.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Delivery {
    pub(in super::super) delivered: Delivered,
    /// The first position beyond the highest of them; 0 if there is none.
    pub(in super::super) highest: u64,
}

/// The newest SACK's deliveries, indexed by path.
pub(super) type Deliveries = Vec<Delivery>;

impl Ledger {
    /// Forgets the deliveries of the last SACK.
    pub(super) fn begin_deliveries(&mut self) {
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.clear();
            deliveries.resize(self.under_way.len(), Delivery::default());
        }
    }

    /// Records that a chunk that was last sent on `path` is delivered.
    pub(super) fn note_delivery(&mut self, path: PathId, covered: Covered) {
        if let Some(deliveries) = &mut self.deliveries {
            let Delivery { delivered, highest } = &mut deliveries[path.0];
            delivered.note(covered.end - 1, covered);
            *highest = covered.end.max(*highest);
        }
    }

    /// Returns what the newest SACK has delivered of a path's chunks.
    pub(in super::super) fn delivery(&self, path: PathId) -> Delivery {
        self.deliveries.as_ref().and_then(|deliveries| deliveries.get(path.0)).copied().unwrap_or_default()
    }

    /// Returns how many packets of a path are reported.
    pub(in super::super) fn reported_packets(&self, path: PathId) -> u32 {
        self.under_way[path.0].reported.packets
    }

    /// Returns the chunks under way on a path from `from` on, in ascending order.
    pub(in super::super) fn under_way_from(&self, path: PathId, from: u64) -> impl Iterator<Item = (u64, &Chunk)> {
        let listed = self.under_way[path.0].positions.within(Block { start: from, end: self.nxt() });
        let newest = if self.newest_path == Some(path) { self.fresh.max(from)..self.nxt() } else { 0..0 };
        let positions = listed.flat_map(|block| block.start..block.end).chain(newest);
        positions.map(|position| (position, self.chunk(position)))
    }

    /// Returns the chunk at `position`, if it is under way on `path`.
    pub(in super::super) fn under_way_at(&self, path: PathId, position: u64) -> Option<&Chunk> {
        let known = (self.una..self.nxt()).contains(&position) && self.is_under_way(position);
        known.then(|| self.chunk(position)).filter(|chunk| chunk.last == path)
    }

    /// Returns the highest position under way on a path.
    pub(in super::super) fn newest(&self, path: PathId) -> Option<u64> {
        if self.newest_path == Some(path) && self.fresh < self.nxt() {
            return Some(self.nxt() - 1);
        }
        self.under_way[path.0].positions.highest().map(|end| end - 1)
    }

    /// Returns the tail of what is under way on a path; `None` if nothing is.
    pub(in super::super) fn tail(&self, path: PathId) -> Option<Tail> {
        let sent = self.chunk(self.newest(path)?).last_sent;
        let alone = self.under_way_from(path, self.una).skip(1).all(|(_, chunk)| !chunk.opens_packet);
        Some(Tail { sent, alone, reported: self.under_way[path.0].reported.chunks > 0 })
    }

    /// Marks a chunk that is under way, because of `cause`.
    pub(in super::super) fn mark_one(&mut self, position: u64, cause: Cause) {
        self.extend_newest(position + 1);
        let path = self.mark(position, cause);
        self.under_way[path.0].positions.remove(Block { start: position, end: position + 1 });
    }

    /// Records that a chunk is sent again although it counts as under way, on the same path. Returns
    /// its state before.
    pub(in super::super) fn on_probe(&mut self, now: Instant, position: u64) -> Chunk {
        self.extend_newest(position + 1);
        let chunk = self.chunk_mut(position);
        let before = *chunk;
        chunk.last_sent = now;
        chunk.copies += 1;
        before
    }
}
