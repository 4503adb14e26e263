//! A set of positions, kept as ranges that neither touch nor overlap.

use std::collections::BTreeMap;

/// A set of positions; ranges are given as (first position, first position beyond).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    /// Whether there is no position in it.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Puts the positions from `start` to before `end` into the set.
    pub fn add(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let (mut first, mut beyond) = (start, end);
        while let Some((&left, &right)) = self.ends.range(..=beyond).next_back() {
            if right < first {
                break;
            }
            first = first.min(left);
            beyond = beyond.max(right);
            self.ends.remove(&left);
        }
        self.ends.insert(first, beyond);
    }

    /// Takes the positions from `start` to before `end` out of the set.
    pub fn remove(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        while let Some((&left, &right)) = self.ends.range(..end).next_back() {
            if right <= start {
                break;
            }
            self.ends.remove(&left);
            if right > end {
                self.ends.insert(end, right);
            }
            if left < start {
                self.ends.insert(left, start);
            }
        }
    }

    /// Takes everything below `position` out, and everything that joins on to it there: the answer is the first
    /// position from `position` on that is not in the set.
    pub fn absorb(&mut self, position: u64) -> u64 {
        let mut next = position;
        while let Some((&left, &right)) = self.ends.first_key_value() {
            if left > next {
                break;
            }
            next = next.max(right);
            self.ends.remove(&left);
        }
        next
    }

    /// Takes everything below `position` out.
    pub fn remove_below(&mut self, position: u64) {
        while let Some((&left, &right)) = self.ends.first_key_value() {
            if left >= position {
                break;
            }
            self.ends.remove(&left);
            if right > position {
                self.ends.insert(position, right);
            }
        }
    }

    /// Whether all positions from `start` to before `end` are in the set.
    pub fn has_all(&self, start: u64, end: u64) -> bool {
        start >= end || self.ends.range(..=start).next_back().is_some_and(|(_, &right)| right >= end)
    }

    /// The ranges, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ends.iter().map(|(&left, &right)| (left, right))
    }

    /// The parts of the set from `start` to before `end`, in order.
    pub fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let from = self.ends.range(..=start).next_back().map_or(start, |(&left, _)| left);
        self.ends
            .range(from..end.max(from))
            .map(move |(&left, &right)| (left.max(start), right.min(end)))
            .filter(|(left, right)| left < right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against one flag for each position.
        #[test]
        fn it_does_as_one_flag_for_each_position(steps in prop::collection::vec((0u8..5, 0u64..60, 0u64..12), 1..60)) {
            let mut ranges = Ranges::default();
            let mut flags = [false; 80];
            for (action, start, length) in steps {
                let end = start + length;
                match action {
                    0 | 1 => {
                        ranges.add(start, end);
                        flags[start as usize..end as usize].fill(true);
                    }
                    2 => {
                        ranges.remove(start, end);
                        flags[start as usize..end as usize].fill(false);
                    }
                    3 => {
                        ranges.remove_below(start);
                        flags[..start as usize].fill(false);
                    }
                    _ => {
                        let beyond = ranges.absorb(start);
                        let expected = (start..80).find(|&at| !flags[at as usize]).unwrap();
                        prop_assert_eq!(beyond, expected);
                        flags[..expected as usize].fill(false);
                    }
                }
                let held: Vec<u64> = ranges.iter().flat_map(|(left, right)| left..right).collect();
                let expected: Vec<u64> = (0..80).filter(|&at| flags[at as usize]).collect();
                prop_assert_eq!(held, expected);
                prop_assert_eq!(ranges.has_all(start, end), flags[start as usize..end as usize].iter().all(|&flag| flag));
                let part: Vec<u64> = ranges.within(start, end).flat_map(|(left, right)| left..right).collect();
                let expected: Vec<u64> = (start..end).filter(|&at| flags[at as usize]).collect();
                prop_assert_eq!(part, expected);
            }
        }
    }
}
