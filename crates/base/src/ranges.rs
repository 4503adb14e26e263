//! A set of positions as disjoint ranges.

mod chunk;
mod held;
mod search;
mod sorted;

use held::Held;
use sorted::Place;

/// Positions `start..end` of the sequence space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// First position.
    pub start: u64,
    /// First position beyond.
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

    /// Adds `block`; an empty one changes nothing.
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
            // Most blocks touch no range, or prolong the one that begins below them.
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
        let lowest = self.touched(above, block.start + 1);
        let highest = self.sorted.before(above);
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

    /// Removes everything below `position`, and the range that goes on there without a gap. Returns
    /// the first position from `position` on that was not in the set.
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(start: u64, end: u64) -> Block {
        Block { start, end }
    }

    fn insert(ranges: &mut Ranges, start: u64, end: u64) -> Vec<Block> {
        let mut gaps = Vec::new();
        ranges.insert(block(start, end), |gap| gaps.push(gap));
        gaps
    }

    #[test]
    fn only_what_is_new_is_reported() {
        let mut ranges = Ranges::default();
        assert_eq!(insert(&mut ranges, 10, 20), [block(10, 20)]);
        assert_eq!(insert(&mut ranges, 30, 40), [block(30, 40)]);
        assert_eq!(insert(&mut ranges, 12, 18), []);
        assert_eq!(insert(&mut ranges, 5, 45), [block(5, 10), block(20, 30), block(40, 45)]);
        assert_eq!(ranges.from(0).collect::<Vec<_>>(), [block(5, 45)]);
    }

    #[test]
    fn neighbours_merge() {
        let mut ranges = Ranges::default();
        insert(&mut ranges, 10, 20);
        assert_eq!(insert(&mut ranges, 20, 30), [block(20, 30)]);
        assert_eq!(insert(&mut ranges, 0, 10), [block(0, 10)]);
        assert_eq!(ranges.count(), 1);
    }

    #[test]
    fn what_ends_or_begins_with_a_range_leaves_no_empty_gap() {
        let mut ranges = Ranges::default();
        insert(&mut ranges, 10, 20);
        insert(&mut ranges, 30, 40);
        assert_eq!(insert(&mut ranges, 12, 20), []);
        assert_eq!(insert(&mut ranges, 15, 40), [block(20, 30)]);
        insert(&mut ranges, 50, 60);
        assert_eq!(insert(&mut ranges, 10, 55), [block(40, 50)]);
        assert_eq!(ranges.ascending().collect::<Vec<_>>(), [block(10, 60)]);
    }

    #[test]
    fn a_range_ends_before_its_end() {
        let mut ranges = Ranges::default();
        assert!(ranges.is_empty());
        insert(&mut ranges, 10, 20);
        assert!(!ranges.is_empty());
        assert_eq!([9, 10, 19, 20].map(|at| ranges.containing(at).is_some()), [false, true, true, false]);
        assert_eq!(
            [(9, 20), (10, 20), (12, 21), (20, 21)].map(|(a, b)| ranges.covers(block(a, b))),
            [false, true, false, false]
        );
    }

    #[test]
    fn counts_and_removal_cut_through_ranges() {
        let mut ranges = Ranges::default();
        insert(&mut ranges, 10, 20);
        insert(&mut ranges, 30, 40);
        assert_eq!(ranges.covered(0, 100), 20);
        assert_eq!(ranges.covered(15, 35), 10);
        assert_eq!(ranges.covered(20, 30), 0);
        assert_eq!(ranges.covered(12, 12), 0);
        let mut gone = Vec::new();
        ranges.remove_below(35, |part| gone.push(part));
        assert_eq!(gone, [block(10, 20), block(30, 35)]);
        assert_eq!(ranges.from(0).collect::<Vec<_>>(), [block(35, 40)]);
    }

    #[test]
    fn what_lies_far_apart_is_kept_with_what_lies_near() {
        let mut ranges = Ranges::default();
        insert(&mut ranges, 1 << 40, (1 << 40) + 5);
        insert(&mut ranges, 7, 9);
        insert(&mut ranges, 1 << 50, u64::MAX);
        assert_eq!(insert(&mut ranges, 9, 1 << 40), [block(9, 1 << 40)]);
        assert_eq!(ranges.ascending().collect::<Vec<_>>(), [block(7, (1 << 40) + 5), block(1 << 50, u64::MAX)]);
        assert_eq!([6, 7, 1 << 45, 1 << 50].map(|at| ranges.containing(at).is_some()), [false, true, false, true]);
    }

    #[test]
    fn descending_order_fills_chunks_behind_a_full_one() {
        let mut ranges = Ranges::default();
        (0..sorted::CHUNK as u64).for_each(|at| ranges.add(block(2 * at, 2 * at + 1)));
        let kept = 100 * sorted::CHUNK as u64;
        (0..kept).rev().for_each(|at| ranges.add(block(1000 + 2 * at, 1001 + 2 * at)));
        ranges.sorted.check();
        assert_eq!(ranges.count() as u64, kept + sorted::CHUNK as u64);
        assert_eq!(ranges.covered(0, u64::MAX), ranges.count() as u64);
    }

    proptest! {
        /// Each position stands for a number of positions; with a large number, ranges lie far apart.
        #[test]
        fn it_does_as_one_flag_for_each_position(
            steps in prop::collection::vec((0u8..9, 0u64..200, 0u64..12), 1..200),
            scale in prop::sample::select(vec![1, 1 << 30]),
        ) {
            let mut ranges = Ranges::default();
            let mut flags = [false; 220];
            let held = |ranges: &Ranges| ranges.ascending().collect::<Vec<_>>();
            let positions = |blocks: &[Block]| {
                blocks.iter().flat_map(|b| (b.start..b.end).step_by(scale as usize)).map(|at| at / scale).collect::<Vec<_>>()
            };
            for (action, start, length) in steps {
                // Mostly a single position, so that ranges are many.
                let length = if action > 5 { 1 } else { length };
                let asked = block(start * scale, (start + length) * scale);
                let places = start as usize..(start + length) as usize;
                match action {
                    0 | 6.. => ranges.add(asked),
                    1 if length > 0 => ranges.insert(asked, |gap| {
                        for at in positions(&[gap]) {
                            assert!(!flags[at as usize], "{at} was there");
                        }
                    }),
                    2 => ranges.remove(asked),
                    3 if start < 40 => ranges.remove_below(asked.start, |gone| {
                        assert!(gone.start < gone.end);
                        assert!(positions(&[gone]).iter().all(|&at| flags[at as usize]));
                    }),
                    4 if start < 40 => {
                        let beyond = ranges.absorb(asked.start);
                        let expected = (start..220).find(|&at| !flags[at as usize]).unwrap();
                        prop_assert_eq!(beyond, expected * scale);
                    }
                    5 => {
                        let top = held(&ranges).pop();
                        ranges.remove_highest();
                        positions(top.as_slice()).iter().for_each(|&at| flags[at as usize] = false);
                    }
                    _ => continue,
                }
                match action {
                    0 | 1 | 6.. => flags[places.clone()].fill(true),
                    2 => flags[places.clone()].fill(false),
                    3 => flags[..start as usize].fill(false),
                    4 => {
                        let reached = (start as usize..220).find(|&at| !flags[at]).unwrap();
                        flags[..reached].fill(false);
                    }
                    _ => {}
                }
                ranges.sorted.check();
                prop_assert_eq!(ranges.is_empty(), ranges.count() == 0);
                let held = held(&ranges);
                prop_assert_eq!(held.len(), ranges.count());
                prop_assert_eq!(held.last().map(|range| range.end), ranges.highest());
                prop_assert!(held.iter().all(|range| range.start < range.end));
                prop_assert!(held.windows(2).all(|pair| pair[0].end < pair[1].start));
                prop_assert!(held.iter().rev().copied().eq(ranges.descending()));
                prop_assert!(held.iter().filter(|range| range.start >= asked.start).copied().eq(ranges.from(asked.start)));
                let set = |places: core::ops::Range<usize>| -> Vec<u64> {
                    places.filter(|&at| flags[at]).map(|at| at as u64).collect()
                };
                prop_assert_eq!(positions(&held), set(0..220));
                let part: Vec<Block> = ranges.within(asked).collect();
                prop_assert!(part.iter().all(|range| range.start < range.end));
                prop_assert_eq!(positions(&part), set(places.clone()));
                prop_assert_eq!(ranges.covered(asked.start, asked.end), set(places.clone()).len() as u64 * scale);
                if length > 0 {
                    prop_assert_eq!(ranges.covers(asked), set(places).len() as u64 == length);
                }
            }
        }
    }
}
