//! Compares the sender's flight before and after retransmissions: whether it is as large again soon after they were answered,
//! and how many bytes were missing from it until then, and for how long.

use super::connection::Cost;
use crate::verdict::Noticed;
use std::ops::Range;

/// Round trips in which a stack that has undone its mistake fills the path again.
const ROUND_TRIPS: u64 = 2;

/// The retransmissions of one time of trouble.
#[derive(Clone, Debug)]
struct Watched {
    rows: Range<usize>,
    /// Where the last of them ends.
    end: u64,
    /// When the first left, and the bytes under way then.
    began: u64,
    before: u64,
    /// The most that was under way in the round trips after they were answered.
    most: u64,
    until: Option<u64>,
    /// When it was looked at last, and the bytes under way then.
    last: (u64, u64),
    /// The bytes by which the flight was below `before`, times the nanoseconds for which it was.
    missing: u128,
    /// When as much was under way as before.
    back: Option<u64>,
}

/// The cost of a time of trouble.
#[derive(Clone, Debug)]
struct After {
    /// The retransmissions that belong to it, by their numbers.
    rows: Range<usize>,
    noticed: Noticed,
    /// Bytes that were under way before, and not in the round trips after it.
    window_lost: Option<u64>,
    /// Nanoseconds from the first retransmission until as much was under way.
    back: Option<u64>,
    /// Nanoseconds of sending at the rate before that it was worth.
    held_back: u64,
}

/// The sender's reaction to one retransmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaction {
    pub(crate) noticed: Noticed,
    /// Bytes that were under way before, and not in the round trips after it.
    pub(crate) window_lost: Option<u64>,
    /// From the first retransmission of its time of trouble until as much was under way.
    pub(crate) back_ms: Option<f64>,
}

impl Watched {
    /// Counts what was missing since the last look.
    fn look(&mut self, now: u64, flight: u64) {
        let (since, then) = self.last;
        if self.back.is_none() {
            let missing = self.before.saturating_sub(then);
            self.missing += u128::from(missing) * u128::from(now.saturating_sub(since));
        }
        self.last = (now, flight);
    }

    /// Whether nothing that happens at `now` changes what it has cost.
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
        // Where nothing new left it had nothing to send, or no leave to.
        let noticed = match (until, most) {
            (None, _) | (_, 0) => Noticed::CannotBeTold,
            _ if most >= before / 10 * 8 => Noticed::Undone,
            _ if most <= before / 10 * 6 => Noticed::NotUndone,
            _ => Noticed::CannotBeTold,
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

/// Watches the flight after retransmissions, one time of trouble after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flight {
    watched: Option<Watched>,
    settled: Vec<After>,
}

impl Flight {
    /// Row number `row`, which ends at position `end`, leaves at `now` while `flight` bytes are under way.
    pub(crate) fn on_again(&mut self, now: u64, row: usize, end: u64, flight: u64) {
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

    /// Everything below `una` is acknowledged at `now`, and `flight` bytes are under way.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, now: u64, una: u64, flight: u64, round_trip: u64) {
        if let Some(watched) = &mut self.watched {
            watched.on_ack(now, una, flight, round_trip);
            self.settle_if_over(now);
        }
    }

    /// New data leave at `now`: `flight` bytes are under way.
    #[inline(always)]
    pub(crate) fn on_new(&mut self, now: u64, flight: u64) {
        if let Some(watched) = &mut self.watched {
            watched.on_new(now, flight);
            self.settle_if_over(now);
        }
    }

    /// What nothing can change any more is looked at no longer.
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

    /// The capture has ended. What each time of trouble has cost, in their order.
    fn finish(&mut self) -> &[After] {
        self.settle();
        &self.settled
    }

    /// The capture has ended: the reaction to each retransmission that was needless, by its number. Adds up what they have cost.
    pub(crate) fn reactions(&mut self, needless: &[bool], cost: &mut Cost) -> Vec<Reaction> {
        let mut reactions =
            vec![Reaction { noticed: Noticed::CannotBeTold, window_lost: None, back_ms: None }; needless.len()];
        for after in self.finish() {
            // A loss besides would have cost as much.
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
    use eifel_golden::drawn::Random;
    use eifel_golden::{digest, golden};
    use std::fmt::Write;

    fn after(flight: u64) -> Noticed {
        let mut watched = Flight::default();
        watched.on_again(0, 0, 1000, 20_000);
        watched.on_again(0, 1, 2000, 20_000);
        watched.on_new(5, 30_000);
        watched.on_ack(10, 2000, 30_000, 100);
        watched.on_new(150, flight);
        // Too late to be a consequence.
        watched.on_new(400, 90_000);
        let after = watched.finish();
        assert_eq!((after.len(), after[0].rows.clone()), (1, 0..2));
        after[0].noticed
    }

    #[test]
    fn the_flight_tells_whether_the_window_was_given_back() {
        assert_eq!(
            [19_000, 10_000, 14_000, 0].map(after),
            [Noticed::Undone, Noticed::NotUndone, Noticed::CannotBeTold, Noticed::CannotBeTold]
        );
    }

    #[test]
    fn what_is_missing_counts_until_as_much_is_under_way() {
        let mut watched = Flight::default();
        watched.on_again(1000, 0, 1000, 20_000);
        watched.on_ack(1100, 1000, 5_000, 100);
        watched.on_new(1200, 10_000);
        watched.on_new(1500, 20_000);
        watched.on_ack(1900, 5000, 1_000, 100);
        let [after] = watched.finish() else { panic!() };
        // 100 ns without 15 000 bytes, and 300 ns without 10 000.
        assert_eq!((after.window_lost, after.back, after.held_back), (Some(10_000), Some(500), 225));
    }

    /// Small numbers, so that limits are often reached exactly.
    #[test]
    fn drawn_flights_are_watched_as_before() {
        let (mut random, mut text) = (Random(1), String::new());
        for group in 0..20 {
            let mut said = String::new();
            for _ in 0..200 {
                let (mut flight, mut now, mut rows, mut cost) = (Flight::default(), 100, 0, Cost::default());
                for _ in 0..random.below(20) {
                    now += random.below(4);
                    let bytes = random.below(12) * 10;
                    match random.below(5) {
                        0 => {
                            flight.on_again(now, rows, random.below(6), bytes);
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
