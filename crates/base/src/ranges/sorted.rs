//! Disjoint ranges in ascending order, close together in memory.
//!
//! In a tree of small nodes with half a million ranges, each step of a search waits for memory.
//! Here ranges lie in chunks. One array, small enough for the cache, holds the first position of
//! every chunk. An empty set holds no memory, and up to [`CHUNK`] ranges are one array.

use super::chunk::Chunk;
use super::search::{FEW, up_to};
use crate::ranges::Block;

/// Maximum number of ranges in a chunk. It is small in tests, so that few ranges make many chunks.
pub(super) const CHUNK: usize = if cfg!(test) { 4 } else { 128 };
/// Neighbouring chunks that together hold no more than this are joined. So chunks are at least
/// three eighths full on average.
const JOINED: usize = CHUNK * 3 / 4;

/// Ranges in chunks, none of which is empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorted {
    chunks: Vec<Chunk>,
    /// Where the first range of each chunk starts.
    starts: Vec<u64>,
    count: usize,
}

/// The place of a range, or the place behind the range before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    chunk: usize,
    at: usize,
}

impl Place {
    /// The place before all ranges.
    pub(super) const FIRST: Self = Self { chunk: 0, at: 0 };

    /// Returns the place behind this one.
    pub(super) fn behind(self) -> Self {
        Self { at: self.at + 1, ..self }
    }
}

impl Sorted {
    pub(super) const EMPTY: Self = Self { chunks: Vec::new(), starts: Vec::new(), count: 0 };

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of ranges.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the lowest range.
    #[inline]
    pub(super) fn first(&self) -> Option<Block> {
        Some(self.chunks.first()?.get(0))
    }

    /// Returns the highest range.
    pub(super) fn last(&self) -> Option<Block> {
        let top = self.chunks.last()?;
        Some(top.get(top.len() - 1))
    }

    /// Returns the place behind all ranges that start at or below `position`.
    #[inline]
    pub(super) fn above(&self, position: u64) -> Place {
        match &self.chunks[..] {
            [] => Place::FIRST,
            [only] if only.len() <= FEW => Place { chunk: 0, at: only.count_up_to(position) },
            // Callers mostly ask about positions beyond all ranges, or about the lowest range.
            [before @ .., last] => match last.get(last.len() - 1) {
                top if top.start <= position => Place { chunk: before.len(), at: last.len() },
                _ if position < self.starts[0] => Place::FIRST,
                top if before.is_empty() => Place { chunk: 0, at: last.up_to(position, self.starts[0]..top.end) },
                top => self.search(position, top.end),
            },
        }
    }

    fn search(&self, position: u64, end: u64) -> Place {
        let chunk = up_to(&self.starts, |start| start, position, self.starts[0]..end).saturating_sub(1);
        // Asking the chunk itself for its start would take one more access to cold memory.
        let span = self.starts[chunk]..self.starts.get(chunk + 1).copied().unwrap_or(end);
        Place { chunk, at: self.chunks[chunk].up_to(position, span) }
    }

    /// Returns the place of the range before `place`.
    #[inline]
    pub(super) fn before(&self, place: Place) -> Option<Place> {
        if place.at > 0 {
            return Some(Place { at: place.at - 1, ..place });
        }
        let chunk = place.chunk.checked_sub(1)?;
        Some(Place { chunk, at: self.chunks[chunk].len() - 1 })
    }

    /// Returns the range at `place`.
    #[inline]
    pub(super) fn get(&self, place: Place) -> Block {
        self.chunks[place.chunk].get(place.at)
    }

    /// Replaces the range at `place`. The starts of the ranges must stay in ascending order.
    #[inline]
    pub(super) fn set(&mut self, place: Place, range: Block) {
        self.chunks[place.chunk].set(place.at, range);
        if place.at == 0 {
            self.starts[place.chunk] = range.start;
        }
    }

    /// Inserts a range before `place`.
    #[inline]
    pub(super) fn put(&mut self, place: Place, range: Block) {
        let Place { chunk, at } = place;
        self.count += 1;
        match self.chunks.get(chunk).map(Chunk::len) {
            None => self.open(chunk, range),
            Some(CHUNK) if at == CHUNK => self.put_behind_full(chunk, range),
            Some(CHUNK) if at == 0 => self.open(chunk, range),
            Some(CHUNK) => self.put_into_full(place, range),
            Some(_) => self.put_into(place, range),
        }
    }

    fn put_into(&mut self, Place { chunk, at }: Place, range: Block) {
        self.chunks[chunk].insert(at, range);
        if at == 0 {
            self.starts[chunk] = range.start;
        }
    }

