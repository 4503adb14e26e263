//! A set of positions as disjoint ranges.

use std::collections::BTreeMap;

use crate::fact::Block;

/// Disjoint, non-adjacent ranges in ascending order. Each operation costs O(log n) and what it merges or removes.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    by_start: BTreeMap<u64, u64>,
}

impl Ranges {
    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    /// How many ranges there are.
    pub fn count(&self) -> usize {
        self.by_start.len()
    }

    /// The first position beyond the highest range.
    pub fn highest(&self) -> Option<u64> {
        self.by_start.last_key_value().map(|(_, &end)| end)
    }

    /// Ranges from the highest down.
    pub fn descending(&self) -> impl Iterator<Item = Block> + '_ {
        self.by_start.iter().rev().map(|(&start, &end)| Block { start, end })
    }

    /// Ranges that begin at or above `from`, in ascending order.
    pub fn from(&self, from: u64) -> impl Iterator<Item = Block> + '_ {
        self.by_start.range(from..).map(|(&start, &end)| Block { start, end })
    }

    /// The range that contains `position`.
    pub fn containing(&self, position: u64) -> Option<Block> {
        let (&start, &end) = self.by_start.range(..=position).next_back()?;
        (position < end).then_some(Block { start, end })
    }

    /// Whether all of `block` lies in one range.
    pub fn covers(&self, block: Block) -> bool {
        self.containing(block.start).is_some_and(|range| block.end <= range.end)
    }

    /// Positions of `from..to` that are in the set.
    pub fn covered(&self, from: u64, to: u64) -> u64 {
        let first = self.containing(from).map_or(0, |range| range.end.min(to) - from);
        let above = self.by_start.range(from + 1..to.max(from + 1));
        first + above.map(|(&start, &end)| end.min(to) - start).sum::<u64>()
    }

    /// Adds `block`; calls `gap` for each part of it that was not there before.
    pub fn insert(&mut self, block: Block, mut gap: impl FnMut(Block)) {
        debug_assert!(block.start < block.end);
        let mut merged = block;
        let mut reached = block.start;
        if let Some((&start, &end)) = self.by_start.range(..=block.start).next_back()
            && end >= block.start
        {
            if end >= block.end {
                return;
            }
            merged.start = start;
            reached = end;
        }
        while let Some((&start, &end)) = self.by_start.range(block.start + 1..=block.end).next() {
            if start > reached {
                gap(Block { start: reached, end: start });
            }
            reached = reached.max(end);
            merged.end = merged.end.max(end);
            self.by_start.remove(&start);
        }
        if reached < block.end {
            gap(Block { start: reached, end: block.end });
        }
        self.by_start.insert(merged.start, merged.end);
    }

    /// Removes everything below `position`; calls `gone` for each part removed.
    pub fn remove_below(&mut self, position: u64, mut gone: impl FnMut(Block)) {
        while let Some(entry) = self.by_start.first_entry() {
            let block = Block { start: *entry.key(), end: *entry.get() };
            if block.start >= position {
                return;
            }
            entry.remove();
            if block.end > position {
                self.by_start.insert(position, block.end);
                gone(Block { start: block.start, end: position });
                return;
            }
            gone(block);
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.by_start.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
