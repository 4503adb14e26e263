//! Compares the sender's flight size before and after retransmissions.
//!
//! Finds whether the flight size recovers soon after the retransmissions are acknowledged, how many
//! bytes are missing from it until then, and for how long.
//!
//! Retransmissions form a group: all that leave until the whole group is acknowledged.

use crate::result::{Cost, StackReaction};
use std::ops::Range;

/// Round trips within which a stack that undid its reaction fills the path again.
const ROUND_TRIPS: u64 = 2;

/// A group of retransmissions whose effect on the flight size is being measured.
#[derive(Clone, Debug)]
struct Watched {
    rows: Range<usize>,
    /// The position at which the highest of them ends.
    end: u64,
    /// When the first one left, in nanoseconds, and the flight size at that time.
    began: u64,
    before: u64,
    /// The largest flight size in the round trips after the group was acknowledged.
    most: u64,
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
struct After {
    /// The row numbers of the retransmissions.
    rows: Range<usize>,
    noticed: StackReaction,
    /// Bytes by which the flight size stayed below its earlier value in the round trips afterwards.
    window_lost: Option<u64>,
    /// Nanoseconds from the first retransmission until the flight size had recovered.
    back: Option<u64>,
    /// The missing bytes as a delay: nanoseconds that sending them takes at the earlier flight
    /// size.
    held_back: u64,
}

/// The effect of one retransmission on the sender's flight size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaction {
    pub(crate) noticed: StackReaction,
    /// Bytes by which the flight size stayed below its earlier value in the round trips afterwards.
    pub(crate) window_lost: Option<u64>,
    /// Milliseconds from the first retransmission of the group until the flight size had recovered.
    pub(crate) back_ms: Option<f64>,
}

impl Watched {
    /// Adds the bytes that were missing since the last measurement.
    fn look(&mut self, now: u64, flight: u64) {
        let (since, then) = self.last;
        if self.back.is_none() {
            let missing = self.before.saturating_sub(then);
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
        self.look(now, flight);
        let Some(until) = self.until else { return };
        if now <= until {
            self.most = flight.max(self.most);
        }
        if self.back.is_none() && flight >= self.before / 10 * 9 {
            self.back = Some(now);
        }
    }

    #[inline(never)]
    fn on_ack(&mut self, now: u64, una: u64, flight: u64, round_trip: u64) {
        self.look(now, flight);
        if self.until.is_none() && una >= self.end {
            self.until = Some(now.saturating_add(round_trip.saturating_mul(ROUND_TRIPS)));
        }
    }

    fn settle(self) -> After {
        let Self { rows, before, most, until, .. } = self;
        // If no new data left, the sender had nothing to send or was not allowed to.
        let noticed = match (until, most) {
            (None, _) | (_, 0) => StackReaction::CannotBeTold,
            _ if most >= before / 10 * 8 => StackReaction::Undone,
            _ if most <= before / 10 * 6 => StackReaction::NotUndone,
            _ => StackReaction::CannotBeTold,
        };
        After {
            rows,
            noticed,
            window_lost: (until.is_some() && most > 0).then(|| before.saturating_sub(most)),
            back: self.back.map(|back| back.saturating_sub(self.began)),
            held_back: (self.missing / u128::from(before.max(1))) as u64,
        }
    }
}

/// Measures the flight size after retransmissions, one group after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlightWatch {
    watched: Option<Watched>,
    settled: Vec<After>,
}

impl FlightWatch {
    /// Handles the retransmission of row `row`, up to position `end`, at a flight size of `flight`
    /// bytes.
    pub(crate) fn on_retransmission(&mut self, now: u64, row: usize, end: u64, flight: u64) {
        match &mut self.watched {
            Some(watched) if watched.until.is_none() => {
                watched.rows.end = row + 1;
                watched.end = watched.end.max(end);
                watched.look(now, flight);
            }
            _ => {
                self.settle();
                let rows = row..row + 1;
                let (began, before, last) = (now, flight, (now, flight));
                let (most, missing) = (0, 0);
                self.watched = Some(Watched { rows, end, began, before, most, until: None, last, missing, back: None });
            }
        }
    }