    /// Starts a chunk behind a full one. So ranges that arrive in order fill their chunks, in
    /// descending order too.
    fn put_behind_full(&mut self, chunk: usize, range: Block) {
        match self.chunks.get(chunk + 1) {
            Some(next) if next.len() < CHUNK => self.put_into(Place { chunk: chunk + 1, at: 0 }, range),
            _ => self.open(chunk + 1, range),
        }
    }

    /// Inserts into a full chunk, which is split into halves.
    fn put_into_full(&mut self, Place { chunk, at }: Place, range: Block) {
        let halved = &mut self.chunks[chunk];
        let mut upper = Chunk::new(halved.get(CHUNK / 2).start, CHUNK);
        for range in halved.ranges(CHUNK / 2..CHUNK) {
            upper.insert(upper.len(), range);
        }
        halved.remove(CHUNK / 2..CHUNK);
        self.starts.insert(chunk + 1, upper.get(0).start);
        self.chunks.insert(chunk + 1, upper);
        let place = match at.checked_sub(CHUNK / 2) {
            Some(at) if at > 0 => Place { chunk: chunk + 1, at },
            _ => Place { chunk, at },
        };
        self.put_into(place, range);
        self.join(chunk + 1);
        self.join_below(chunk);
    }

    fn open(&mut self, chunk: usize, range: Block) {
        // The first chunk is small, as most sets are.
        let room = if self.chunks.is_empty() { 1 } else { CHUNK };
        let mut opened = Chunk::new(range.start, room);
        opened.insert(0, range);
        self.starts.insert(chunk, range.start);
        self.chunks.insert(chunk, opened);
    }

    /// Removes the ranges from one place up to another.
    pub(super) fn cut(&mut self, from: Place, to: Place) {
        if from == to {
            return;
        }
        if from.chunk == to.chunk {
            self.chunks[from.chunk].remove(from.at..to.at);
            self.count -= to.at - from.at;
        } else {
            let end = self.chunks[from.chunk].len();
            self.chunks[from.chunk].remove(from.at..end);
            self.chunks[to.chunk].remove(0..to.at);
            self.count -= end - from.at + to.at;
            let between = from.chunk + 1..to.chunk;
            self.starts.drain(between.clone());
            self.count -= self.chunks.drain(between).map(|chunk| chunk.len()).sum::<usize>();
            self.tidy(from.chunk + 1);
        }
        self.tidy(from.chunk);
    }

    /// Removes an empty chunk, and joins short ones, after ranges were taken out.
    fn tidy(&mut self, chunk: usize) {
        if self.chunks[chunk].len() == 0 {
            self.chunks.remove(chunk);
            self.starts.remove(chunk);
        } else {
            self.starts[chunk] = self.chunks[chunk].get(0).start;
            self.join(chunk);
        }
        self.join_below(chunk);
    }

    fn join_below(&mut self, chunk: usize) {
        if let Some(below) = chunk.checked_sub(1) {
            self.join(below);
        }
    }

    /// Joins a chunk and the next one, if both are short.
    fn join(&mut self, chunk: usize) {
        let Some([lower, upper]) = self.chunks.get_mut(chunk..chunk + 2) else { return };
        if lower.len() + upper.len() <= JOINED {
            lower.append(upper, CHUNK);
            self.chunks.remove(chunk + 1);
            self.starts.remove(chunk + 1);
        }
    }

    /// Iterates over the ranges from a place up.
    pub(super) fn from(&self, place: Place) -> impl Iterator<Item = Block> + '_ {
        let chunks = self.chunks.get(place.chunk..).unwrap_or_default();
        let mut at = place.at;
        chunks.iter().flat_map(move |chunk| chunk.ranges(core::mem::take(&mut at)..chunk.len()))
    }

    /// Iterates over the ranges from the highest down.
    pub(super) fn descending(&self) -> impl Iterator<Item = Block> + '_ {
        self.chunks.iter().rev().flat_map(|chunk| chunk.ranges(0..chunk.len()).rev())
    }

    /// Returns the place behind all ranges.
    fn end(&self) -> Place {
        match self.chunks.last() {
            Some(last) => Place { chunk: self.chunks.len() - 1, at: last.len() },
            None => Place::FIRST,
        }
    }

    /// Removes the highest range.
    pub(super) fn pop(&mut self) {
        let end = self.end();
        if let Some(last) = self.before(end) {
            self.cut(last, end);
        }
    }
}

#[cfg(test)]
impl Sorted {
    pub(super) fn check(&self) {
        assert_eq!(self.count, self.chunks.iter().map(Chunk::len).sum::<usize>());
        assert!(self.chunks.iter().all(|chunk| (1..=CHUNK).contains(&chunk.len())));
        assert!(self.chunks.windows(2).all(|pair| pair[0].len() + pair[1].len() > JOINED));
        assert_eq!(self.starts, self.chunks.iter().map(|chunk| chunk.get(0).start).collect::<Vec<_>>());
    }
}
