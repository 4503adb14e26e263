//! Compares the sender's flight size before and after retransmissions.
//!
//! Finds whether the flight size recovers soon after the recovery ends, how many bytes are missing
//! from it until then, and for how long. Only a capture next to the sender shows its flight size.
//!
//! Retransmissions form a group: all that leave until all data are acknowledged that were
//! outstanding at the first of them. A stack needs that long to reduce its window (RFC 6937).

use crate::result::{Cause, Cost, StackReaction, Vantage};
use eifel_base::ranges::Block;
use std::ops::Range;

/// Round trips within which a stack that undid its reaction fills the path again.
const ROUND_TRIPS: u64 = 2;
/// The percentages of the earlier flight size at which it counts as recovered, as never reduced, and as
/// reduced. Stacks reduce to 50 % or 70 %, and then grow by a few segments.
const RECOVERED: u64 = 90;
const KEPT: u64 = 95;
const REDUCED: u64 = 75;
/// New segments that have to leave in these round trips, so that they show the flight size.
const ENOUGH: u32 = 3;
/// The percentage of the receiver's window at which that window limits the flight size.
const LIMITED: u64 = 80;
/// The smallest flight size, in segments, of which a half differs from the whole, and of which a tenth does.
const LEAST_SEGMENTS: u64 = 5;
const LEAST_OF_KEPT: u64 = 12;

/// A sender's data in flight when it retransmits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InFlight {
    /// Bytes that are outstanding and not reported.
    pub(crate) bytes: u64,
    /// The end of the outstanding data.
    pub(crate) until: u64,
    /// Whether a smaller congestion window would show: the receiver's window does not limit them, and
    /// half of them are a few segments.
    pub(crate) shows_window: bool,
    /// Whether a tenth of them is a segment or more.
    pub(crate) shows_dip: bool,
}

impl InFlight {
    /// Returns the data in flight of a sender, of which `reported` bytes are reported. The receiver's
    /// window and a segment have these sizes in bytes.
    pub(crate) fn new(outstanding: Block, reported: u64, window: u64, segment: u64) -> Self {
        let all = outstanding.end - outstanding.start;
        let bytes = all.saturating_sub(reported);
        let shows_window = all * 100 < window * LIMITED && bytes >= LEAST_SEGMENTS * segment;
        Self { bytes, until: outstanding.end, shows_window, shows_dip: bytes >= LEAST_OF_KEPT * segment }
    }
}

/// A group of retransmissions whose effect on the flight size is being measured.
#[derive(Clone, Debug)]
struct Group {
    rows: Range<usize>,
    /// The end of the data that were outstanding at the first of them, or of the highest one.
    end: u64,
    /// When the first one left, in nanoseconds, and the flight size at that time.
    began: u64,
    before: InFlight,
    /// The smallest flight size with which new data left.
    least: u64,
    /// The largest flight size in the round trips after the group was acknowledged, and the number
    /// of new segments that left in them.
    most: u64,
    new: u32,
    until: Option<u64>,
    /// Time of the last measurement, and the flight size then.
    last: (u64, u64),
    /// The integral of the missing bytes below `before` over time, in byte nanoseconds.
    missing: u128,
    /// When the flight size had recovered to nine tenths of `before`.
    back: Option<u64>,
}

/// The measured effect of a group of retransmissions.
#[derive(Clone, Debug)]
struct Effect {
    rows: Range<usize>,
    reaction: Reaction,
    /// The missing bytes as a delay: nanoseconds that sending them takes at the earlier flight
    /// size.
    held_back: u64,
}

/// The effect of one retransmission on the sender's flight size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaction {
    pub(crate) noticed: StackReaction,
    /// Whether the flight size was never smaller either. Only that shows an undo of a fast recovery: a stack
    /// that reduced its window can have grown again in two round trips, and a flight that was limited by
    /// something else never shows its window.
    pub(crate) never_smaller: bool,
    /// Bytes by which the flight size stayed below its earlier value in the round trips afterwards.
    pub(crate) window_lost: Option<u64>,
    /// Milliseconds from the first retransmission of the group until the flight size had recovered.
    pub(crate) back_ms: Option<f64>,
}

