//! The record of one transmission.

use eifel_base::units::Timestamp;
use std::cmp::Ordering;

/// One transmission of a segment or chunk, as it passed the capture point. It takes 32 bytes, because
/// a capture may show millions of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Transmission {
    /// Its first position.
    pub(crate) start: u64,
    /// When it passed, in nanoseconds since 1970. If it never passed: when the data behind it did.
    pub(crate) nanos: u64,
    /// Sequence numbers that it takes; with SCTP, bytes of user data.
    pub(crate) len: u32,
    /// TSval; valid if it is `stamped`.
    pub(crate) stamp: Timestamp,
    /// Its place among the sender's packets by the IP identification; 0 if it has none.
    /// With a first transmission, it means something only beside a retransmission with a number.
    pub(crate) number: u32,
    /// The number of transmissions of these data so far.
    pub(crate) copies: u16,
    pub(crate) stamped: bool,
    /// Whether it never passed: lost before the capture point, late, or not captured.
    pub(crate) missing: bool,
}

impl Transmission {
    /// Returns a transmission of `len` sequence numbers from `start` on that passes at `nanos`.
    #[inline(always)]
    pub(crate) fn new(start: u64, len: u32, nanos: u64, stamp: Option<Timestamp>) -> Self {
        let stamped = stamp.is_some();
        Self { start, nanos, len, stamp: stamp.unwrap_or_default(), number: 0, copies: 1, stamped, missing: false }
    }

    /// Returns the first transmission of data that never passed.
    pub(crate) fn missing(start: u64, len: u32, nanos: u64) -> Self {
        Self { missing: true, ..Self::new(start, len, nanos, None) }
    }

    /// Returns the position behind its last one, with TCP.
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    pub(crate) fn stamp(&self) -> Option<Timestamp> {
        self.stamped.then_some(self.stamp)
    }

    /// Returns whether it passed and the data were sent only once.
    pub(crate) fn is_only_one(&self) -> bool {
        !self.missing && self.copies == 1
    }

    /// Compares when both left: by their timestamps, or by their numbers if the timestamps are equal
    /// or absent. Returns `None` if neither shows it.
    pub(crate) fn departure(&self, other: &Self) -> Option<Ordering> {
        match (self.stamp(), other.stamp()) {
            (Some(one), Some(other)) if one.precedes(other) => Some(Ordering::Less),
            (Some(one), Some(other)) if other.precedes(one) => Some(Ordering::Greater),
            _ if self.number == 0 || other.number == 0 || self.number == other.number => None,
            _ => Some((self.number.wrapping_sub(other.number) as i32).cmp(&0)),
        }
    }

    /// Returns whether the timestamps or the numbers of both show that this one left first.
    pub(crate) fn precedes(&self, other: &Self) -> bool {
        self.departure(other) == Some(Ordering::Less)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transmission_takes_32_bytes() {
        assert_eq!(size_of::<Transmission>(), 32);
    }
}
