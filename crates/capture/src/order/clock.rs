//! The sender's clock, reconstructed from its timestamps.
//!
//! Away from the sender, a segment that the path held passes later than it left. Its TSval shows
//! when it left, in ticks of the sender's clock. The length of a tick is found by comparison with
//! the capture's clock. The packets with the smallest delay give the offset between the two clocks.

use eifel_base::units::Timestamp;

/// Tick lengths that stacks use, in nanoseconds.
const TICKS: [u64; 8] = [1_000, 1_000_000, 2_000_000, 4_000_000, 10_000_000, 20_000_000, 100_000_000, 500_000_000];
/// The number of fine ticks in [`TICKS`], up to ten milliseconds. A coarser clock tells less than
/// the time of passing does.
const FINE: usize = 5;
/// The least number of ticks that bounds their length: by then the delay of one packet makes little of it.
const ENOUGH_TICKS: u64 = 4;
/// The shortest time, in nanoseconds, over which a tick length is measured.
const LONG_ENOUGH: u64 = 100_000_000;

/// Converts TSvals to the capture's time. Kept small: a capture may have a hundred thousand clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SenderClock {
    /// The first TSval, and when it passed; 0 before that.
    first: Timestamp,
    began: u64,
    /// The last TSval, and when it left by this clock, in nanoseconds. Segments with the same TSval
    /// count as having left together.
    same: Timestamp,
    left: u64,
    /// Index of its tick in [`TICKS`], once the tick is known and fine enough.
    place: Option<u8>,
    /// The shortest tick measured so far, in nanoseconds. Delays make ticks seem longer.
    seeming: u64,
    /// For each fine tick of [`TICKS`]: when a packet with the first TSval and the smallest delay
    /// would have passed, in nanoseconds.
    bases: [i64; FINE],
}

impl SenderClock {
    /// Returns the length of a tick in nanoseconds, if it is known and not coarse.
    pub(crate) fn tick(&self) -> Option<u64> {
        self.place.map(|place| TICKS[usize::from(place)])
    }

    /// Returns whether a tick is shorter than `limit`, in nanoseconds, as far as the packets show that passed
    /// until `now`. Known much sooner than the tick.
    pub(crate) fn is_shorter_than(&self, limit: u64, now: u64) -> bool {
        let ticks = u64::from(self.same.0.wrapping_sub(self.first.0));
        let passed = now.saturating_sub(self.began);
        self.began != 0 && (ENOUGH_TICKS..1 << 31).contains(&ticks) && passed < limit * ticks
    }

    /// Reads a field from each cache line of the clock.
    pub(crate) fn touch(&self) -> u64 {
        self.left ^ self.bases[FINE - 1] as u64
    }

    /// Does the same as [`left`](Self::left) if the segment carries the last TSval; otherwise
    /// returns `None`.
    #[inline(always)]
    pub(crate) fn left_with(&self, stamp: Timestamp, nanos: u64) -> Option<u64> {
        (self.began != 0 && self.same == stamp).then(|| self.left.min(nanos))
    }

    /// Returns when a segment left that carries `stamp` and passes at `nanos`; never later than
    /// `nanos`.
    #[inline]
    pub(crate) fn left(&mut self, stamp: Option<Timestamp>, nanos: u64) -> u64 {
        let Some(stamp) = stamp else { return nanos };
        if self.began == 0 || self.same != stamp {
            self.left = self.left_by(stamp, nanos).unwrap_or(u64::MAX);
            self.same = stamp;
        }
        self.left.min(nanos)
    }

    /// Returns when a segment with `stamp` left, if the clock is known and fine enough.
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
        // Ticks seldom seem shorter than all before, so the division is rare.
        if passed >= LONG_ENOUGH && passed < self.seeming.saturating_mul(ticks) {
            self.seeming = passed / ticks;
            let tick = nearest(self.seeming);
            self.place = TICKS[..FINE].iter().position(|fine| Some(*fine) == tick).map(|place| place as u8);
        }
        // A base is kept for each fine tick from the start, because a growing queue may hide the
        // smallest delay later. `seeming` only becomes shorter, so bases of longer ticks than the
        // current one are not needed any more.
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

/// Returns the tick behind a measured one. Prefers a shorter one, because delays make ticks seem
/// longer.
fn nearest(measured: u64) -> Option<u64> {
    const LEAST_OF_A_MILLISECOND: u64 = 400_000;
    let below = TICKS.into_iter().rev().find(|tick| *tick <= measured + measured / 8);
    match below {
        Some(tick) if tick == TICKS[0] && measured > LEAST_OF_A_MILLISECOND => Some(TICKS[1]),
        // TSvals that are only distinct, as some receivers ask for, are not a clock.
        Some(tick) if tick == TICKS[0] && measured > 2 * tick => None,
        _ => below,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_held_segment_left_when_its_timestamp_says() {
        let mut clock = SenderClock::default();
        let stamp = |millis: u64| Some(Timestamp((u32::MAX as u64 - 50 + millis) as u32));
        for millis in (0..400).step_by(10) {
            clock.left(stamp(millis), (1000 + millis + 30) * MS);
        }
        assert_eq!(clock.left(stamp(400), (1000 + 900) * MS), (1000 + 400 + 30) * MS);
        // A packet with a smaller delay corrects the offset between the clocks.
        assert_eq!(clock.left(stamp(410), (1000 + 410 + 20) * MS), (1000 + 410 + 20) * MS);
        assert_eq!(clock.left(stamp(420), (1000 + 900) * MS), (1000 + 420 + 20) * MS);
        assert_eq!(clock.left(None, 7), 7);
    }

    #[test]
    fn a_few_ticks_bound_their_length() {
        let mut clock = SenderClock::default();
        let known = [0, 3, 4, 5].map(|tick| {
            clock.left(Some(Timestamp(7 + tick)), (1000 + u64::from(tick)) * MS);
            clock.is_shorter_than(2 * MS, (1000 + u64::from(tick)) * MS)
        });
        assert_eq!(known, [false, false, true, true]);
        assert!(!clock.is_shorter_than(2 * MS, 1010 * MS) && !clock.is_shorter_than(MS, 1005 * MS));
    }

    #[test]
    fn a_measured_tick_is_rounded_to_one_that_stacks_use() {
        assert_eq!(
            [990_000, 500_000, 1_430_000, 1_020, 10_300_000, 100].map(nearest),
            [Some(MS), Some(MS), Some(MS), Some(1_000), Some(10 * MS), None]
        );
    }
}
