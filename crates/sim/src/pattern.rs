//! The bytes of a stream in a run that carries bytes. Each byte is a function of its offset, so
//! that a reader can verify it.

/// Returns the byte at this offset of a stream. The period, 251, is prime, so that a misplaced
/// segment is detected.
pub const fn byte(offset: u64) -> u8 {
    (offset % 251) as u8
}

/// Returns `len` bytes from `offset` on.
pub fn bytes(offset: u64, len: usize) -> Vec<u8> {
    (offset..offset + len as u64).map(byte).collect()
}
