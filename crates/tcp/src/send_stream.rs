//! The data that the application writes.

use std::collections::VecDeque;

use crate::settings::SendKind;

/// The stored part of the written data. Offsets count from the first byte of data.
#[derive(Clone, Debug)]
enum Kept {
    Nothing,
    /// Only the number of bytes: `base` are acknowledged, and at most `capacity` more are accepted.
    /// A write with too little space sets `blocked`.
    Count {
        base: u64,
        capacity: u64,
        blocked: bool,
    },
    /// The bytes, with the same numbers.
    Bytes {
        bytes: VecDeque<u8>,
        base: u64,
        capacity: usize,
        blocked: bool,
    },
}

/// The stream of data to send.
#[derive(Clone, Debug)]
pub(crate) struct SendStream {
    /// First position beyond all data and the FIN.
    end: u64,
    /// Whether the last position is the FIN: no more data can be written.
    finished: bool,
    kept: Kept,
    /// Upper limit of the segment that begins with the first unsent byte: the end of its record, or
    /// `end`.
    whole: u64,
    /// Ends of records in ascending order; `None` if there never was a record.
    #[expect(clippy::box_collection, reason = "few connections have records, and all have to hold the place")]
    records: Option<Box<VecDeque<u64>>>,
}

impl SendStream {
    pub(crate) fn new(kind: SendKind) -> Self {
        let kept = match kind {
            SendKind::Counted => Kept::Nothing,
            SendKind::CountedUpTo { buffer } => Kept::Count { base: 0, capacity: buffer, blocked: false },
            SendKind::Held { buffer } => {
                Kept::Bytes { bytes: VecDeque::new(), base: 0, capacity: buffer, blocked: false }
            }
        };
        Self { end: 1, finished: false, kept, whole: 1, records: None }
    }

    /// Returns the first position that must not share a segment with the first unsent byte.
    #[inline]
    pub(crate) fn whole(&self) -> u64 {
        self.whole
    }

    /// Ends a record after the written data: no segment carries bytes from both sides of this
    /// position.
    pub(crate) fn end_record(&mut self, nxt: u64) {
        if !self.finished && self.last_record() < self.end {
            self.records.get_or_insert_default().push_back(self.end);
            self.pass(nxt);
        }
    }

    /// Forgets the records that end at or below `nxt`: they have been sent.
    #[inline]
    pub(crate) fn pass(&mut self, nxt: u64) {
        self.whole = match &mut self.records {
            None => self.end,
            Some(records) => {
                while records.front().is_some_and(|end| *end <= nxt) {
                    records.pop_front();
                }
                records.front().copied().unwrap_or(self.end)
            }
        };
    }

    /// Returns the end of the last record that is not wholly sent; 0 if there is none.
    pub(crate) fn last_record(&self) -> u64 {
        self.records.as_ref().and_then(|records| records.back()).copied().unwrap_or(0)
    }

    /// Returns the first position beyond the SYN, the written bytes, and the FIN.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the number of bytes written.
    fn written(&self) -> u64 {
        self.end - 1 - u64::from(self.is_finished())
    }

    /// Returns whether the last position is the FIN.
    #[inline]
    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    pub(crate) fn finish(&mut self) {
        if !self.finished {
            // No data follows the last record, so its end does not matter.
            if let Some(records) = &mut self.records
                && records.back() == Some(&self.end)
            {
                records.pop_back();
            }
            self.lengthen(1);
        }
        self.finished = true;
    }

    fn lengthen(&mut self, count: u64) {
        self.end += count;
        if self.records.as_ref().is_none_or(|records| records.is_empty()) {
            self.whole = self.end;
        }
    }

    /// Writes as many bytes as there is space for. Returns their number.
    pub(crate) fn write(&mut self, new: &[u8]) -> usize {
        let count = match &mut self.kept {
            Kept::Nothing | Kept::Count { .. } => return self.write_counted(new.len() as u64) as usize,
            Kept::Bytes { bytes, capacity, blocked, .. } => {
                let count = new.len().min(capacity.saturating_sub(bytes.len()));
                if count < new.len() {
                    *blocked = true;
                }
                bytes.extend(&new[..count]);
                count
            }
        };
        self.lengthen(count as u64);
        count
    }

    /// Writes `count` bytes if only lengths are stored. Returns the number accepted.
    pub(crate) fn write_counted(&mut self, count: u64) -> u64 {
        let written = self.written();
        let count = match &mut self.kept {
            Kept::Nothing => count,
            Kept::Count { base, capacity, blocked } => {
                let taken = count.min(capacity.saturating_sub(written - *base));
                if taken < count {
                    *blocked = true;
                }
                taken
            }
            Kept::Bytes { .. } => 0,
        };
        self.lengthen(count);
        count
    }

