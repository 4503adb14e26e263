//! How late packets leave the box: the time from their release by the links until the kernel has
//! them.

use super::{Direction, Fate, Transit};
use eifel_base::time::{Duration, Instant};
use std::collections::BTreeMap;

/// Counts of delays, in steps of a microsecond.
#[derive(Clone, Debug)]
pub struct Lateness {
    steps: Vec<u64>,
    count: u64,
    longest: Duration,
}

/// The largest lateness with a step of its own, in microseconds.
const STEPS: usize = 100_000;

impl Default for Lateness {
    fn default() -> Self {
        Self { steps: vec![0; STEPS + 1], count: 0, longest: Duration::ZERO }
    }
}

impl Lateness {
    /// Counts a packet that left `late` after its time.
    pub fn note(&mut self, late: Duration) {
        let step = (late.as_nanos() / 1000).min(STEPS as u64);
        self.steps[step as usize] += 1;
        self.count += 1;
        self.longest = self.longest.max(late);
    }

    /// Returns the number of packets noted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the longest lateness.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// Returns the lateness that a share of packets, 0 to 1, does not exceed, rounded up to a
    /// microsecond. It is at most 100 001 µs, and zero without packets.
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (step, count) in self.steps.iter().enumerate() {
            seen += count;
            if seen >= wanted.max(1) {
                return Duration::from_micros(step as u64 + 1);
            }
        }
        Duration::ZERO
    }
}

/// An end that takes longer than this to answer a packet waits for a timer, and is not late.
const LONGEST_TURNAROUND: Duration = Duration::from_millis(5);

/// Lateness of the box and of the ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Late {
    /// From the release by the links until the kernel has the packet.
    pub at_the_box: Duration,
    /// From then until the next packet of the other direction comes in. The ends of a simulation
    /// answer at once.
    pub at_the_ends: Duration,
}

impl Late {
    /// Returns the sum.
    pub fn all(self) -> Duration {
        self.at_the_box + self.at_the_ends
    }
}

/// The most that lateness can have added up to, at each instant at which it grew.
///
/// A packet may come in because one of the other direction left, as an ACK does. Then it is as late
/// as that one, and its own lateness comes on top. So the sum along any such chain of packets is at
/// most this. Where a link's rate sets the pace, a queue absorbs lateness, and less adds up.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AddedLateness(Vec<(Instant, Late)>);

impl AddedLateness {
    /// Adds up the lateness of all packets that passed the box, for an observer on the side where
    /// packets of the direction [`Direction::Back`] leave.
    pub fn of(passages: &[Transit]) -> Self {
        let passed = passages.iter().filter(|one| matches!(one.fate, Fate::Delivered | Fate::Copied));
        let mut events: Vec<(Instant, bool, usize, &Transit)> = Vec::new();
        for (index, passage) in passed.enumerate() {
            events.push((passage.entered, true, index, passage));
            events.push((passage.left, false, index, passage));
        }
        // A packet that came in when another left may be its answer.
        events.sort_by_key(|&(at, enters, index, _)| (at, enters, index));
        let (mut most, mut newest) = ([Late::default(); 2], [Instant::NEVER; 2]);
        let (mut carried, mut found) = (BTreeMap::new(), Vec::new());
        for (at, enters, index, passage) in events {
            let way = passage.direction as usize;
            if enters {
                let mut late = most[1 - way];
                let answers = newest[1 - way] != Instant::NEVER;
                let turnaround = if answers { at.since(newest[1 - way]) } else { Duration::ZERO };
                if turnaround <= LONGEST_TURNAROUND {
                    late.at_the_ends = late.at_the_ends + turnaround;
                }
                carried.insert(index, late);
                continue;
            }
            newest[way] = at;
            let mut late = carried.remove(&index).unwrap_or_default();
            late.at_the_box = late.at_the_box + at.since(passage.due);
            if late.all() > most[way].all() {
                most[way] = late;
                if passage.direction == Direction::Back {
                    found.push((at, late));
                }
            }
        }
        Self(found)
    }

