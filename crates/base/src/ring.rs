//! First in, first out, in a ring whose size is a power of two.
//!
//! A link and a scoreboard do little else than to put one in and to take one out: a mask finds a place there with less than
//! half of what a ring of any size takes.

/// A queue of small values.
#[derive(Clone, Debug, Default)]
pub struct Ring<T> {
    /// None, or a power of two.
    cells: Vec<T>,
    /// Where the first stands, counted without end.
    head: usize,
    len: usize,
}

impl<T: Copy + Default> Ring<T> {
    /// How many stand in it.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none does.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The one behind `ahead` others.
    #[inline]
    pub fn get(&self, ahead: usize) -> Option<&T> {
        if ahead < self.len { self.cells.get(self.place(ahead)) } else { None }
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, ahead: usize) -> Option<&mut T> {
        let place = self.place(ahead);
        if ahead < self.len { self.cells.get_mut(place) } else { None }
    }

    /// The first.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.get(0)
    }

    /// The last.
    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.get(self.len.wrapping_sub(1))
    }

    /// Puts one behind all others.
    #[inline]
    pub fn push_back(&mut self, value: T) {
        if self.len == self.cells.len() {
            self.grow();
        }
        let place = self.place(self.len);
        if let Some(cell) = self.cells.get_mut(place) {
            *cell = value;
            self.len += 1;
        }
    }

    /// Takes the first out.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let first = self.front().copied()?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(first)
    }

    /// Takes out those at the front of which `gone` holds, and returns the last of them.
    #[inline]
    pub fn pop_front_while(&mut self, mut gone: impl FnMut(&T) -> bool) -> Option<T> {
        let mut count = 0;
        while self.get(count).is_some_and(&mut gone) {
            count += 1;
        }
        let last = self.get(count.wrapping_sub(1)).copied()?;
        self.head = self.head.wrapping_add(count);
        self.len -= count;
        Some(last)
    }

    /// Takes all out. What comes next stands at the beginning: a ring with little in it goes over little memory.
    #[inline]
    pub fn clear(&mut self) {
        self.head = 0;
        self.len = 0;
    }

    /// All, from the first to the last.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.iter_from(0)
    }

    /// All but the first `ahead`.
    pub fn iter_from(&self, ahead: usize) -> impl Iterator<Item = &T> {
        (ahead..self.len).filter_map(|ahead| self.get(ahead))
    }

    /// How many stand before the first of which `before` does not hold, where it holds of those before it alone.
    pub fn partition_point(&self, mut before: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len);
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
        self.head.wrapping_add(ahead) & self.cells.len().wrapping_sub(1)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let begin = self.place(0);
        self.cells.rotate_left(begin);
        self.head = 0;
        self.cells.resize((2 * self.len).max(4), T::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_does_as_the_standard_one_does(steps in prop::collection::vec(0u8..8, 1..500)) {
            let mut ring = Ring::default();
            let mut other = VecDeque::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    0 => {
                        ring.clear();
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
