//! Timestamps of which each names one transmission. RFC 3522's safe variant (section 3.4) believes only the timestamp of the
//! original, and is as safe as that is hard to guess for a receiver that has had every other segment.
//!
//! A segment's timestamp is that of the one before, the time in between in ticks, and a step drawn from 1 to 64. A receiver
//! that knows the timestamps of the segments before and after a lost one, and how far apart the three left, knows the sum of
//! two steps. Its best guess of the first is right once in 32 times: sum over n of P(n) / count(n) = 127 / 4096. With fewer
//! neighbours known, once in 64. A guess that fails names a timestamp that was never sent, which is known here.
//!
//! Timestamps run ahead of the time by 33 ticks a segment, and are never set back: at 10 Gbit/s they pass half the circle in
//! 77 s, in which sequence numbers wrap twenty times. So no time is read off them: when a timestamp left is on record.

use std::collections::VecDeque;

use eifel_base::time::Instant;
use eifel_base::units::Timestamp;
use eifel_recovery::fact::Echo;
use eifel_recovery::scoreboard::Scoreboard;

use eifel_base::siphash::{Secret, siphash};

/// Bits of a step, less one.
const STEP_BITS: u32 = 6;
/// Above the ten steps that a word holds.
const WORD_END: u64 = 1 << 60;
/// The most ticks by which the time between two segments tells their timestamps apart.
const LONGEST_ADVANCE_BITS: u32 = 20;
/// Retransmissions on record beyond as many as there are originals.
const SPARE_AGAIN: usize = 16;

/// A segment that was sent for the first time. Its own timestamp stands on the scoreboard.
#[derive(Clone, Copy, Debug)]
struct Original {
    at: Instant,
    /// The timestamp of the segment before: none was sent between the two.
    after: Timestamp,
}

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
struct Again {
    at: Instant,
    value: Timestamp,
    /// As with an original.
    after: Timestamp,
}

/// Draws timestamps, and tells those that were sent from those that were not.
#[derive(Clone, Debug)]
pub(crate) struct Distinct {
    secret: Secret,
    /// Which connection's words, and which of them is next.
    connection: u64,
    next_word: u64,
    /// Steps that are drawn and not used, the next in the lowest bits.
    word: u64,
    last: Timestamp,
    last_at: Instant,
    /// Ticks in a nanosecond, times 2^64; and the longest time that is counted, in nanoseconds.
    ticks_per_nano: u64,
    longest_advance: u64,
    /// The last stands beside the scoreboard's last segment, the one before it beside the one before, and so on.
    originals: VecDeque<Original>,
    /// Segments that were sent again meanwhile.
    again: VecDeque<Again>,
}

impl Distinct {
    /// The first timestamp follows `shown`, what the clock shows at `now`. `connection` tells it from others with the same
    /// secret.
    pub(crate) fn new(secret: Secret, connection: u64, granularity: u64, now: Instant, shown: Timestamp) -> Self {
        let mut distinct = Self {
            secret,
            connection,
            next_word: 0,
            word: 0,
            last: shown,
            last_at: now,
            ticks_per_nano: u64::MAX / granularity,
            longest_advance: granularity.saturating_mul(1 << LONGEST_ADVANCE_BITS),
            originals: VecDeque::new(),
            again: VecDeque::new(),
        };
        distinct.draw();
        distinct
    }

    #[inline(never)]
    fn draw(&mut self) {
        self.word = WORD_END | (siphash(&self.secret, &[self.connection, self.next_word]) % WORD_END);
        self.next_word += 1;
    }

    /// Returns TSval of a segment that would leave now.
    #[inline]
    pub(crate) fn value(&self, now: Instant) -> Timestamp {
        let nanos = now.since(self.last_at).as_nanos().min(self.longest_advance);
        let ticks = ((u128::from(nanos) * u128::from(self.ticks_per_nano)) >> 64) as u32;
        let step = (self.word as u32 & ((1 << STEP_BITS) - 1)) + 1;
        Timestamp(self.last.0.wrapping_add(ticks).wrapping_add(step))
    }

    /// Takes note that a segment has left with `value`, which [`value`](Self::value) gave. Returns the timestamp before.
    #[inline]
    pub(crate) fn leaves(&mut self, now: Instant, value: Timestamp) -> Timestamp {
        self.last_at = now;
        self.word >>= STEP_BITS;
        if self.word == 1 {
            self.draw();
        }
        std::mem::replace(&mut self.last, value)
    }

    /// Takes note of a segment that left for the first time, and stands on the scoreboard.
    #[inline]
    pub(crate) fn sent(&mut self, now: Instant, value: Timestamp) {
        let after = self.leaves(now, value);
        self.originals.push_back(Original { at: now, after });
    }

