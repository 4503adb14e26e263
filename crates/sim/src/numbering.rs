//! The numbers of data segments within a flow: 1 for the first, in the order of the data.
//! Retransmissions keep their segment's number.

/// A run of consecutive segments of one length.
#[derive(Clone, Copy)]
struct Row {
    start: u64,
    number: u64,
    len: u64,
}

/// Counts the segments of one direction, and finds the number of a position's segment. Segments of
/// equal length cost no memory.
#[derive(Default)]
pub struct Numbering {
    rows: Vec<Row>,
    count: u64,
    /// The segment length of the last row, and the position after its last segment.
    len: u64,
    next: u64,
}

impl Numbering {
    /// Returns the number of a new segment at `start`, `len` positions long. `len` is above 0.
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

    /// Returns the number of the segment that holds `position`, which was sent before.
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
