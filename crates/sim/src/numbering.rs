//! The numbers of a flow's data segments: from 1, in the order of the data. A retransmission has
//! the number of its segment.

/// A run of consecutive segments of one length.
#[derive(Clone, Copy)]
struct Row {
    start: u64,
    number: u64,
    len: u64,
}

/// Counts the segments of one direction, and finds the segment that holds a position. A run of
/// segments of equal length takes a single row.
#[derive(Default)]
pub struct Numbering {
    rows: Vec<Row>,
    count: u64,
    /// The segment length of the last row.
    len: u64,
    /// The position after the last segment.
    next: u64,
}

impl Numbering {
    /// Adds a segment at `start` that is `len` positions long, and returns its number. `len` must
    /// be above 0.
    #[inline]
    pub fn next(&mut self, start: u64, len: u32) -> u64 {
        self.count += 1;
        let (number, len) = (self.count, u64::from(len));
        if start != self.next || len != self.len {
            self.len = len;
            self.rows.push(Row { start, number, len });
        }
        self.next = start + len;
        number
    }

    /// Returns the number of the segment that holds `position`. The position must have been sent.
    pub fn of(&self, position: u64) -> u64 {
        let after = self.rows.partition_point(|row| row.start <= position);
        match after.checked_sub(1).map(|index| self.rows[index]) {
            Some(row) => row.number + (position - row.start) / row.len,
            None => 1,
        }
    }

    /// Returns the number of segments.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_finds_its_segment_again() {
        let mut numbering = Numbering::default();
        let lengths = [1000, 1000, 1000, 300, 1000, 1000, 7];
        let mut start = 1;
        for (index, len) in lengths.into_iter().enumerate() {
            assert_eq!(numbering.next(start, len), index as u64 + 1);
            assert_eq!(numbering.count(), index as u64 + 1);
            start += u64::from(len);
        }
        assert_eq!(numbering.rows.len(), 4);
        let mut start = 1;
        for (index, len) in lengths.into_iter().enumerate() {
            assert_eq!(numbering.of(start), index as u64 + 1);
            assert_eq!(numbering.of(start + u64::from(len) - 1), index as u64 + 1);
            start += u64::from(len);
        }
    }
}
