//! Ranges that are stored contiguously.

use core::ops;

use super::search::up_to;
use crate::ranges::Block;

/// Ranges in ascending order. Each range takes eight bytes while all lie within 4 GiB, as the
/// ranges of one window do.
#[derive(Clone, Debug)]
pub(super) enum Chunk {
    Near { base: u64, ranges: Vec<Near> },
    Far(Vec<Block>),
}

/// A range, counted from its chunk's base.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    start: u32,
    end: u32,
}

impl Near {
    fn new(base: u64, range: Block) -> Option<Self> {
        let start = u32::try_from(range.start.checked_sub(base)?).ok()?;
        let end = u32::try_from(range.end.checked_sub(base)?).ok()?;
        Some(Self { start, end })
    }

    fn range(self, base: u64) -> Block {
        Block { start: base + u64::from(self.start), end: base + u64::from(self.end) }
    }
}

impl Chunk {
    /// Makes an empty chunk for ranges near `position`, with room for `room` of them.
    pub(super) fn new(position: u64, room: usize) -> Self {
        Self::Near { base: position.saturating_sub(1 << 31), ranges: Vec::with_capacity(room) }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Near { ranges, .. } => ranges.len(),
            Self::Far(ranges) => ranges.len(),
        }
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> Block {
        match self {
            Self::Near { base, ranges } => ranges[at].range(*base),
            Self::Far(ranges) => ranges[at],
        }
    }

    #[inline]
    pub(super) fn set(&mut self, at: usize, range: Block) {
        match self {
            Self::Near { base, ranges } => match Near::new(*base, range) {
                Some(near) => ranges[at] = near,
                None => {
                    self.widen();
                    self.set(at, range);
                }
            },
            Self::Far(ranges) => ranges[at] = range,
        }
    }

    pub(super) fn insert(&mut self, at: usize, range: Block) {
        match self {
            Self::Near { base, ranges } => match Near::new(*base, range) {
                Some(near) => ranges.insert(at, near),
                None => {
                    self.widen();
                    self.insert(at, range);
                }
            },
            Self::Far(ranges) => ranges.insert(at, range),
        }
    }

    /// Switches to full positions, for a range that lies too far from the base.
    fn widen(&mut self) {
        *self = Self::Far(self.ranges(0..self.len()).collect());
    }

    pub(super) fn remove(&mut self, places: ops::Range<usize>) {
        match self {
            Self::Near { ranges, .. } => drop(ranges.drain(places)),
            Self::Far(ranges) => drop(ranges.drain(places)),
        }
    }

    /// Appends the ranges of the next chunk. Reserves room for `room` ranges in all.
    pub(super) fn append(&mut self, next: &Self, room: usize) {
        match self {
            Self::Near { ranges, .. } => ranges.reserve_exact(room - ranges.len()),
            Self::Far(ranges) => ranges.reserve_exact(room - ranges.len()),
        }
        for range in next.ranges(0..next.len()) {
            self.insert(self.len(), range);
        }
    }

    pub(super) fn ranges(&self, places: ops::Range<usize>) -> impl DoubleEndedIterator<Item = Block> + '_ {
        places.map(|at| self.get(at))
    }

    /// Counts the ranges that start at or below `position`. Meant for few ranges.
    #[inline]
    pub(super) fn count_up_to(&self, position: u64) -> usize {
        match self {
            Self::Near { base, ranges } => {
                ranges.iter().take_while(|near| base + u64::from(near.start) <= position).count()
            }
            Self::Far(ranges) => ranges.iter().take_while(|range| range.start <= position).count(),
        }
    }

    /// Counts the ranges that start at or below `position`, if their starts are spread over `span`.
    pub(super) fn up_to(&self, position: u64, span: ops::Range<u64>) -> usize {
        match self {
            Self::Near { base, ranges } => up_to(ranges, |near| base + u64::from(near.start), position, span),
            Self::Far(ranges) => up_to(ranges, |range| range.start, position, span),
        }
    }
}
