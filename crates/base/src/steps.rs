//! Timestamps that each identify one transmission. RFC 3522's safe variant (section 3.4) accepts
//! only the timestamp of the original transmission. It is as safe as that timestamp is hard to
//! guess for a receiver that has got every other packet.
//!
//! A packet's timestamp is the sum of the previous packet's timestamp, the time in between in
//! ticks, and a step drawn from 1 to 64. Assume that a receiver knows the timestamps of the packets
//! before and after a lost packet, and the times between the three. It then knows the sum of two
//! steps. Its best guess of the first step is right once in 32 times: sum over n of P(n) / count(n)
//! = 127 / 4096. With fewer neighbours known, it is right once in 64 times. A wrong guess names a
//! timestamp that was never sent. The sender detects this if it keeps the timestamps that were
//! sent.
//!
//! Timestamps run ahead of the time by 33 ticks per packet, and are never set back. At 10 Gbit/s
//! they pass half the circle in 77 s, while TCP's sequence numbers wrap twenty times. So they do
//! not tell the time: the sender records when each packet left.

use crate::siphash::{Secret, siphash};
use crate::time::Instant;
use crate::units::Timestamp;

/// Bits of a step, less one.
const STEP_BITS: u32 = 6;
/// Marks the end of a word, above the ten steps that the word holds.
const WORD_END: u64 = 1 << 60;
/// Binary logarithm of the most ticks that the time between two packets adds.
const LONGEST_ADVANCE_BITS: u32 = 20;

/// Draws timestamps. See the module's documentation.
#[derive(Clone, Debug)]
pub struct Steps {
    secret: Secret,
    /// Number of the connection, and of its next word.
    connection: u64,
    next_word: u64,
    /// Steps that are drawn and not yet used, the next in the lowest bits.
    word: u64,
    last: Timestamp,
    last_at: Instant,
    /// Ticks per nanosecond, times 2^64; and the longest time that is counted, in nanoseconds.
    ticks_per_nano: u64,
    longest_advance: u64,
}

impl Steps {
    /// Makes the timestamps of a connection. The first follows `shown`, the clock's value at `now`.
    /// A tick has `granularity` nanoseconds, at least 1. `connection` distinguishes connections
    /// with the same secret.
    pub fn new(secret: Secret, connection: u64, granularity: u64, now: Instant, shown: Timestamp) -> Self {
        let mut steps = Self {
            secret,
            connection,
            next_word: 0,
            word: 0,
            last: shown,
            last_at: now,
            ticks_per_nano: u64::MAX / granularity,
            longest_advance: granularity.saturating_mul(1 << LONGEST_ADVANCE_BITS),
        };
        steps.draw();
        steps
    }

    #[inline(never)]
    fn draw(&mut self) {
        self.word = WORD_END | (siphash(&self.secret, &[self.connection, self.next_word]) % WORD_END);
        self.next_word += 1;
    }

    /// Returns the timestamp of a packet that would leave at `now`.
    #[inline]
    pub fn value(&self, now: Instant) -> Timestamp {
        let nanos = now.since(self.last_at).as_nanos().min(self.longest_advance);
        let ticks = ((u128::from(nanos) * u128::from(self.ticks_per_nano)) >> 64) as u32;
        let step = (self.word as u32 & ((1 << STEP_BITS) - 1)) + 1;
        Timestamp(self.last.0.wrapping_add(ticks).wrapping_add(step))
    }

    /// Records that a packet left with the timestamp `value`, which [`value`](Self::value)
    /// returned. Returns the previous timestamp.
    #[inline]
    pub fn leaves(&mut self, now: Instant, value: Timestamp) -> Timestamp {
        self.last_at = now;
        self.word >>= STEP_BITS;
        if self.word == 1 {
            self.draw();
        }
        std::mem::replace(&mut self.last, value)
    }

    /// Returns the newest timestamp that has been sent.
    #[inline]
    pub fn last(&self) -> Timestamp {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    const MICROSECOND: u64 = 1000;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    fn ahead(later: Timestamp, earlier: Timestamp) -> u32 {
        later.0.wrapping_sub(earlier.0)
    }

    #[test]
    fn each_value_advances_by_the_elapsed_time_and_a_step() {
        let mut steps = Steps::new([1, 2], 0, MICROSECOND, Instant::ZERO, Timestamp(u32::MAX - 100_000));
        let (mut now, mut last) = (0, steps.last);
        let mut seen = [0; 65];
        for round in 0..100_000 {
            let gap = [0, 0, 0, 1, 1000, 70_000_000][round % 6];
            now += gap;
            let value = steps.value(at(now));
            assert_eq!(steps.value(at(now)), value);
            steps.leaves(at(now), value);
            let least = (gap as u32).min(1 << 20);
            // The last tick is not reached where the reciprocal is rounded down.
            let step = ahead(value, last).wrapping_sub(least.saturating_sub(1));
            assert!((1..=65).contains(&step), "{gap}: {step}");
            if gap == 0 {
                seen[ahead(value, last) as usize] += 1;
            }
            last = value;
        }
        // All steps are equally frequent: 50 000 draws from 64 values, within six standard
        // deviations.
        assert!(seen[1..].iter().all(|&count: &i32| (781 - count).abs() < 170), "{seen:?}");
    }

    #[test]
    fn steps_depend_on_the_secret_and_on_the_connection() {
        let drawn = |secret, connection| {
            let mut steps = Steps::new(secret, connection, MICROSECOND, Instant::ZERO, Timestamp(0));
            let mut step = || {
                let value = steps.value(Instant::ZERO);
                ahead(value, steps.leaves(Instant::ZERO, value))
            };
            (0..40).map(|_| step()).collect::<Vec<_>>()
        };
        assert_ne!(drawn([1, 2], 3), drawn([1, 3], 3));
        assert_ne!(drawn([1, 2], 3), drawn([1, 2], 4));
        assert_eq!(drawn([1, 2], 3), drawn([1, 2], 3));
    }
}
