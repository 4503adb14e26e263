//! The received data that the application reads.

use crate::ring::Ring;
use crate::settings::ReceiveKind;

/// The stream of received data. Offsets count from the first byte of data.
#[derive(Clone, Debug)]
pub(crate) enum RecvStream {
    /// The application reads all data on arrival.
    Drained,
    /// Only lengths are stored, and the application reads at its own pace. `read` is the number of
    /// bytes read.
    Counted { read: u64 },
    /// The bytes from the first unread one on.
    Held(Box<Ring>),
}

impl RecvStream {
    pub(crate) fn new(kind: ReceiveKind, buffer: u64) -> Self {
        match kind {
            ReceiveKind::Drained => Self::Drained,
            ReceiveKind::Counted => Self::Counted { read: 0 },
            ReceiveKind::Held => Self::Held(Box::new(Ring::new(buffer as usize))),
        }
    }

    /// Returns whether the application reads all data on arrival.
    #[inline]
    pub(crate) fn is_drained(&self) -> bool {
        matches!(self, Self::Drained)
    }

    /// Returns the number of unread bytes among the first `arrived` bytes.
    #[inline]
    pub(crate) fn unread(&self, arrived: u64) -> u64 {
        match self {
            Self::Drained => 0,
            Self::Counted { read } => arrived - read,
            Self::Held(ring) => arrived - ring.base(),
        }
    }

    /// Stores `bytes` at `offset`, if this stream stores bytes.
    #[inline]
    pub(crate) fn put(&mut self, offset: u64, bytes: &[u8]) {
        if let Self::Held(ring) = self {
            ring.put(offset, bytes);
        }
    }

    /// Reads bytes into `into`. Returns their number; 0 if this stream does not store bytes.
    pub(crate) fn read(&mut self, arrived: u64, into: &mut [u8]) -> usize {
        match self {
            Self::Drained | Self::Counted { .. } => 0,
            Self::Held(ring) => ring.take(arrived - ring.base(), into),
        }
    }

    /// Discards at most `limit` bytes. Returns their number.
    pub(crate) fn skip(&mut self, arrived: u64, limit: u64) -> u64 {
        let count = self.unread(arrived).min(limit);
        match self {
            Self::Drained => {}
            Self::Counted { read } => *read += count,
            Self::Held(ring) => ring.skip(count),
        }
        count
    }
}
