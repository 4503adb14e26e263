//! Finds the time range in which a segment that passes here left the sender.
//!
//! A path that holds packets shows a silence, then a burst of the packets that left meanwhile. So
//! each segment of the burst may have left at any time since the silence began. Only timestamps of
//! a fine clock tell more.

/// A pause is this many times as long as the usual time between two segments.
const MANY: u64 = 4;

/// A link of half a megabit per second takes this time for a segment, in nanoseconds. Longer pauses are the sender's.
const SLOWEST_LINK: u64 = 24_000_000;

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

/// A segment that left after a silence while nothing was outstanding. After a timeout a sender's window is one
/// segment, so that its next one waits for the ACK of the first. Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Resumed {
    /// How long nothing had passed before it, in either direction.
    silence: u64,
    /// When it left.
    at: u64,
    /// Where it ends.
    end: u64,
    /// The time from it to the data that left next, if these did not follow directly.
    alone: u64,
}

impl Resumed {
    /// Returns a segment that leaves at `at` and ends at `end`, after `silence`.
    #[inline(always)]
    pub(crate) fn new(silence: u64, at: u64, end: u64) -> Self {
        Self { silence, at, end, alone: 0 }
    }

    /// Records data that leave at `now`, while everything up to `nxt` had left.
    pub(crate) fn on_jump(&mut self, nxt: u64, now: u64) {
        if self.end == nxt {
            self.alone = now.saturating_sub(self.at);
        }
    }

    /// Returns how long the silence was before the segment that ends at `position`, and how long that was alone, if
    /// the next one left a `round_trip` later.
    pub(crate) fn silence_before(&self, position: u64, round_trip: u64) -> Option<(u64, u64)> {
        let is_alone = self.alone > 0 && self.alone >= round_trip - round_trip / 16;
        (self.end == position && is_alone).then_some((self.silence, self.alone))
    }
}

/// Pauses in which a timer of the sender can have expired.
///
/// Without timestamps, only the shortest round trip is known far from the sender, and a slow link spaces segments
/// by more than that. So a pause is also several times as long as the usual time between two segments. Times in
/// nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pauses {
    /// When the latest segment passed.
    last: u64,
    /// The usual time between two segments.
    spacing: u64,
    /// About the shortest time of late between two segments before the last one; 0 if it is not known.
    shortest: u64,
    /// The time between the last two; 0 before them.
    gap: u64,
    /// The least time between two segments that is a pause.
    least: u64,
    /// When the last pause ended.
    ended: u64,
}

impl Pauses {
    /// Records a segment that passes at `now`. A pause lasts for `least` or longer.
    pub(crate) fn on_sent(&mut self, now: u64, least: u64) {
        let gap = if self.last == 0 { 0 } else { now.saturating_sub(self.last) };
        self.least = least.max(self.usual());
        if gap >= self.least {
            self.ended = now;
        }
        self.spacing = (7 * self.spacing + gap.min(self.least)) / 8;
        // A path that held packets shows them close together, so the shortest time grows again.
        let grown = if self.shortest == 0 { u64::MAX } else { self.shortest + self.shortest / 8 + 1 };
        self.shortest = self.gap.min(grown);
        self.gap = gap;
        self.last = now;
    }

    /// Returns how long the slowest link takes for a segment: about the shortest time of late between two before the
    /// last one.
    pub(crate) fn link_time(&self) -> u64 {
        self.shortest.min(SLOWEST_LINK)
    }

    /// Returns the longest time that may pass between two segments without a pause.
    pub(crate) fn usual(&self) -> u64 {
        MANY * self.spacing
    }

    /// Returns whether there was no pause from `since` to `now`.
    pub(crate) fn is_without(&self, since: u64, now: u64) -> bool {
        self.ended <= since && now.saturating_sub(self.last) < self.least
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
    fn a_pause_is_longer_than_a_round_trip_and_than_the_spacing_of_a_slow_link() {
        let pauses = |gaps: &[u64], least| {
            let (mut pauses, mut now, mut ended) = (Pauses::default(), 1000 * MS, Vec::new());
            pauses.on_sent(now, least);
            for gap in gaps {
                let before = now;
                now += gap * MS;
                pauses.on_sent(now, least);
                ended.push(!pauses.is_without(before, now));
            }
            ended
        };
        assert_eq!(pauses(&[4, 5, 6, 4], 5 * MS), [false, true, true, false]);
        // A link that sends a segment in 9 ms shows pauses of a round trip only at first.
        let usual = [9; 8];
        let shown = pauses(&[&usual[..], &[20, 9, 60]].concat(), 5 * MS);
        assert_eq!(shown[4..], [false, false, false, false, false, false, true]);
    }

    #[test]
    fn a_segment_is_alone_after_a_silence_if_the_next_one_waits_for_its_ack() {
        let silence_before = |nxt, alone: u64, position| {
            let mut resumed = Resumed::new(300 * MS, 1000 * MS, 30);
            resumed.on_jump(nxt, (1000 + alone) * MS);
            resumed.silence_before(position, 50 * MS)
        };
        assert_eq!(silence_before(30, 50, 30), Some((300 * MS, 50 * MS)));
        assert_eq!([silence_before(30, 47, 30), silence_before(30, 46, 30)], [Some((300 * MS, 47 * MS)), None]);
        assert_eq!([silence_before(40, 50, 30), silence_before(30, 50, 40)], [None; 2]);
        assert_eq!(Resumed::new(300 * MS, 1000 * MS, 30).silence_before(30, 0), None);
    }

    #[test]
    fn a_slow_link_shows_how_long_it_takes_for_a_segment() {
        let mut pauses = Pauses::default();
        let mut link_time = |now| {
            pauses.on_sent(now, MS);
            pauses.link_time()
        };
        assert_eq!([1000, 1100, 1104, 1105, 1109].map(&mut link_time), [0, 0, 100, 4, 1]);
        // A burst is forgotten.
        (2..100).for_each(|number| _ = link_time(1100 + 9 * number));
        assert_eq!(link_time(9000), 9);
        // No link takes as long as an idle sender.
        let mut idle = Pauses::default();
        [1000, 2000, 3000].iter().for_each(|second| idle.on_sent(second * 1000 * MS, MS));
        assert_eq!(idle.link_time(), SLOWEST_LINK);
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
