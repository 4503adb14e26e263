//! Exact reordering: a fixed number of later parcels of the same flow (the reordering length)
//! overtake a chosen parcel.

use super::Fate;
use crate::config::ConfigError;
use crate::parcel::{Label, Labelled, Parcel};
use crate::stream::Stream;
use eifel_base::time::{Duration, Instant};
use std::collections::VecDeque;

/// Which parcels are reordered, and how far.
#[derive(Clone, PartialEq, Debug)]
pub struct ReorderConfig {
    pub choice: Choice,
    /// Number of later parcels of its flow that pass a chosen one. The chosen parcel follows right
    /// behind the last of them. A parcel that is dropped afterwards counts as having passed.
    pub length: u32,
    /// Longest time that a parcel is held, so that the last parcels of a flow are not kept for
    /// ever.
    pub longest_wait: Duration,
}

/// Which parcels an element chooses.
#[derive(Clone, PartialEq, Debug)]
pub enum Choice {
    /// First transmissions of these segments: flow, and number in the flow from 1.
    Listed(Vec<(u32, u64)>),
    /// Each parcel with this probability.
    Rate(f64),
}

impl ReorderConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        ConfigError::unless(self.length > 0, "reorder.length", || "0; allowed: 1 or more".to_owned())?;
        let waits = self.longest_wait > Duration::ZERO;
        ConfigError::unless(waits, "reorder.longest_wait", || "0; allowed: more than 0".to_owned())?;
        self.choice.check()
    }
}

impl Choice {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::Rate(rate) => ConfigError::unless_probability(*rate, "reorder.rate"),
            Self::Listed(segments) => {
                let numbered = segments.iter().all(|&(_, segment)| segment > 0);
                ConfigError::unless(numbered, "reorder.segments", || "segment 0; allowed: 1 or more".to_owned())
            }
        }
    }
}

/// Chooses parcels.
#[derive(Debug)]
pub struct Chooser {
    /// Listed segments are sorted.
    choice: Choice,
    pub(super) stream: Stream,
}

impl Chooser {
    pub(super) fn new(choice: &Choice, stream: Stream) -> Self {
        let mut choice = choice.clone();
        if let Choice::Listed(segments) = &mut choice {
            segments.sort_unstable();
        }
        Self { choice, stream }
    }

    pub(super) fn chooses(&mut self, label: &Label) -> bool {
        match &self.choice {
            Choice::Listed(segments) => label.copy == 0 && segments.binary_search(&(label.flow, label.segment)).is_ok(),
            Choice::Rate(rate) => self.stream.chance(*rate),
        }
    }
}

#[derive(Debug)]
pub struct Reorder {
    chooser: Chooser,
    length: u32,
    longest_wait: Duration,
    /// In order of arrival and of deadline. Parcels of one flow are also in the order of `to_pass`.
    held: VecDeque<Held>,
}

#[derive(Debug)]
struct Held {
    one: Labelled,
    /// Number of parcels that still have to pass this one.
    to_pass: u32,
    deadline: Instant,
}

impl Reorder {
    pub(super) fn new(config: &ReorderConfig, stream: Stream) -> Self {
        let chooser = Chooser::new(&config.choice, stream);
        Self { chooser, length: config.length, longest_wait: config.longest_wait, held: VecDeque::new() }
    }

    pub(super) fn meet(&mut self, now: Instant, one: &Labelled) -> Fate {
        let label = &one.label;
        if self.chooser.chooses(label) {
            let deadline = now + self.longest_wait;
            self.held.push_back(Held { one: *one, to_pass: self.length, deadline });
            return Fate::Held;
        }
        for held in self.held.iter_mut().filter(|held| held.one.label.flow == label.flow) {
            held.to_pass = held.to_pass.saturating_sub(1);
        }
        Fate::Pass
    }

    pub(super) fn release(&mut self, now: Instant) -> Option<Labelled> {
        let ready = self.held.iter().position(|held| held.to_pass == 0 || held.deadline <= now)?;
        self.held.remove(ready).map(|held| held.one)
    }

    pub(super) fn deadline(&self) -> Instant {
        self.held.front().map_or(Instant::NEVER, |held| held.deadline)
    }

    pub(super) fn held(&self) -> impl Iterator<Item = &Parcel> {
        self.held.iter().map(|held| &held.one.parcel)
    }
}
