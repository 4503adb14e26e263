//! When a segment that passes here may have left.
//!
//! A path that holds packets shows a silence, and then a burst of the packets that have left meanwhile. So each segment of the
//! burst may have left at any time since the silence began. Only timestamps of a fine clock say more.

/// A round trip before one is known, in nanoseconds.
const AT_FIRST: u64 = 200_000_000;

/// The last silence in which nothing passed from the sender, and the end of the burst that follows it. Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// When the last segment passed before the silence.
    silent_since: u64,
    /// When the first segment passed after it.
    until: u64,
    /// When the last segment passed.
    last: u64,
    /// Whether others have passed since the silence.
    in_burst: bool,
}

impl Held {
    /// Takes note of a segment that passes at `now`. A silence is as long as the smoothed round trip.
    pub(super) fn on_sent(&mut self, now: u64, smoothed: Option<u64>) {
        if now.saturating_sub(self.last) >= smoothed.unwrap_or(AT_FIRST) {
            (self.silent_since, self.until, self.in_burst) = (self.last, now, false);
        } else {
            self.in_burst = true;
        }
        self.last = now;
    }

    /// Returns the earliest time at which a segment that passes at `now` may have left. Nothing says that the
    /// first one after a silence was held.
    pub(super) fn earliest(&self, now: u64) -> u64 {
        if self.in_burst { self.silent_since } else { now }
    }

    /// The same for one that passed before, at `passed`.
    pub(super) fn earliest_before(&self, passed: u64) -> u64 {
        if passed >= self.until { self.silent_since } else { passed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_burst_after_a_silence_may_have_been_held_since_it_began() {
        let mut held = Held::default();
        for now in [1000, 1010, 1020] {
            held.on_sent(now * MS, Some(50 * MS));
        }
        // Nothing says that the first one was held.
        held.on_sent(1500 * MS, Some(50 * MS));
        assert_eq!(held.earliest(1500 * MS), 1500 * MS);
        held.on_sent(1500 * MS, Some(50 * MS));
        assert_eq!(held.earliest(1500 * MS), 1020 * MS);
        assert_eq!(held.earliest_before(1010 * MS), 1010 * MS);
        assert_eq!(held.earliest_before(1500 * MS), 1020 * MS);
    }

    #[test]
    fn shorter_than_a_round_trip_is_no_silence() {
        let mut held = Held::default();
        for now in [1000, 1180, 1190] {
            held.on_sent(now * MS, None);
        }
        assert_eq!(held.earliest(1190 * MS), 0);
        held.on_sent(1390 * MS, None);
        assert_eq!(held.earliest(1390 * MS), 1390 * MS);
    }
}
