//! What the application reads.

use crate::ring::Ring;
use crate::settings::ReceiveKind;

/// The receiving side's stream, by how much of it is kept. Offsets count from the first byte of data.
#[derive(Clone, Debug)]
pub(crate) enum RecvStream {
    /// The application reads at once whatever arrives.
    Drained,
    /// The application reads when it likes, and only lengths are kept. This counts the bytes that were read.
    Counted { read: u64 },
    /// The bytes, from the first that was not read.
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

    /// Returns whether the application reads at once whatever arrives.
    #[inline]
    pub(crate) fn is_drained(&self) -> bool {
        matches!(self, Self::Drained)
    }

    /// Returns how many of the first `arrived` bytes are not read.
    #[inline]
    pub(crate) fn unread(&self, arrived: u64) -> u64 {
        match self {
            Self::Drained => 0,
            Self::Counted { read } => arrived - read,
            Self::Held(ring) => arrived - ring.base(),
        }
    }

    /// Keeps `bytes` at `offset`, where bytes are kept.
    #[inline]
    pub(crate) fn put(&mut self, offset: u64, bytes: &[u8]) {
        if let Self::Held(ring) = self {
            ring.put(offset, bytes);
        }
    }

    /// Reads bytes into `into`; none where none are kept.
    pub(crate) fn read(&mut self, arrived: u64, into: &mut [u8]) -> usize {
        match self {
            Self::Drained | Self::Counted { .. } => 0,
            Self::Held(ring) => ring.take(arrived - ring.base(), into),
        }
    }

    /// Reads at most `limit` bytes without looking at them; returns how many.
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
