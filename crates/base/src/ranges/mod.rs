//! A set of positions as disjoint ranges.

mod chunk;
mod held;
mod search;
mod sorted;

use held::Held;
use sorted::Place;

/// Positions `start..end` of the sequence space.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Block {
    /// First position.
    pub start: u64,
    /// First position after the block.
    pub end: u64,
}

/// Disjoint, non-adjacent ranges in ascending order. An operation costs O(log n), plus the ranges
/// that it merges, removes or moves within a chunk.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    sorted: Held,
}

impl Ranges {
    /// Returns whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_none()
    }

    /// Returns the number of ranges.
    pub fn count(&self) -> usize {
        self.sorted.count()
    }

    /// Returns the lowest range.
    #[inline]
    pub fn lowest(&self) -> Option<Block> {
        self.sorted.first()
    }

    /// Returns the first position beyond the highest range.
    pub fn highest(&self) -> Option<u64> {
        self.sorted.last().map(|range| range.end)
    }

    /// Iterates over the ranges from the highest down.
    pub fn descending(&self) -> impl Iterator<Item = Block> + '_ {
        self.sorted.descending()
    }

    /// Iterates over the ranges from the lowest up.
    pub fn ascending(&self) -> impl Iterator<Item = Block> + '_ {
        self.sorted.from(Place::FIRST)
    }

    /// Iterates over the ranges that begin at or above `from`, in ascending order.
    pub fn from(&self, from: u64) -> impl Iterator<Item = Block> + '_ {
        self.sorted.from(self.starting_at(from))
    }

    /// Finds the place of the first range that begins at or above `position`.
    fn starting_at(&self, position: u64) -> Place {
        position.checked_sub(1).map_or(Place::FIRST, |below| self.sorted.above(below))
    }

    /// Returns the range that contains `position`.
    #[inline]
    pub fn containing(&self, position: u64) -> Option<Block> {
        if self.is_empty() {
            return None;
        }
        let place = self.sorted.before(self.sorted.above(position))?;
        Some(self.sorted.get(place)).filter(|range| position < range.end)
    }

    /// Returns whether one range contains all of `block`.
    pub fn covers(&self, block: Block) -> bool {
        self.containing(block.start).is_some_and(|range| block.end <= range.end)
    }

    /// Iterates over the parts of the set that lie in `block`, in ascending order.
    pub fn within(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        let above = self.sorted.above(block.start);
        let touching = self.sorted.from(self.sorted.before(above).unwrap_or(above));
        let parts = touching
            .take_while(move |range| range.start < block.end)
            .map(move |range| Block { start: range.start.max(block.start), end: range.end.min(block.end) });
        parts.filter(|part| part.start < part.end)
    }

    /// Counts the positions of `from..to` that are in the set.
    pub fn covered(&self, from: u64, to: u64) -> u64 {
        self.within(Block { start: from, end: to }).map(|part| part.end - part.start).sum()
    }

    /// Adds `block`. An empty block changes nothing.
    pub fn add(&mut self, block: Block) {
        if block.start < block.end {
            self.insert(block, |_| {});
        }
    }

    /// Adds `block`, which is not empty. Calls `gap` for each part of it that was not in the set.
    pub fn insert(&mut self, block: Block, mut gap: impl FnMut(Block)) {
        debug_assert!(block.start < block.end);
        let above = self.sorted.above(block.end);
        let below = self.sorted.before(above).map(|place| (place, self.sorted.get(place)));
        match below {
            // Most blocks touch no range, or extend the range that begins below them.
            Some((place, range)) if range.end >= block.start => {
                if range.start > block.start {
                    self.merge(block, above, gap);
                } else if range.end < block.end {
                    gap(Block { start: range.end, end: block.end });
                    self.sorted.set(place, Block { end: block.end, ..range });
                }
            }
            _ => {
                gap(block);
                self.sorted.put(above, block);
            }
        }
    }

    /// Merges `block` with the ranges before `above` that it touches. It touches at least one.
    fn merge(&mut self, block: Block, above: Place, mut gap: impl FnMut(Block)) {
        let first = self.touched(above, block.start);
        let start = self.sorted.get(first).start.min(block.start);
        let mut reached = block.start;
        for range in self.sorted.from(first).take_while(|range| range.start <= block.end) {
            if range.start > reached {
                gap(Block { start: reached, end: range.start });
            }
            reached = range.end;
        }
        if reached < block.end {
            gap(Block { start: reached, end: block.end });
        }
        self.sorted.set(first, Block { start, end: reached.max(block.end) });
        self.sorted.cut(first.behind(), above);
    }

    /// Finds the lowest range before `above` that ends at or above `position`.
    fn touched(&self, above: Place, position: u64) -> Place {
        let mut lowest = above;
        while let Some(place) = self.sorted.before(lowest).filter(|&place| self.sorted.get(place).end >= position) {
            lowest = place;
        }
        lowest
    }

    pub fn remove(&mut self, block: Block) {
        if block.start >= block.end || self.is_empty() {
            return;
        }
        let above = self.starting_at(block.end);
        let highest = self.sorted.before(above);
        if highest.is_some_and(|highest| self.cut_end(highest, block)) {
            return;
        }
        let lowest = self.touched(above, block.start + 1);
        let remains = highest.filter(|_| lowest != above).map(|highest| {
            let below = Block { start: self.sorted.get(lowest).start, end: block.start };
            let beyond = Block { start: block.end, end: self.sorted.get(highest).end };
            [below, beyond]
        });
        self.sorted.cut(lowest, above);
        for range in remains.into_iter().flatten().filter(|range| range.start < range.end) {
            let above = self.sorted.above(range.start);
            self.sorted.put(above, range);
        }
        self.sorted.settle();
    }

    /// Removes `block`, if that cuts at most one end off the range at `place`, the highest range
    /// that begins below the block's end. Returns whether it did.
    fn cut_end(&mut self, place: Place, block: Block) -> bool {
        let range = self.sorted.get(place);
        let remains = match range {
            Block { end, .. } if end <= block.start => return true,
            Block { start, end } if start == block.start && block.end < end => Block { start: block.end, end },
            Block { start, end } if start < block.start && end <= block.end => Block { start, end: block.start },
            _ => return false,
        };
        self.sorted.set(place, remains);
        true
    }

    /// Removes everything below `position`, and the range that continues from there without a gap.
    /// Returns the first position at or above `position` that was not in the set.
    pub fn absorb(&mut self, position: u64) -> u64 {
        if self.is_empty() {
            return position;
        }
        let mut reached = position;
        for range in self.ascending() {
            if range.start > reached {
                break;
            }
            reached = reached.max(range.end);
        }
        let above = self.sorted.above(reached);
        self.sorted.cut(Place::FIRST, above);
        self.sorted.settle();
        reached
    }

    /// Removes the highest range.
    pub fn remove_highest(&mut self) {
        if !self.is_empty() {
            self.sorted.pop();
            self.sorted.settle();
        }
    }

    /// Removes everything below `position`. Calls `gone` for each part removed.
    pub fn remove_below(&mut self, position: u64, mut gone: impl FnMut(Block)) {
        if self.is_empty() {
            return;
        }
        let below = self.ascending().take_while(|range| range.start < position);
        below.for_each(|range| gone(Block { end: range.end.min(position), ..range }));
        let above = self.starting_at(position);
        let cut_through = self.sorted.before(above).filter(|&last| self.sorted.get(last).end > position);
        if let Some(last) = cut_through {
            let kept = Block { start: position, ..self.sorted.get(last) };
            self.sorted.set(last, kept);
        }
        self.sorted.cut(Place::FIRST, cut_through.unwrap_or(above));
        self.sorted.settle();
    }

    pub fn clear(&mut self) {
        self.sorted = Held::default();
    }
}

#[cfg(test)]
mod tests;
