//! Background traffic of a link: parcels that take room in the queue and time on the transmitter.
//! Only their number matters.
//!
//! A parcel is stored as two instants. Its arrival is no event: it is counted when the counts are
//! read.

use crate::parcel::{Counts, Tally};
use eifel_base::time::Instant;
use std::collections::VecDeque;

/// A source of background traffic.
pub trait Source {
    /// Returns when the next parcel reaches the link's entrance; [`Instant::NEVER`] if none will.
    fn due(&self) -> Instant;
    /// Moves on to the next parcel, which is due no earlier.
    fn step(&mut self);
}

/// The parcels of one source, all of one length.
#[derive(Debug)]
pub(crate) struct Background {
    bytes: u32,
    /// Parcels taken in and not yet counted as arrived.
    under_way: VecDeque<Passing>,
    /// Number of parcels at the front of `under_way` that are counted as transmitted.
    transmitted: usize,
    /// When the next parcel leaves; [`Instant::NEVER`] if all are counted as transmitted.
    next_departure: Instant,
    offered: u64,
    dropped: u64,
    delivered: u64,
}

#[derive(Clone, Copy, Debug)]
struct Passing {
    departs: Instant,
    arrives: Instant,
}

impl Background {
    pub(crate) fn new(bytes: u32) -> Self {
        let under_way = VecDeque::new();
        let next_departure = Instant::NEVER;
        Self { bytes, under_way, transmitted: 0, next_departure, offered: 0, dropped: 0, delivered: 0 }
    }

    /// Returns the bytes of each parcel.
    #[inline]
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Counts a parcel for which the queue has no room.
    #[inline]
    pub(crate) fn refuse(&mut self) {
        self.offered += 1;
        self.dropped += 1;
    }

    /// Takes in a parcel that leaves and arrives after all before it.
    #[inline]
    pub(crate) fn accept(&mut self, departs: Instant, arrives: Instant) {
        self.offered += 1;
        self.next_departure = self.next_departure.min(departs);
        self.under_way.push_back(Passing { departs, arrives });
    }

    /// Counts the parcels that departed or arrived by `now`. Returns the number newly counted as
    /// transmitted.
    #[inline]
    pub(crate) fn count_until(&mut self, now: Instant) -> u32 {
        if self.next_departure > now { 0 } else { self.count_departed(now) }
    }

    #[inline(never)]
    fn count_departed(&mut self, now: Instant) -> u32 {
        let departed = self.departed(now);
        self.transmitted += departed;
        self.next_departure = self.first_waiting().unwrap_or(Instant::NEVER);
        let arrived = self.under_way.iter().take(self.transmitted).take_while(|passing| passing.arrives <= now).count();
        self.under_way.drain(..arrived);
        self.transmitted -= arrived;
        self.delivered += arrived as u64;
        departed as u32
    }

    /// Returns the number of parcels that departed by `now` and are not yet counted as transmitted.
    pub(crate) fn departed(&self, now: Instant) -> usize {
        self.under_way.range(self.transmitted..).take_while(|passing| passing.departs <= now).count()
    }

    /// Returns how many parcels are kept.
    pub(crate) fn len(&self) -> usize {
        self.under_way.len()
    }

    /// Returns the number of parcels not counted as transmitted.
    pub(crate) fn waiting(&self) -> usize {
        self.under_way.len() - self.transmitted
    }

    /// Returns when the first of the waiting parcels leaves.
    pub(crate) fn first_waiting(&self) -> Option<Instant> {
        self.under_way.get(self.transmitted).map(|first| first.departs)
    }

    /// Returns the parcels offered, dropped, and arrived by `now`.
    pub(crate) fn counts(&self, now: Instant) -> Counts {
        let arrived = self.under_way.iter().take_while(|passing| passing.arrives <= now).count() as u64;
        Counts {
            offered: self.tally(self.offered),
            dropped: self.tally(self.dropped),
            delivered: self.tally(self.delivered + arrived),
            duplicated: Tally::default(),
        }
    }

    /// Returns the counts and the actual contents, if they disagree.
    pub(crate) fn imbalance(&self) -> Option<(Counts, Tally)> {
        let counts = self.counts(Instant::ZERO);
        let inside = self.tally(self.under_way.len() as u64);
        (counts.inside() != Some(inside)).then_some((counts, inside))
    }

    /// Removes the last parcel taken in without counting it: a fault for the tests of the link's
    /// check.
    #[cfg(test)]
    pub(crate) fn lose_one(&mut self) {
        self.under_way.pop_back();
    }

    fn tally(&self, parcels: u64) -> Tally {
        Tally { parcels, bytes: parcels * u64::from(self.bytes) }
    }
}
