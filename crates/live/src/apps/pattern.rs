//! Bytes whose values depend on their offset, as in the simulator's streams.

use crate::system::Error;
use eifel_sim::pattern;

/// A block of the pattern, from which any stretch is borrowed.
#[derive(Debug)]
pub struct Pattern {
    block: Vec<u8>,
}

/// The period of the pattern.
const PERIOD: usize = 251;
/// The most bytes available at any offset.
const AT_HAND: usize = 1 << 16;

impl Pattern {
    /// Makes the pattern.
    #[expect(clippy::new_without_default, reason = "it is never empty")]
    pub fn new() -> Self {
        Self { block: pattern::bytes(0, AT_HAND + PERIOD) }
    }

    /// Returns at most `limit` bytes of the pattern from `offset` on, and at least one if `limit`
    /// is not 0.
    pub fn from(&self, offset: u64, limit: u64) -> &[u8] {
        let start = (offset % PERIOD as u64) as usize;
        &self.block[start..start + limit.min(AT_HAND as u64) as usize]
    }

    /// Compares `bytes`, which begin at `offset` of the stream, with the pattern.
    ///
    /// # Errors
    /// The first byte that differs.
    pub fn check(&self, mut offset: u64, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let expected = self.from(offset, bytes.len() as u64);
            let (now, rest) = bytes.split_at(expected.len());
            if let Some(at) = (now != expected).then(|| now.iter().zip(expected).position(|(a, b)| a != b)).flatten() {
                let cause = format!("expected {}, found {}", expected[at], now[at]);
                return Err(Error::new(format!("byte {} of the stream", offset + at as u64), &cause, ""));
            }
            offset += now.len() as u64;
            bytes = rest;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_slices_equal_the_simulators_stream() {
        let pattern = Pattern::new();
        for offset in [0, 1, 250, 251, 1 << 33] {
            assert_eq!(pattern.from(offset, 1000), pattern::bytes(offset, 1000));
        }
        assert_eq!(pattern.from(7, u64::MAX).len(), AT_HAND);
        assert!(pattern.from(7, 0).is_empty());
    }

    #[test]
    fn the_error_names_the_first_wrong_byte() {
        let (pattern, mut bytes) = (Pattern::new(), pattern::bytes(5, 200_000));
        pattern.check(5, &bytes).unwrap();
        bytes[123_456] ^= 1;
        let error = pattern.check(5, &bytes).unwrap_err();
        assert!(error.to_string().starts_with("byte 123461 of the stream: expected"), "{error}");
    }
}
