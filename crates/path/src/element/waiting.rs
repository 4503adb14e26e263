//! Parcels that wait, each for a deadline of its own.

use super::Fate;
use crate::parcel::{Labelled, Parcel};
use core::cmp::{Ordering, Reverse};
use eifel_base::time::Instant;
use std::collections::BinaryHeap;

/// The parcels that an element holds until their deadlines.
#[derive(Debug, Default)]
pub struct Waiting {
    held: BinaryHeap<Reverse<Held>>,
    /// Parcels held so far. It orders parcels with equal deadlines.
    count: u64,
}

#[derive(Debug)]
struct Held {
    deadline: Instant,
    number: u64,
    one: Labelled,
}

impl Held {
    fn key(&self) -> (Instant, u64) {
        (self.deadline, self.number)
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Waiting {
    /// Holds a parcel, unless its deadline has come.
    pub(super) fn hold(&mut self, deadline: Instant, now: Instant, one: &Labelled) -> Fate {
        if deadline <= now {
            return Fate::Pass;
        }
        self.count += 1;
        self.held.push(Reverse(Held { deadline, number: self.count, one: *one }));
        Fate::Held
    }

    /// Returns a parcel whose deadline has come.
    pub(super) fn release(&mut self, now: Instant) -> Option<Labelled> {
        let due = self.held.peek().is_some_and(|Reverse(first)| first.deadline <= now);
        due.then(|| self.held.pop()).flatten().map(|Reverse(first)| first.one)
    }

    /// Returns the earliest deadline; [`Instant::NEVER`] if no parcel waits.
    pub(super) fn deadline(&self) -> Instant {
        self.held.peek().map_or(Instant::NEVER, |Reverse(first)| first.deadline)
    }

    pub(super) fn held(&self) -> impl Iterator<Item = &Parcel> {
        self.held.iter().map(|Reverse(held)| &held.one.parcel)
    }
}