    /// Handles an ACK of everything below `una` that leaves a flight size of `flight` bytes.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, now: u64, una: u64, flight: u64, round_trip: u64) {
        if let Some(watched) = &mut self.watched {
            watched.on_ack(now, una, flight, round_trip);
            self.settle_if_over(now);
        }
    }

    /// Handles new data that leave at `now` and make the flight size `flight` bytes.
    #[inline(always)]
    pub(crate) fn on_new(&mut self, now: u64, flight: u64) {
        if let Some(watched) = &mut self.watched {
            watched.on_new(now, flight);
            self.settle_if_over(now);
        }
    }

    /// Settles the current group once nothing can change its result.
    #[inline]
    fn settle_if_over(&mut self, now: u64) {
        if self.watched.as_ref().is_some_and(|watched| watched.is_over(now)) {
            self.settle();
        }
    }

    #[cold]
    #[inline(never)]
    fn settle(&mut self) {
        self.settled.extend(self.watched.take().map(Watched::settle));
    }

    /// Ends the capture. Returns the results of all groups in order.
    fn finish(&mut self) -> &[After] {
        self.settle();
        &self.settled
    }

    /// Ends the capture. Returns the reaction to each retransmission, by row; only needless ones
    /// have a reaction. Adds their cost to `cost`.
    pub(crate) fn reactions(&mut self, needless: &[bool], cost: &mut Cost) -> Vec<Reaction> {
        let mut reactions =
            vec![Reaction { noticed: StackReaction::CannotBeTold, window_lost: None, back_ms: None }; needless.len()];
        for after in self.finish() {
            // If a group also has a needed retransmission, the loss alone would have cost as much.
            if needless[after.rows.clone()].iter().all(|needless| *needless) {
                cost.window_lost_bytes += after.window_lost.unwrap_or(0);
                cost.held_back_ms += after.held_back as f64 / 1e6;
            }
            for number in after.rows.clone().filter(|number| needless[*number]) {
                let back_ms = after.back.map(|back| back as f64 / 1e6);
                reactions[number] = Reaction { noticed: after.noticed, window_lost: after.window_lost, back_ms };
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

    fn after(flight: u64) -> StackReaction {
        let mut watched = FlightWatch::default();
        watched.on_retransmission(0, 0, 1000, 20_000);
        watched.on_retransmission(0, 1, 2000, 20_000);
        watched.on_new(5, 30_000);
        watched.on_ack(10, 2000, 30_000, 100);
        watched.on_new(150, flight);
        // Too late to be a consequence of the retransmissions.
        watched.on_new(400, 90_000);
        let after = watched.finish();
        assert_eq!((after.len(), after[0].rows.clone()), (1, 0..2));
        after[0].noticed
    }

    #[test]
    fn the_flight_tells_whether_the_window_was_given_back() {
        assert_eq!(
            [19_000, 10_000, 14_000, 0].map(after),
            [StackReaction::Undone, StackReaction::NotUndone, StackReaction::CannotBeTold, StackReaction::CannotBeTold]
        );
    }

    #[test]
    fn what_is_missing_counts_until_as_much_is_under_way() {
        let mut watched = FlightWatch::default();
        watched.on_retransmission(1000, 0, 1000, 20_000);
        watched.on_ack(1100, 1000, 5_000, 100);
        watched.on_new(1200, 10_000);
        watched.on_new(1500, 20_000);
        watched.on_ack(1900, 5000, 1_000, 100);
        let [after] = watched.finish() else { panic!() };
        // 100 ns without 15 000 bytes, then 300 ns without 10 000 bytes.
        assert_eq!((after.window_lost, after.back, after.held_back), (Some(10_000), Some(500), 225));
    }

    /// Draws small numbers, so that limits are often hit exactly.
    #[test]
    fn drawn_flights_are_watched_as_before() {
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
                            flight.on_retransmission(now, rows, random.below(6), bytes);
                            rows += 1;
                        }
                        1 | 2 => flight.on_ack(now, random.below(6), bytes, random.below(4)),
                        _ => flight.on_new(now, bytes),
                    }
                }
                let needless: Vec<bool> = (0..rows).map(|_| random.below(4) > 0).collect();
                let reactions = flight.reactions(&needless, &mut cost);
                writeln!(said, "{reactions:?} {cost:?}").unwrap();
            }
            writeln!(text, "{group}: {}", digest(said)).unwrap();
        }
        golden!("flights.txt", text);
    }
}
