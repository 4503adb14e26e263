//! A buffer of received bytes by stream offset, in and out of order, until the application reads
//! them.

/// A ring buffer that grows with its contents, up to the size of the receive buffer.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    bytes: Vec<u8>,
    /// The first unread offset.
    base: u64,
    capacity: usize,
}

impl Ring {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { bytes: Vec::new(), base: 0, capacity }
    }

    /// Returns the first unread offset.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// Stores `bytes` at `offset`. They must fit the capacity, counted from the first unread
    /// offset.
    pub(crate) fn put(&mut self, offset: u64, bytes: &[u8]) {
        debug_assert!(offset >= self.base && offset - self.base + bytes.len() as u64 <= self.capacity as u64);
        self.reserve((offset - self.base) as usize + bytes.len());
        if bytes.is_empty() {
            return;
        }
        let at = self.index(offset);
        let first = bytes.len().min(self.bytes.len() - at);
        self.bytes[at..at + first].copy_from_slice(&bytes[..first]);
        self.bytes[..bytes.len() - first].copy_from_slice(&bytes[first..]);
    }

    /// Reads at most `available` bytes into `into`. Returns their number.
    pub(crate) fn take(&mut self, available: u64, into: &mut [u8]) -> usize {
        let count = usize::try_from(available).unwrap_or(usize::MAX).min(into.len());
        if count == 0 {
            return 0;
        }
        let at = self.index(self.base);
        let first = count.min(self.bytes.len() - at);
        into[..first].copy_from_slice(&self.bytes[at..at + first]);
        into[first..count].copy_from_slice(&self.bytes[..count - first]);
        self.base += count as u64;
        count
    }

    /// Discards `count` bytes, which must be available.
    pub(crate) fn skip(&mut self, count: u64) {
        self.base += count;
    }

    fn index(&self, offset: u64) -> usize {
        (offset % self.bytes.len() as u64) as usize
    }

    fn reserve(&mut self, needed: usize) {
        if needed <= self.bytes.len() {
            return;
        }
        let length = needed.next_power_of_two().min(self.capacity).max(needed);
        let mut bytes = vec![0; length];
        for offset in self.base..self.base + self.bytes.len() as u64 {
            bytes[(offset % length as u64) as usize] = self.bytes[self.index(offset)];
        }
        self.bytes = bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_at_their_offsets_while_the_ring_turns_and_grows() {
        let mut ring = Ring::new(10);
        let mut into = [0; 10];
        ring.put(2, b"cd");
        ring.put(0, b"ab");
        assert_eq!(ring.take(3, &mut into), 3);
        assert_eq!(&into[..3], b"abc");
        ring.put(4, b"efghijklm");
        assert_eq!(ring.bytes.len(), 10);
        assert_eq!(ring.take(10, &mut into), 10);
        assert_eq!(&into, b"defghijklm");
        assert_eq!(ring.base(), 13);
    }
}
