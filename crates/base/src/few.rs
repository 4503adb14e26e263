//! A first-in first-out queue that mostly holds no value or one. Only further values allocate
//! memory.

use std::collections::VecDeque;

/// A queue that stores its first value inline.
#[derive(Clone, Debug)]
pub struct Few<T> {
    first: Option<T>,
    /// The values behind the first; `None` while there are none.
    #[expect(clippy::box_collection, reason = "there are seldom any, and all queues have to hold the place")]
    others: Option<Box<VecDeque<T>>>,
}

impl<T> Few<T> {
    /// A queue without values.
    pub const EMPTY: Self = Self { first: None, others: None };

    /// Returns whether there is no value.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Adds a value behind all others.
    pub fn push_back(&mut self, value: T) {
        if self.first.is_none() {
            self.first = Some(value);
        } else {
            self.others.get_or_insert_default().push_back(value);
        }
    }

    /// Removes and returns the first value.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let first = self.first.take()?;
        if self.others.is_some() {
            self.move_up();
        }
        Some(first)
    }

    #[cold]
    fn move_up(&mut self) {
        self.first = self.others.as_mut().and_then(|others| others.pop_front());
        self.others.take_if(|others| others.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_agrees_with_the_standard_vec_deque(steps in prop::collection::vec(any::<bool>(), 1..100)) {
            let mut few = Few::EMPTY;
            let mut other = VecDeque::new();
            for (number, adds) in steps.into_iter().enumerate() {
                if adds {
                    few.push_back(number);
                    other.push_back(number);
                } else {
                    prop_assert_eq!(few.pop_front(), other.pop_front());
                }
                prop_assert_eq!(few.is_empty(), other.is_empty());
                prop_assert_eq!(few.others.is_some(), other.len() > 1);
            }
        }
    }
}
