//! Jitter: delays each parcel by its own amount before it enters the queue.

use super::Fate;
use crate::config::ConfigError;
use crate::draw::Draw;
use crate::parcel::{Labelled, Parcel};
use crate::stream::Stream;
use core::cmp::{Ordering, Reverse};
use eifel_base::time::Instant;
use std::collections::BinaryHeap;

/// The delays, and whether they may reorder parcels.
#[derive(Clone, PartialEq, Debug)]
pub struct JitterConfig {
    /// The wait of each parcel.
    pub delay: Draw,
    /// Whether parcels leave in order of arrival. If so, each waits at least until the parcel
    /// before it leaves.
    pub keeps_order: bool,
}

impl JitterConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.delay.check("jitter.delay")
    }
}

#[derive(Debug)]
pub struct Jitter {
    config: JitterConfig,
    held: BinaryHeap<Reverse<Held>>,
    /// Parcels held so far. It orders parcels with equal deadlines.
    count: u64,
    /// The latest deadline so far.
    latest: Instant,
    stream: Stream,
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

impl Jitter {
    pub(super) fn new(config: JitterConfig, stream: Stream) -> Self {
        Self { config, held: BinaryHeap::new(), count: 0, latest: Instant::ZERO, stream }
    }

    pub(super) fn meet(&mut self, now: Instant, one: &Labelled) -> Fate {
        let mut deadline = now + self.config.delay.draw(&mut self.stream);
        if self.config.keeps_order {
            deadline = deadline.max(self.latest);
        }
        self.latest = self.latest.max(deadline);
        if deadline <= now {
            return Fate::Pass;
        }
        self.count += 1;
        self.held.push(Reverse(Held { deadline, number: self.count, one: *one }));
        Fate::Held
    }

    pub(super) fn release(&mut self, now: Instant) -> Option<Labelled> {
        let due = self.held.peek().is_some_and(|Reverse(first)| first.deadline <= now);
        due.then(|| self.held.pop()).flatten().map(|Reverse(first)| first.one)
    }

    pub(super) fn deadline(&self) -> Instant {
        self.held.peek().map_or(Instant::NEVER, |Reverse(first)| first.deadline)
    }

    pub(super) fn held(&self) -> impl Iterator<Item = &Parcel> {
        self.held.iter().map(|Reverse(held)| &held.one.parcel)
    }
}