    /// Returns lateness that had added up from the beginning.
    #[cfg(test)]
    pub fn from_the_beginning(late: Late) -> Self {
        Self(vec![(Instant::ZERO, late)])
    }

    /// Returns the most that lateness can have added up to at `at`.
    pub fn by(&self, at: Instant) -> Late {
        let passed = self.0.partition_point(|(left, _)| *left <= at);
        passed.checked_sub(1).map_or(Late::default(), |last| self.0[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hiccup::label::ParsedPacket;

    #[test]
    fn quantiles_equal_those_of_the_sorted_samples() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.5), Duration::ZERO);
        lateness.note(Duration::from_micros(7));
        assert_eq!([0.0, 0.5, 1.0].map(|share| lateness.quantile(share)), [Duration::from_micros(8); 3]);
        let mut lateness = Lateness::default();
        (1..=100).for_each(|us| lateness.note(Duration::from_micros(us) - Duration::from_nanos(1)));
        assert_eq!(lateness.quantile(0.5), Duration::from_micros(50));
        assert_eq!(lateness.quantile(0.99), Duration::from_micros(99));
        assert_eq!((lateness.count(), lateness.longest().as_nanos()), (100, 99_999));
        lateness.note(Duration::from_secs(9));
        assert_eq!(lateness.quantile(1.0), Duration::from_micros(100_001));
    }

    #[test]
    fn lateness_adds_up_along_packets_that_answer_each_other() {
        let us = |us: u64| Instant::from_nanos(us * 1000);
        let one = |direction, entered, due, late| Transit {
            direction,
            seen: ParsedPacket::default(),
            bytes: 40,
            entered: us(entered),
            due: us(due),
            left: us(due + late),
            fate: Fate::Delivered,
        };
        let passages = [
            one(Direction::There, 0, 100, 7),
            // In the box together with the first: their lateness is not added up.
            one(Direction::There, 1, 110, 50),
            // The answer to the first, 2 us later.
            one(Direction::Back, 109, 200, 5),
            // The answer to the second, 1 us later.
            one(Direction::Back, 161, 260, 9),
            one(Direction::There, 205, 300, 3),
            // 3 us after the second answer.
            one(Direction::There, 272, 400, 1),
            one(Direction::Back, 403, 500, 2),
            Transit { fate: Fate::Ordered, ..one(Direction::Back, 600, 600, 900) },
        ];
        let added = AddedLateness::of(&passages);
        let late = |at_the_box, at_the_ends| Late {
            at_the_box: Duration::from_micros(at_the_box),
            at_the_ends: Duration::from_micros(at_the_ends),
        };
        let expected = [(205, late(12, 2)), (269, late(59, 1)), (502, late(62, 6))];
        assert_eq!(added.0, expected.map(|(at, late)| (us(at), late)));
        for (at, late) in
            [(0, late(0, 0)), (204, late(0, 0)), (205, late(12, 2)), (268, late(12, 2)), (9000, late(62, 6))]
        {
            assert_eq!(added.by(us(at)), late, "{at}");
        }
    }

    #[test]
    fn an_end_that_waits_for_a_timer_is_not_late() {
        let ms = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let one = |direction, entered, due| Transit {
            direction,
            seen: ParsedPacket::default(),
            bytes: 40,
            entered: ms(entered),
            due: ms(due),
            left: ms(due),
            fate: Fate::Delivered,
        };
        for (answered, at_the_ends) in [(15, 5), (16, 0)] {
            let passages = [one(Direction::There, 0, 10), one(Direction::Back, answered, 30)];
            let late = AddedLateness::of(&passages).by(ms(30));
            assert_eq!(late.at_the_ends, Duration::from_millis(at_the_ends), "{answered}");
        }
    }
}
