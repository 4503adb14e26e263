//! The table rows of an end's transmissions. The first rows may have been handed over already.

use std::collections::VecDeque;

/// Rows, indexed by the number of the transmission.
#[derive(Clone, Default)]
pub(super) struct Rows {
    /// Number of the transmission at the front.
    first: u64,
    /// `None` for a transmission that was not recorded.
    rows: VecDeque<Option<u64>>,
}

impl Rows {
    /// Notes the row of a transmission. Its number must exceed all earlier numbers.
    pub(super) fn push(&mut self, transmission: u64, row: u64) {
        let gap = transmission.saturating_sub(self.first + self.rows.len() as u64);
        self.rows.extend((0..gap).map(|_| None));
        self.rows.push_back(Some(row));
    }

    /// Returns the row of a transmission; `None` if it was not recorded or is forgotten.
    pub(super) fn get(&self, transmission: u64) -> Option<u64> {
        *self.rows.get(usize::try_from(transmission.checked_sub(self.first)?).ok()?)?
    }

    /// Forgets rows before this one.
    pub(super) fn forget(&mut self, before: u64) {
        while self.rows.front().is_some_and(|row| row.is_none_or(|row| row < before)) {
            self.rows.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_until_they_are_forgotten() {
        let mut rows = Rows::default();
        rows.push(0, 10);
        rows.push(3, 11);
        rows.push(4, 20);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|number| rows.get(number)), [Some(10), None, None, Some(11), Some(20), None]);
        rows.forget(11);
        assert_eq!([0, 2, 3, 4].map(|number| rows.get(number)), [None, None, Some(11), Some(20)]);
        rows.forget(100);
        rows.push(7, 100);
        assert_eq!([4, 5, 6, 7].map(|number| rows.get(number)), [None, None, None, Some(100)]);
    }
}
