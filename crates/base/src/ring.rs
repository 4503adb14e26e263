//! A first-in first-out queue in a ring whose size is a power of two.
//!
//! Links and scoreboards mostly add and remove values. A mask finds an index in half the time that
//! a ring of arbitrary size needs.

use core::fmt;

/// A queue of small values.
#[derive(Clone, Default)]
pub struct Ring<T> {
    /// Empty, or a power of two long.
    cells: Vec<T>,
    /// Index of the first value, before masking. Each removal increments it; it wraps.
    head: u32,
    /// A `u32`, because there may be many rings, and none comes near 2^32 values.
    len: u32,
}

impl<T: Copy + Default> Ring<T> {
    /// Returns the number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns whether the ring is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the value behind `ahead` others.
    #[inline]
    pub fn get(&self, ahead: usize) -> Option<&T> {
        if ahead < self.len() { self.cells.get(self.place(ahead)) } else { None }
    }

    /// Returns the value behind `ahead` others, mutably.
    #[inline]
    pub fn get_mut(&mut self, ahead: usize) -> Option<&mut T> {
        let place = self.place(ahead);
        if ahead < self.len() { self.cells.get_mut(place) } else { None }
    }

    /// Returns the first value.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }

    /// Returns the last value.
    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.get(self.len().wrapping_sub(1))
    }

    /// Adds a value behind all others.
    #[inline]
    pub fn push_back(&mut self, value: T) {
        if self.len() == self.cells.len() {
            self.grow();
        }
        let place = self.place(self.len());
        if let Some(cell) = self.cells.get_mut(place) {
            *cell = value;
            self.len += 1;
        }
    }

    /// Removes and returns the first value.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let first = self.front().copied()?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(first)
    }

    /// Removes the values at the front for which `gone` holds. Returns the last of them.
    #[inline]
    pub fn pop_front_while(&mut self, mut gone: impl FnMut(&T) -> bool) -> Option<T> {
        let mut count = 0;
        while self.get(count).is_some_and(&mut gone) {
            count += 1;
        }
        let last = self.get(count.wrapping_sub(1)).copied()?;
        self.head = self.head.wrapping_add(count as u32);
        self.len -= count as u32;
        Some(last)
    }

    /// Inserts a value behind `ahead` others, or behind all if there are fewer. Takes time in
    /// proportion to the number of values behind it.
    pub fn insert(&mut self, ahead: usize, value: T) {
        self.push_back(value);
        for place in (ahead..self.len().saturating_sub(1)).rev() {
            let moved = self.get(place).copied().unwrap_or_default();
            if let Some(cell) = self.get_mut(place + 1) {
                *cell = moved;
            }
        }
        if let Some(cell) = self.get_mut(ahead) {
            *cell = value;
        }
    }

    /// Returns the number of values that fit without growing.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.cells.len()
    }

    /// Removes all values. The next one takes the first place in memory, so that a ring with few
    /// values touches few cache lines.
    #[inline]
    pub fn clear(&mut self) {
        self.head = 0;
        self.len = 0;
    }

    /// Removes all values, and frees the memory if it is for more than `most` values. Of many rings that
    /// are seldom full, few are so at the same time.
    #[inline]
    pub fn clear_to(&mut self, most: usize) {
        self.clear();
        if self.capacity() > most {
            self.cells = Vec::new();
        }
    }

    /// Iterates from the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.iter_from(0)
    }

    /// Iterates from the value behind `ahead` others to the last.
    pub fn iter_from(&self, ahead: usize) -> impl Iterator<Item = &T> {
        (ahead..self.len()).filter_map(|ahead| self.get(ahead))
    }

    /// Counts the values at the front for which `before` holds. It must hold for no value behind
    /// them.
    pub fn partition_point(&self, mut before: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle).is_some_and(&mut before) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    #[inline]
    fn place(&self, ahead: usize) -> usize {
        (self.head as usize).wrapping_add(ahead) & self.cells.len().wrapping_sub(1)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let begin = self.place(0);
        self.cells.rotate_left(begin);
        self.head = 0;
        // Reserves exactly: a vector would start with room for four, but a ring of an idle
        // connection has held only one segment.
        self.cells.reserve_exact(self.len().max(1));
        self.cells.resize((2 * self.len()).max(1), T::default());
    }
}

/// Shows only the values: two rings with the same values look alike, whatever they held before.
impl<T: Copy + Default + fmt::Debug> fmt::Debug for Ring<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..self.len()).filter_map(|ahead| self.get(ahead))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn debug_output_shows_only_present_values() {
        let mut ring = Ring::default();
        (1..6).for_each(|value| ring.push_back(value));
        (1..4).for_each(|_| _ = ring.pop_front());
        assert_eq!(format!("{ring:?}"), "[4, 5]");
    }

    #[test]
    fn values_are_put_between_others_wherever_the_ring_begins() {
        for (gone, len) in (0..9).flat_map(|gone| (0..9).map(move |len| (gone, len))) {
            for ahead in 0..len + 2 {
                let mut ring = Ring::default();
                (0..gone + len).for_each(|value| ring.push_back(value));
                (0..gone).for_each(|_| _ = ring.pop_front());
                let mut other: VecDeque<_> = ring.iter().copied().collect();
                ring.insert(ahead, 100);
                other.insert(ahead.min(len), 100);
                assert!(ring.iter().eq(&other), "{ring:?} {other:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_standard_vec_deque(steps in prop::collection::vec(0u8..8, 1..500)) {
            let mut ring = Ring::default();
            let mut other = VecDeque::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    0 => {
                        if number % 2 == 0 { ring.clear() } else { ring.clear_to(4) }
                        prop_assert!(number % 2 == 0 || ring.capacity() <= 4);
                        other.clear();
                    }
                    1 => {
                        let count = other.iter().take_while(|first| *first % 3 > 0).count();
                        prop_assert_eq!(ring.pop_front_while(|first| first % 3 > 0), other.drain(..count).next_back());
                    }
                    2..4 => prop_assert_eq!(ring.pop_front(), other.pop_front()),
                    _ => {
                        ring.push_back(number);
                        other.push_back(number);
                    }
                }
                prop_assert_eq!(ring.len(), other.len());
                prop_assert!((ring.len()..=2 * number + 2).contains(&ring.capacity()));
                prop_assert_eq!(ring.is_empty(), other.is_empty());
                prop_assert_eq!((ring.front(), ring.back()), (other.front(), other.back()));
                prop_assert_eq!(ring.get(3), other.get(3));
                prop_assert_eq!(ring.get_mut(3), other.get_mut(3));
                let old = |&value: &usize| value < number / 2;
                prop_assert_eq!(ring.partition_point(old), other.partition_point(old));
                prop_assert!(ring.iter().eq(&other));
                prop_assert!(ring.iter_from(2).eq(other.iter().skip(2)));
            }
        }
    }
}