    /// Frees everything below `offset`, which is acknowledged. Returns whether a write that found
    /// too little space can continue.
    #[inline]
    pub(crate) fn release(&mut self, offset: u64) -> bool {
        let written = self.written();
        let (base, blocked, gone) = match &mut self.kept {
            Kept::Nothing => return false,
            Kept::Count { base, blocked, .. } => {
                let gone = offset.min(written).saturating_sub(*base);
                (base, blocked, gone)
            }
            Kept::Bytes { bytes, base, blocked, .. } => {
                let gone = (offset.saturating_sub(*base)).min(bytes.len() as u64);
                bytes.drain(..gone as usize);
                (base, blocked, gone)
            }
        };
        *base += gone;
        gone > 0 && core::mem::take(blocked)
    }

    /// Returns the bytes `offset..offset + len` in two parts. Both are empty if bytes are not
    /// stored.
    pub(crate) fn bytes(&self, offset: u64, len: u32) -> (&[u8], &[u8]) {
        let Kept::Bytes { bytes, base, .. } = &self.kept else { return (&[], &[]) };
        let from = usize::try_from(offset.saturating_sub(*base)).unwrap_or(usize::MAX).min(bytes.len());
        let to = from.saturating_add(len as usize).min(bytes.len());
        let (front, back) = bytes.as_slices();
        let cut = |part: usize| part.min(front.len());
        let rest = |part: usize| part.saturating_sub(front.len());
        (&front[cut(from)..cut(to)], &back[rest(from)..rest(to)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_held_until_they_are_acknowledged() {
        let mut stream = SendStream::new(SendKind::Held { buffer: 5 });
        assert_eq!(stream.write(b"abc"), 3);
        assert_eq!(stream.write(b"defg"), 2);
        assert_eq!(stream.end(), 6);
        assert!(stream.release(2));
        assert!(!stream.release(3));
        assert_eq!(stream.write(b"xyz"), 3);
        let (front, back) = stream.bytes(3, 5);
        assert_eq!([front, back].concat(), b"dexyz");
        let (front, back) = stream.bytes(7, 100);
        assert_eq!([front, back].concat(), b"z");
        stream.finish();
        assert_eq!(stream.end(), 10);
    }

    #[test]
    fn a_write_that_finds_room_for_all_waits_for_nothing() {
        let mut stream = SendStream::new(SendKind::Held { buffer: 5 });
        assert_eq!(stream.write(b"abcde"), 5);
        assert!(!stream.release(6));
        let mut counted = SendStream::new(SendKind::CountedUpTo { buffer: 5 });
        assert_eq!(counted.write_counted(5), 5);
        assert!(!counted.release(6));
    }

    #[test]
    fn a_counted_stream_keeps_lengths_only() {
        let mut stream = SendStream::new(SendKind::Counted);
        assert_eq!(stream.write_counted(1 << 40), 1 << 40);
        assert_eq!(stream.end(), (1 << 40) + 1);
        assert!(!stream.release(1 << 39));
        assert_eq!(stream.bytes(0, 10), (&[][..], &[][..]));
    }

    #[test]
    fn no_segment_reaches_beyond_a_record_but_the_fin_goes_with_the_last() {
        let mut stream = SendStream::new(SendKind::Counted);
        stream.write_counted(10);
        stream.end_record(1);
        // An empty record does not count.
        stream.end_record(1);
        assert_eq!((stream.whole(), stream.last_record()), (11, 11));
        stream.write_counted(5);
        assert_eq!((stream.whole(), stream.end()), (11, 16));
        stream.pass(11);
        assert_eq!((stream.whole(), stream.last_record()), (16, 0));
        stream.end_record(11);
        // No data follows the last record.
        stream.finish();
        assert_eq!((stream.whole(), stream.last_record(), stream.end()), (17, 0, 17));
        let mut stream = SendStream::new(SendKind::Counted);
        stream.write_counted(10);
        stream.end_record(1);
        stream.write_counted(5);
        stream.finish();
        stream.finish();
        assert_eq!((stream.whole(), stream.last_record(), stream.end()), (11, 11, 17));
        stream.end_record(1);
        assert_eq!(stream.last_record(), 11);
        stream.pass(11);
        assert_eq!(stream.whole(), 17);
    }

    #[test]
    fn a_counted_stream_may_have_a_limit() {
        let mut stream = SendStream::new(SendKind::CountedUpTo { buffer: 5 });
        assert_eq!((stream.write_counted(3), stream.write(b"defg"), stream.write_counted(1)), (3, 2, 0));
        assert_eq!(stream.end(), 6);
        assert!(stream.release(2));
        assert!(!stream.release(3));
        assert_eq!(stream.write_counted(3), 3);
        stream.finish();
        // The acknowledged FIN does not count as a byte.
        assert!(!stream.release(9));
        assert_eq!(stream.end(), 10);
    }
}
