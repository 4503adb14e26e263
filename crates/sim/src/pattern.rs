//! What the bytes of a stream are where a run carries bytes: a function of their place, so that a reader can tell
//! whether each is the right one.

/// The byte at this offset of a stream. Its period, 251, is prime: a segment that lands in the wrong place shows.
pub const fn byte(offset: u64) -> u8 {
    (offset % 251) as u8
}

/// The bytes from `offset` on.
pub fn bytes(offset: u64, len: usize) -> Vec<u8> {
    (offset..offset + len as u64).map(byte).collect()
}
