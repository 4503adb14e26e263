//! Finds the time range in which a segment that passes here left the sender.
//!
//! A path that holds packets shows a silence, then a burst of the packets that left meanwhile. So
//! each segment of the burst may have left at any time since the silence began. Only timestamps of
//! a fine clock tell more.

/// The assumed round trip before one is known, in nanoseconds.
const AT_FIRST: u64 = 200_000_000;

/// The last silence in which nothing passed from the sender, and the end of the burst that
/// followed. Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Silence {
    /// When the last segment before the silence passed.
    silent_since: u64,
    /// When the first segment after the silence passed.
    until: u64,
    /// When the latest segment passed.
    last: u64,
    /// Whether more than one segment has passed since the silence.
    in_burst: bool,
    /// The smoothed round trip, in nanoseconds.
    pub(crate) smoothed: Option<u64>,
}

impl Silence {
    /// Returns the start, with a smoothed round trip in nanoseconds.
    pub(crate) fn new(smoothed: Option<u64>) -> Self {
        Self { smoothed, ..Self::default() }
    }

    /// Records a segment that passes at `now`. A silence lasts for the smoothed round trip or
    /// longer.
    pub(crate) fn on_sent(&mut self, now: u64) {
        if now.saturating_sub(self.last) >= self.smoothed.unwrap_or(AT_FIRST) {
            (self.silent_since, self.until, self.in_burst) = (self.last, now, false);
        } else {
            self.in_burst = true;
        }
        self.last = now;
    }

    /// Returns the earliest time at which a segment that passes at `now` may have left. The first
    /// segment after a silence is not assumed to have been silence.
    pub(crate) fn earliest(&self, now: u64) -> u64 {
        if self.in_burst { self.silent_since } else { now }
    }

    /// Returns whether the silence ended less than `within` before `now`.
    pub(crate) fn ended_within(&self, now: u64, within: u64) -> bool {
        now.saturating_sub(self.until) < within
    }

    /// Does the same for a segment that passed earlier, at `passed`.
    pub(crate) fn earliest_before(&self, passed: u64) -> u64 {
        if passed >= self.until { self.silent_since } else { passed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_burst_after_a_silence_may_have_left_since_the_silence_began() {
        let mut silence = Silence::new(Some(50 * MS));
        for now in [1000, 1010, 1020] {
            silence.on_sent(now * MS);
        }
        // The first segment is not assumed to have been silence.
        silence.on_sent(1500 * MS);
        assert_eq!(silence.earliest(1500 * MS), 1500 * MS);
        silence.on_sent(1500 * MS);
        assert_eq!(silence.earliest(1500 * MS), 1020 * MS);
        assert_eq!(silence.earliest_before(1010 * MS), 1010 * MS);
        assert_eq!(silence.earliest_before(1500 * MS), 1020 * MS);
    }

    #[test]
    fn a_gap_shorter_than_a_round_trip_is_no_silence() {
        let mut silence = Silence::default();
        for now in [1000, 1180, 1190] {
            silence.on_sent(now * MS);
        }
        assert_eq!(silence.earliest(1190 * MS), 0);
        silence.on_sent(1390 * MS);
        assert_eq!(silence.earliest(1390 * MS), 1390 * MS);
    }
}