impl Reaction {
    /// Returns what is shown of the reaction to a retransmission with this cause.
    pub(super) fn to(&self, cause: Cause) -> StackReaction {
        if self.never_smaller || matches!(cause, Cause::Rto | Cause::Loss) {
            self.noticed
        } else {
            StackReaction::CannotBeTold
        }
    }
}

impl Group {
    /// Adds the bytes that were missing since the last measurement.
    fn measure(&mut self, now: u64, flight: u64) {
        let (since, then) = self.last;
        // With nothing outstanding, a window holds no sender back: it had nothing to send.
        if self.back.is_none() && then > 0 {
            let missing = self.before.bytes.saturating_sub(then);
            self.missing += u128::from(missing) * u128::from(now.saturating_sub(since));
        }
        self.last = (now, flight);
    }

    /// Returns whether nothing from `now` on can change the result.
    #[inline]
    fn is_over(&self, now: u64) -> bool {
        self.back.is_some() && self.until.is_some_and(|until| now > until)
    }

    #[inline(never)]
    fn on_new(&mut self, now: u64, flight: u64) {
        self.measure(now, flight);
        self.least = self.least.min(flight);
        let Some(until) = self.until else { return };
        if now <= until {
            self.most = flight.max(self.most);
            self.new += 1;
        }
        if self.back.is_none() && flight >= self.before.bytes / 10 * 9 {
            self.back = Some(now);
        }
    }

    #[inline(never)]
    fn on_ack(&mut self, now: u64, una: u64, flight: u64, round_trip: u64) {
        self.measure(now, flight);
        if self.until.is_none() && una >= self.end {
            self.until = Some(now.saturating_add(round_trip.saturating_mul(ROUND_TRIPS)));
        }
    }

    fn finish_group(self) -> Effect {
        let Self { rows, before: InFlight { bytes: before, shows_window, shows_dip, .. }, most, until, new, .. } = self;
        // If few new data left, the sender had nothing to send or was not allowed to. A flight that stays small
        // shows no lack of an undo: Linux's grows slowly after an undo that comes late.
        let is_shown = until.is_some() && new >= ENOUGH && shows_window;
        let is_back = is_shown && most * 100 >= before * RECOVERED;
        let noticed = if is_back { StackReaction::Undone } else { StackReaction::CannotBeTold };
        let never_smaller = shows_dip && self.least * 100 >= before * KEPT;
        let is_clear = is_back || is_shown && most * 100 <= before * REDUCED;
        let window_lost = is_clear.then(|| before.saturating_sub(most));
        let back_ms = self.back.map(|back| back.saturating_sub(self.began) as f64 / 1e6);
        let held_back = (self.missing / u128::from(before.max(1))) as u64;
        Effect { rows, reaction: Reaction { noticed, never_smaller, window_lost, back_ms }, held_back }
    }
}

/// Measures the flight size after retransmissions, one group after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlightWatch {
    group: Option<Group>,
    effects: Vec<Effect>,
}

impl FlightWatch {
    /// Handles the retransmission of row `row`, up to position `end`.
    pub(crate) fn on_retransmission(&mut self, now: u64, row: usize, end: u64, flight: InFlight) {
        match &mut self.group {
            Some(group) if group.until.is_none() => {
                group.rows.end = row + 1;
                group.end = group.end.max(end);
                group.measure(now, flight.bytes);
            }
            _ => {
                self.finish_group();
                let rows = row..row + 1;
                self.group = Some(Group {
                    rows,
                    end: end.max(flight.until),
                    began: now,
                    before: flight,
                    least: flight.bytes,
                    most: 0,
                    new: 0,
                    until: None,
                    last: (now, flight.bytes),
                    missing: 0,
                    back: None,
                });
            }
        }
    }

