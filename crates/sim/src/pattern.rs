//! The bytes of a stream in a run that carries bytes: a function of their offset, so that a reader
//! can verify each.

/// Returns the byte at this offset of a stream. The period, 251, is prime, so a misplaced segment
/// shows.
pub const fn byte(offset: u64) -> u8 {
    (offset % 251) as u8
}

/// Returns the bytes from `offset` on.
pub fn bytes(offset: u64, len: usize) -> Vec<u8> {
    (offset..offset + len as u64).map(byte).collect()
}
