//! The sender's clock, as its timestamps show it.
//!
//! Away from the sender, a segment that a path has held passes later than it left. TSval says when it left, in ticks of a clock
//! whose rate is found by comparing it with the capture's; the packets that were delayed the least tie the two together.

use eifel_base::units::Timestamp;

/// Ticks that stacks use, in nanoseconds.
const TICKS: [u64; 8] = [1_000, 1_000_000, 2_000_000, 4_000_000, 10_000_000, 20_000_000, 100_000_000, 500_000_000];
/// How many of them are fine enough, up to ten milliseconds: a coarser clock tells less than the time of passing does.
const FINE: usize = 5;
/// Over less than this, in nanoseconds, a rate says little.
const LONG_ENOUGH: u64 = 100_000_000;

/// Turns TSvals into the capture's time. A capture may hold a hundred thousand of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    /// The first TSval, and when it passed; 0 before that.
    first: Timestamp,
    began: u64,
    /// The TSval that came last, and when it left by this clock: others of the same tick left with it.
    same: Timestamp,
    left: u64,
    /// The place of its tick in [`TICKS`], once that is known, if it is fine enough.
    place: Option<u8>,
    /// The smallest time a tick has seemed to take: delays make it seem longer.
    seeming: u64,
    /// For each of [`TICKS`] that is fine enough: the capture's time at the first TSval, less the smallest delay.
    bases: [i64; FINE],
}

impl Clock {
    /// Whether its ticks are shorter than any sender takes to send something again.
    pub(super) fn is_fine(&self) -> bool {
        self.place.is_some()
    }

    /// Reads something from the parts of it that a cache loads at once.
    pub(super) fn touch(&self) -> u64 {
        self.left ^ self.bases[FINE - 1] as u64
    }

    /// The same as [`left`](Self::left), if the segment carries the same as the last one.
    #[inline(always)]
    pub(super) fn left_with(&self, stamp: Timestamp, nanos: u64) -> Option<u64> {
        (self.began != 0 && self.same == stamp).then(|| self.left.min(nanos))
    }

    /// When a segment left that carries `stamp` and passes at `nanos`: not later than that.
    #[inline]
    pub(super) fn left(&mut self, stamp: Option<Timestamp>, nanos: u64) -> u64 {
        let Some(stamp) = stamp else { return nanos };
        if self.began == 0 || self.same != stamp {
            self.left = self.left_by(stamp, nanos).unwrap_or(u64::MAX);
            self.same = stamp;
        }
        self.left.min(nanos)
    }

    /// When a segment that carries `stamp` left, if the clock is known and fine enough.
    fn left_by(&mut self, stamp: Timestamp, nanos: u64) -> Option<u64> {
        if self.began == 0 {
            (self.first, self.began, self.seeming) = (stamp, nanos, u64::MAX);
            self.bases = [nanos as i64; FINE];
            return None;
        }
        let ticks = u64::from(stamp.0.wrapping_sub(self.first.0));
        if ticks >= 1 << 31 {
            return None;
        }
        let passed = nanos.saturating_sub(self.began);
        // Few ticks seem shorter than all before, so that few need the division.
        if passed >= LONG_ENOUGH && passed < self.seeming.saturating_mul(ticks) {
            self.seeming = passed / ticks;
            let tick = nearest(self.seeming);
            self.place = TICKS[..FINE].iter().position(|fine| Some(*fine) == tick).map(|place| place as u8);
        }
        // All of them are kept from the start: a queue that grows hides the smallest delay later. What a tick seems to take only
        // becomes shorter, so that ticks which are longer than the one that was found do not come back.
        let place = self.place.map(usize::from);
        let kept = place.map_or(FINE, |place| place + 1);
        for (base, tick) in self.bases.iter_mut().zip(TICKS).take(kept) {
            *base = (*base).min(nanos as i64 - (ticks * tick) as i64);
        }
        let place = place?;
        let elapsed = (ticks * TICKS[place]) as i64;
        Some(self.bases[place].saturating_add(elapsed) as u64)
    }
}

/// The tick behind what was measured: rather a shorter one, because delays are in it.
fn nearest(measured: u64) -> Option<u64> {
    const LEAST_OF_A_MILLISECOND: u64 = 400_000;
    let below = TICKS.into_iter().rev().find(|tick| *tick <= measured + measured / 8);
    match below {
        Some(tick) if tick == TICKS[0] && measured > LEAST_OF_A_MILLISECOND => Some(TICKS[1]),
        // Values of their own, as some receivers ask for, are no clock.
        Some(tick) if tick == TICKS[0] && measured > 2 * tick => None,
        _ => below,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn what_was_held_left_before_it_passed() {
        let mut clock = Clock::default();
        let stamp = |millis: u64| Some(Timestamp((u32::MAX as u64 - 50 + millis) as u32));
        for millis in (0..400).step_by(10) {
            clock.left(stamp(millis), (1000 + millis + 30) * MS);
        }
        assert_eq!(clock.left(stamp(400), (1000 + 900) * MS), (1000 + 400 + 30) * MS);
        // A packet that was delayed less ties the clocks together anew.
        assert_eq!(clock.left(stamp(410), (1000 + 410 + 20) * MS), (1000 + 410 + 20) * MS);
        assert_eq!(clock.left(stamp(420), (1000 + 900) * MS), (1000 + 420 + 20) * MS);
        assert_eq!(clock.left(None, 7), 7);
    }

    #[test]
    fn ticks_are_those_that_stacks_use() {
        assert_eq!(
            [990_000, 500_000, 1_430_000, 1_020, 10_300_000, 100].map(nearest),
            [Some(MS), Some(MS), Some(MS), Some(1_000), Some(10 * MS), None]
        );
    }
}