    /// Takes note of a segment that left again. A peer may have the same segments sent again and again: beyond the limit,
    /// the oldest are forgotten.
    pub(crate) fn sent_again(&mut self, now: Instant, value: Timestamp) {
        let after = self.leaves(now, value);
        if self.again.len() >= self.originals.len() + SPARE_AGAIN {
            self.again.pop_front();
        }
        self.again.push_back(Again { at: now, value, after });
    }

    /// Returns what an echo says; `None` if it is older than all that is outstanding. `board` has not yet taken in the
    /// acknowledgement that brought it.
    #[inline]
    pub(crate) fn believe(&mut self, now: Instant, echo: Timestamp, board: &Scoreboard) -> Option<Echo> {
        while self.originals.len() > board.segments() {
            self.originals.pop_front();
        }
        let oldest = board.oldest()?.stamp()?;
        // Nearly always: the oldest that is outstanding is acknowledged.
        if oldest == echo {
            return Some(Echo::Known { value: echo, age: now.since(self.originals.front()?.at) });
        }
        self.believe_other(now, echo, oldest, board)
    }

    #[inline(never)]
    fn believe_other(&mut self, now: Instant, echo: Timestamp, oldest: Timestamp, board: &Scoreboard) -> Option<Echo> {
        while self.again.front().is_some_and(|again| again.value.precedes(oldest)) {
            self.again.pop_front();
        }
        if echo.precedes(oldest) {
            return self.originals.front()?.after.precedes(echo).then_some(Echo::Forged);
        }
        let originals = board.stamped_up_to(echo);
        let again = self.again.partition_point(|again| !echo.precedes(again.value));
        // Whether it lies between the timestamps of a segment on record and of the segment before that one.
        let next = [self.originals.get(originals).map(|next| next.after), self.again.get(again).map(|next| next.after)];
        if self.last.precedes(echo) || next.into_iter().flatten().any(|after| after.precedes(echo)) {
            return Some(Echo::Forged);
        }
        // When what carried it left: an acknowledgement's timestamp is not on record, but it came later than these.
        let original = originals.checked_sub(1).map(|place| self.originals[place].at);
        let again = again.checked_sub(1).map(|place| self.again[place].at);
        original.max(again).map(|at| Echo::Known { value: echo, age: now.since(at) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Duration;
    use eifel_recovery::fact::Ack;

    const MICROSECOND: u64 = 1000;

    fn distinct(secret: Secret) -> Distinct {
        Distinct::new(secret, 0, MICROSECOND, Instant::ZERO, Timestamp(u32::MAX - 100_000))
    }

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    fn ahead(later: Timestamp, earlier: Timestamp) -> u32 {
        later.0.wrapping_sub(earlier.0)
    }

    #[test]
    fn each_is_later_by_the_time_and_a_step_and_no_longer_time_than_a_second() {
        let mut distinct = distinct([1, 2]);
        let (mut now, mut last) = (0, distinct.last);
        let mut seen = [0; 65];
        for round in 0..100_000 {
            let gap = [0, 0, 0, 1, 1000, 70_000_000][round % 6];
            now += gap;
            let value = distinct.value(at(now));
            assert_eq!(distinct.value(at(now)), value);
            distinct.leaves(at(now), value);
            let least = (gap as u32).min(1 << 20);
            // The last tick is not reached where the reciprocal is rounded down.
            let step = ahead(value, last).wrapping_sub(least.saturating_sub(1));
            assert!((1..=65).contains(&step), "{gap}: {step}");
            if gap == 0 {
                seen[ahead(value, last) as usize] += 1;
            }
            last = value;
        }
        // Each step as often as any other: 50 000 draws of 64, within six standard deviations.
        assert!(seen[1..].iter().all(|&count: &i32| (781 - count).abs() < 170), "{seen:?}");
    }

    #[test]
    fn steps_depend_on_the_secret_and_on_the_connection() {
        let steps = |secret, connection| {
            let mut distinct = Distinct::new(secret, connection, MICROSECOND, Instant::ZERO, Timestamp(0));
            let mut step = || {
                let value = distinct.value(Instant::ZERO);
                ahead(value, distinct.leaves(Instant::ZERO, value))
            };
            (0..40).map(|_| step()).collect::<Vec<_>>()
        };
        assert_ne!(steps([1, 2], 3), steps([1, 3], 3));
        assert_ne!(steps([1, 2], 3), steps([1, 2], 4));
        assert_eq!(steps([1, 2], 3), steps([1, 2], 3));
    }

    fn bare(cumulative: u64) -> Ack<'static> {
        Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain: true, ece: false }
    }

    /// Everything that was ever sent, without a thought for memory.
    #[derive(Default)]
    struct Naive {
        /// Timestamp, when it left, and what it was.
        all: Vec<(u32, Instant, What)>,
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    enum What {
        Original(u64),
        Again,
        Bare,
    }

    impl Naive {
        fn believe(&self, now: Instant, first: u32, echo: u32, una: u64) -> Option<Echo> {
            let place = |value: u32| value.wrapping_sub(first);
            let originals = self.all.iter().filter_map(|&(value, _, what)| match what {
                What::Original(start) => Some((start, value)),
                _ => None,
            });
            let (_, oldest) = originals.clone().rev().find(|&(start, _)| start <= una).or(originals.clone().next())?;
            let exact = self.all.iter().find(|&&(value, ..)| value == echo);
            if exact.is_none() {
                // Below the timestamp before the oldest nothing is known any more.
                let before = self.all.iter().rev().find(|&&(value, ..)| place(value) < place(oldest));
                let forgotten = before.map_or(first, |&(value, ..)| value);
                let known = (1..1 << 31).contains(&echo.wrapping_sub(forgotten));
                return if known { Some(Echo::Forged) } else { None };
            }
            if place(echo) < place(oldest) {
                return None;
            }
            let on_record = |what| what != What::Bare;
            let at = self.all.iter().rev().find(|&&(value, _, what)| place(value) <= place(echo) && on_record(what));
            at.map(|&(_, at, _)| Echo::Known { value: Timestamp(echo), age: now.since(at) })
        }
    }

    /// The record against one that keeps everything. What is between an acknowledgement's timestamp and its neighbours cannot
    /// be told from that timestamp: there the two may differ, in the peer's favour.
    #[test]
    fn echoes_are_believed_as_a_naive_record_has_it() {
        let mut random = 1u64;
        let mut below = |count: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % count
        };
        let (mut plausible, mut forged, mut favoured) = (0, 0, 0);
        for connection in 0..200 {
            let mut distinct = distinct([connection, below(1 << 31)]);
            let (first, mut naive) = (distinct.last.0, Naive::default());
            let (mut now, mut una, mut nxt) = (0, 1, 1);
            let mut board = Scoreboard::default();
            board.skip_to(1);
            for _ in 0..200 {
                now += [0, 0, 0, 7, 40_000][below(5) as usize];
                let value = distinct.value(at(now));
                match below(6) {
                    0..=2 => {
                        distinct.sent(at(now), value);
                        board.on_new(at(now), 1000, Some(value));
                        naive.all.push((value.0, at(now), What::Original(nxt)));
                        nxt += 1000;
                    }
                    3 if una < nxt => {
                        distinct.sent_again(at(now), value);
                        naive.all.push((value.0, at(now), What::Again));
                    }
                    4 => {
                        distinct.leaves(at(now), value);
                        naive.all.push((value.0, at(now), What::Bare));
                    }
                    _ if una < nxt => {
                        let recent = 1 + below(20.min(naive.all.len() as u64)) as usize;
                        let sent = naive.all[naive.all.len() - recent].0;
                        let echo = sent.wrapping_add(below(5) as u32).wrapping_sub(2);
                        let expected = naive.believe(at(now), first, echo, una);
                        let believed = distinct.believe(at(now), Timestamp(echo), &board);
                        match (believed, expected) {
                            (Some(Echo::Known { .. }), Some(Echo::Forged)) => favoured += 1,
                            _ => assert_eq!(believed, expected, "{echo}, {una}: {:?}", naive.all),
                        }
                        plausible += u32::from(matches!(believed, Some(Echo::Known { .. })));
                        forged += u32::from(believed == Some(Echo::Forged));
                        una += 1000 * below(((nxt - una) / 1000 + 1).min(3));
                        board.on_ack(&bare(una), false);
                    }
                    _ => {}
                }
            }
        }
        assert!(plausible > 1000 && forged > 1000 && favoured < forged, "{plausible} {forged} {favoured}");
    }

    #[test]
    fn a_peer_that_asks_for_the_same_again_and_again_costs_no_memory() {
        let mut distinct = distinct([1, 2]);
        let mut board = Scoreboard::default();
        board.on_new(at(0), 1000, Some(distinct.value(at(0))));
        distinct.sent(at(0), distinct.value(at(0)));
        for now in 1..10_000 {
            distinct.sent_again(at(now), distinct.value(at(now)));
        }
        assert!(distinct.again.len() <= 1 + SPARE_AGAIN);
        let newest = distinct.last;
        assert_eq!(
            distinct.believe(at(10_000), newest, &board),
            Some(Echo::Known { value: newest, age: Duration::from_micros(1) })
        );
    }
}
