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

    /// Ranges from the lowest up.
    pub fn ascending(&self) -> impl Iterator<Item = Block> + '_ {
        self.from(0)
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

    /// The parts of the set that lie in `block`, in ascending order.
    pub fn within(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        let from = self.by_start.range(..=block.start).next_back().map_or(block.start, |(&start, _)| start);
        let touching = self.by_start.range(from..block.end.max(from));
        let parts =
            touching.map(move |(&start, &end)| Block { start: start.max(block.start), end: end.min(block.end) });
        parts.filter(|part| part.start < part.end)
    }

    /// Positions of `from..to` that are in the set.
    pub fn covered(&self, from: u64, to: u64) -> u64 {
        self.within(Block { start: from, end: to }).map(|part| part.end - part.start).sum()
    }

    /// Adds `block`, if there is anything in it.
    pub fn add(&mut self, block: Block) {
        if block.start < block.end {
            self.insert(block, |_| {});
        }
    }

    /// Adds `block`, which is not empty; calls `gap` for each part of it that was not there before.
    pub fn insert(&mut self, block: Block, mut gap: impl FnMut(Block)) {
        debug_assert!(block.start < block.end);
        match self.by_start.range_mut(..=block.end).next_back() {
            // Most blocks touch nothing, or prolong what begins below them.
            Some((&start, end)) if start <= block.start && *end >= block.start => {
                if *end < block.end {
                    gap(Block { start: *end, end: block.end });
                    *end = block.end;
                }
            }
            Some((_, end)) if *end >= block.start => self.merge(block, gap),
            _ => {
                gap(block);
                self.by_start.insert(block.start, block.end);
            }
        }
    }

    fn merge(&mut self, block: Block, mut gap: impl FnMut(Block)) {
        let mut merged = block;
        let mut reached = block.start;
        if let Some((&start, &end)) = self.by_start.range(..=block.start).next_back()
            && end >= block.start
        {
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

    /// Removes `block`.
    pub fn remove(&mut self, block: Block) {
        if block.start >= block.end {
            return;
        }
        while let Some((&start, &end)) = self.by_start.range(..block.end).next_back() {
            if end <= block.start {
                return;
            }
            self.by_start.remove(&start);
            if end > block.end {
                self.by_start.insert(block.end, end);
            }
            if start < block.start {
                self.by_start.insert(start, block.start);
            }
        }
    }

    /// Removes everything below `position`, and what follows there without a gap; gives the first position from `position`
    /// on that was not in the set.
    pub fn absorb(&mut self, position: u64) -> u64 {
        let mut reached = position;
        while let Some(first) = self.by_start.first_entry() {
            if *first.key() > reached {
                break;
            }
            reached = reached.max(first.remove());
        }
        reached
    }

    /// Removes the highest range.
    pub fn remove_highest(&mut self) {
        self.by_start.pop_last();
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
    proptest! {
        #[test]
        fn it_does_as_one_flag_for_each_position(steps in prop::collection::vec((0u8..5, 0u64..60, 0u64..12), 1..60)) {
            let mut ranges = Ranges::default();
            let mut flags = [false; 80];
            for (action, start, length) in steps {
                let asked = block(start, start + length);
                let places = asked.start as usize..asked.end as usize;
                match action {
                    0 => ranges.add(asked),
                    1 if length > 0 => ranges.insert(asked, |gap| {
                        for at in gap.start..gap.end {
                            assert!(!flags[at as usize], "{at} was there");
                        }
                    }),
                    2 => ranges.remove(asked),
                    3 => ranges.remove_below(start, |gone| assert!((gone.start..gone.end).all(|at| flags[at as usize]))),
                    4 => {
                        let beyond = ranges.absorb(start);
                        let expected = (start..80).find(|&at| !flags[at as usize]).unwrap();
                        prop_assert_eq!(beyond, expected);
                    }
                    _ => continue,
                }
                match action {
                    0 | 1 => flags[places.clone()].fill(true),
                    2 => flags[places.clone()].fill(false),
                    3 => flags[..start as usize].fill(false),
                    _ => {
                        let reached = (start as usize..80).find(|&at| !flags[at]).unwrap();
                        flags[..reached].fill(false);
                    }
                }
                let held: Vec<Block> = ranges.ascending().collect();
                prop_assert!(held.windows(2).all(|pair| pair[0].end < pair[1].start));
                let positions = |blocks: &[Block]| blocks.iter().flat_map(|b| b.start..b.end).collect::<Vec<_>>();
                let set = |places: core::ops::Range<usize>| -> Vec<u64> {
                    places.filter(|&at| flags[at]).map(|at| at as u64).collect()
                };
                prop_assert_eq!(positions(&held), set(0..80));
                let part: Vec<Block> = ranges.within(asked).collect();
                prop_assert_eq!(positions(&part), set(places.clone()));
                prop_assert_eq!(ranges.covered(asked.start, asked.end), set(places.clone()).len() as u64);
                if length > 0 {
                    prop_assert_eq!(ranges.covers(asked), set(places).len() as u64 == length);
                }
            }
        }
    }
}
