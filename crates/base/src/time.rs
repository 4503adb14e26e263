//! Time as an argument: integer nanoseconds since the start of a run. Nothing here reads a clock.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// A point in time, nanoseconds since the run began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

/// A length of time in nanoseconds; never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Instant {
    /// The beginning of a run.
    pub const ZERO: Self = Self(0);
    /// Later than every instant: a deadline that is not set.
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns the instant `nanos` nanoseconds after the beginning of the run.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns nanoseconds since the beginning of the run.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns seconds since the beginning of the run, for display only: a float decides nothing.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the time since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    pub const ZERO: Self = Self(0);
    pub const MAX: Self = Self(u64::MAX);

    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    pub const fn from_secs(secs: u64) -> Self {
        Self(secs * 1_000_000_000)
    }

    /// Returns the duration nearest to `secs`, in whole nanoseconds. Negative values and NaN become
    /// zero.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * 1e9).round() as u64)
    }

    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns seconds, for display only: a float decides nothing.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the difference, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Moves from this duration towards `other` by one part in `1 << shift`, rounded down. With a
    /// shift of 3 that is (this * 7 + other) / 8.
    pub const fn towards(self, other: Self, shift: u32) -> Self {
        let way = other.0.wrapping_sub(self.0) as i64;
        Self(self.0.wrapping_add_signed(way >> shift))
    }

    /// Returns the distance between two durations.
    pub const fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, length: Duration) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, length: Duration) {
        *self = *self + length;
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        debug_assert!(self.0 >= other.0, "a duration is never negative");
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Duration {
    type Output = Self;
    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::NEVER { f.write_str("never") } else { write!(f, "{}s", self.as_secs_f64()) }
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Digests of states rely on this, up to 2^52 ns: 52 days.
    #[test]
    fn neighbouring_nanoseconds_look_different() {
        for nanos in (0..53).flat_map(|bits| [(1 << bits) - 1, 1 << bits]).filter(|nanos| *nanos < 1 << 52) {
            let shown = |nanos| format!("{:?} {:?}", Duration::from_nanos(nanos), Instant::from_nanos(nanos));
            assert_ne!(shown(nanos), shown(nanos + 1), "{nanos} ns");
        }
    }

    #[test]
    fn adding_to_never_stays_never() {
        assert_eq!(Instant::NEVER + Duration::from_secs(1), Instant::NEVER);
    }

    #[test]
    fn since_is_never_negative() {
        let (a, b) = (Instant::from_nanos(5), Instant::from_nanos(7));
        assert_eq!(b.since(a), Duration::from_nanos(2));
        assert_eq!(a.since(b), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn going_towards_is_a_weighted_mean_rounded_down(from in 0u64..1 << 60, to in 0u64..1 << 60, shift in 0u32..4) {
            let mean = (u128::from(from) * ((1 << shift) - 1) + u128::from(to)) >> shift;
            let towards = Duration::from_nanos(from).towards(Duration::from_nanos(to), shift);
            prop_assert_eq!(u128::from(towards.as_nanos()), mean);
        }
    }

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Duration::from_secs_f64(0.195), Duration::from_millis(195));
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
        assert_eq!(Duration::from_secs_f64(f64::NAN), Duration::ZERO);
    }
}
