//! Rates, and the timestamps of RFC 7323 as the detectors compare them.

use crate::time::Duration;

/// Bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rate(u64);

impl Rate {
    /// Makes a rate; `None` for zero. A link that never sends is a spike or an outage.
    pub const fn from_bps(bits_per_second: u64) -> Option<Self> {
        if bits_per_second == 0 { None } else { Some(Self(bits_per_second)) }
    }

    /// Returns bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the transmission time of `bytes`, to the nearest nanosecond.
    pub fn time_for(self, bytes: u32) -> Duration {
        let bit_nanos = u64::from(bytes) * 8 * 1_000_000_000;
        Duration::from_nanos((bit_nanos + self.0 / 2) / self.0)
    }
}

/// A value of the TCP timestamps option: 32 bits that wrap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Timestamp(pub u32);

impl Timestamp {
    /// Returns whether this value came before `later` (RFC 7323, section 5.2: less than half the
    /// circle away).
    pub const fn precedes(self, later: Self) -> bool {
        let distance = later.0.wrapping_sub(self.0);
        distance as i32 > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kilobyte_at_two_megabits_takes_four_milliseconds() {
        assert_eq!(Rate::from_bps(2_000_000).unwrap().time_for(1000), Duration::from_millis(4));
    }

    #[test]
    fn timestamps_compare_across_the_wrap() {
        assert!(Timestamp(u32::MAX).precedes(Timestamp(0)));
        assert!(!Timestamp(0).precedes(Timestamp(u32::MAX)));
        assert!(!Timestamp(7).precedes(Timestamp(7)));
    }
}