    /// Handles an ACK of everything below `una` that leaves a flight size of `flight` bytes.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, now: u64, una: u64, flight: u64, round_trip: u64) {
        if let Some(group) = &mut self.group {
            group.on_ack(now, una, flight, round_trip);
            self.finish_if_over(now);
        }
    }

    /// Handles new data that leave at `now` and make the flight size `flight()` bytes.
    #[inline(always)]
    pub(crate) fn on_new(&mut self, now: u64, flight: impl FnOnce() -> u64) {
        if let Some(group) = &mut self.group {
            group.on_new(now, flight());
            self.finish_if_over(now);
        }
    }

    /// Settles the current group once nothing can change its result.
    #[inline]
    fn finish_if_over(&mut self, now: u64) {
        if self.group.as_ref().is_some_and(|group| group.is_over(now)) {
            self.finish_group();
        }
    }

    #[cold]
    #[inline(never)]
    fn finish_group(&mut self) {
        self.effects.extend(self.group.take().map(Group::finish_group));
    }

    /// Ends the capture. Returns the effects of all groups in order.
    fn finish(&mut self) -> &[Effect] {
        self.finish_group();
        &self.effects
    }

    /// Ends the capture. Returns the reaction to each retransmission, by row; only needless ones
    /// have a reaction, next to their sender. Adds their cost to `cost`.
    pub(crate) fn reactions(&mut self, needless: &[bool], vantage: Vantage, cost: &mut Cost) -> Vec<Reaction> {
        let unknown =
            Reaction { noticed: StackReaction::CannotBeTold, never_smaller: false, window_lost: None, back_ms: None };
        let mut reactions = vec![unknown; needless.len()];
        if vantage != Vantage::Sender {
            return reactions;
        }
        for Effect { rows, reaction, held_back } in self.finish() {
            // If a group also has a needed retransmission, the loss alone would have cost as much, and
            // a window that stays small shows nothing of the others.
            if needless[rows.clone()].iter().all(|needless| *needless) {
                cost.window_lost_bytes += reaction.window_lost.unwrap_or(0);
                cost.held_back_ms += *held_back as f64 / 1e6;
                reactions[rows.clone()].fill(*reaction);
            }
        }
        reactions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_testkit::random::Random;
    use eifel_testkit::{digest, golden};
    use std::fmt::Write;

    fn in_flight(bytes: u64, until: u64) -> InFlight {
        InFlight { bytes, until, shows_window: true, shows_dip: true }
    }

    /// Returns the reaction of a sender with `flight` bytes in flight after its recovery.
    fn after(flight: u64, before: InFlight) -> Reaction {
        let mut group = FlightWatch::default();
        group.on_retransmission(0, 0, 1000, before);
        group.on_retransmission(0, 1, 2000, before);
        group.on_new(5, || 30_000);
        // The retransmissions are acknowledged, but not yet all that was outstanding.
        group.on_ack(10, 2000, 30_000, 100);
        group.on_new(20, || 19_000);
        group.on_ack(100, 20_000, flight, 100);
        (150..153).for_each(|now| group.on_new(now, || flight));
        // Too late to be a consequence of the retransmissions.
        group.on_new(400, || 90_000);
        let after = group.finish();
        assert_eq!((after.len(), after[0].rows.clone()), (1, 0..2));
        after[0].reaction
    }

    #[test]
    fn a_flight_size_that_recovers_shows_an_undo_and_a_smaller_one_nothing() {
        let all = [19_000, 18_500, 10_000].map(|flight| after(flight, in_flight(20_000, 20_000)));
        let noticed = all.map(|one| (one.noticed, one.never_smaller, one.window_lost));
        let undone = StackReaction::Undone;
        let nothing = (StackReaction::CannotBeTold, false, Some(10_000));
        assert_eq!(noticed, [(undone, true, Some(1000)), (undone, false, Some(1500)), nothing]);
        let few = InFlight { shows_dip: false, ..in_flight(20_000, 20_000) };
        assert!(!after(19_000, few).never_smaller);
    }

    #[test]
    fn a_flight_size_that_the_receivers_window_limits_shows_nothing() {
        let outstanding = Block { start: 0, end: 20_000 };
        let shown = |window, segment| InFlight::new(outstanding, 0, window, segment);
        let noticed = [(30_000, 1000), (25_000, 1000), (30_000, 4001)].map(|(window, segment)| {
            let before = shown(window, segment);
            (before.shows_window, after(19_000, before).noticed)
        });
        let nothing = (false, StackReaction::CannotBeTold);
        assert_eq!(noticed, [(true, StackReaction::Undone), nothing, nothing]);
        // Reported data are not in flight.
        assert_eq!(InFlight::new(outstanding, 5000, 30_000, 1000).bytes, 15_000);
    }

    #[test]
    fn missing_bytes_count_until_the_flight_size_recovers() {
        let mut group = FlightWatch::default();
        group.on_retransmission(1000, 0, 1000, in_flight(20_000, 1000));
        group.on_ack(1100, 1000, 5_000, 100);
        group.on_new(1200, || 10_000);
        (1250..1253).for_each(|now| group.on_new(now, || 10_000));
        group.on_new(1500, || 20_000);
        group.on_ack(1900, 5000, 1_000, 100);
        let [after] = group.finish() else { panic!() };
        // 100 ns without 15 000 bytes, then 300 ns without 10 000 bytes.
        assert_eq!(
            (after.reaction.window_lost, after.reaction.back_ms, after.held_back),
            (Some(10_000), Some(0.0005), 225)
        );
    }

    #[test]
    fn only_a_capture_next_to_the_sender_shows_its_reaction() {
        let reactions = [Vantage::Sender, Vantage::Between, Vantage::Receiver, Vantage::Unknown].map(|vantage| {
            let mut group = FlightWatch::default();
            group.on_retransmission(1000, 0, 1000, in_flight(20_000, 1000));
            group.on_ack(1100, 1000, 5_000, 100);
            (1200..1203).for_each(|now| group.on_new(now, || 20_000));
            let mut cost = Cost::default();
            let reactions = group.reactions(&[true], vantage, &mut cost);
            (reactions[0].noticed == StackReaction::Undone, cost.held_back_ms > 0.0)
        });
        assert_eq!(reactions, [(true, true), (false, false), (false, false), (false, false)]);
    }

    /// Draws small numbers, so that limits are often hit exactly.
    #[test]
    fn reactions_of_drawn_flights_match_the_golden() {
        let (mut random, mut text) = (Random(1), String::new());
        for group in 0..20 {
            let mut said = String::new();
            for _ in 0..200 {
                let (mut flight, mut now, mut rows, mut cost) = (FlightWatch::default(), 100, 0, Cost::default());
                for _ in 0..random.below(20) {
                    now += random.below(4);
                    let bytes = random.below(12) * 10;
                    match random.below(5) {
                        0 => {
                            let before = InFlight {
                                bytes,
                                until: random.below(6),
                                shows_window: random.below(4) > 0,
                                shows_dip: true,
                            };
                            flight.on_retransmission(now, rows, random.below(6), before);
                            rows += 1;
                        }
                        1 | 2 => flight.on_ack(now, random.below(6), bytes, random.below(4)),
                        _ => flight.on_new(now, || bytes),
                    }
                }
                let needless: Vec<bool> = (0..rows).map(|_| random.below(4) > 0).collect();
                let reactions = flight.reactions(&needless, Vantage::Sender, &mut cost);
                writeln!(said, "{reactions:?} {cost:?}").unwrap();
            }
            writeln!(text, "{group}: {}", digest(said)).unwrap();
        }
        golden!("flights.txt", text);
    }
}
