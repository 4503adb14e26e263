//! The settings of a link, as plain values.

mod capacity;
mod error;

pub use capacity::{Capacity, RateChange};
pub use error::ConfigError;

use crate::element::ElementConfig;
use crate::queue::QueueConfig;
use crate::spike::SpikeConfig;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    pub capacity: Capacity,
    /// Propagation delay, from the end of a transmission to the arrival at the far end.
    pub delay: Duration,
    /// Later delays, in the order of their times.
    pub delay_changes: Vec<DelayChange>,
    pub queue: QueueConfig,
    /// Several spikes may hold the link at once.
    pub spikes: Vec<SpikeConfig>,
    /// Elements that a parcel meets before the queue, in this order.
    pub elements: Vec<ElementConfig>,
    /// From this instant on parcels meet no elements; [`Instant::NEVER`] if they always do. A
    /// parcel that an element then holds goes on at its deadline.
    pub elements_until: Instant,
}

impl LinkConfig {
    /// Makes a link with a rate, a delay, an unlimited queue, and no elements or spikes.
    pub fn plain(rate: Rate, delay: Duration) -> Self {
        let capacity = Capacity::Rate { rate, changes: Vec::new() };
        Self {
            capacity,
            delay,
            delay_changes: Vec::new(),
            queue: QueueConfig::Unlimited,
            spikes: Vec::new(),
            elements: Vec::new(),
            elements_until: Instant::NEVER,
        }
    }

    /// Checks each setting, and that the queue fits the capacity.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.capacity.check()?;
        capacity::rising("delay_changes", self.delay_changes.iter().map(|change| change.at))?;
        self.queue.check(&self.capacity)?;
        self.spikes.iter().try_for_each(SpikeConfig::check)?;
        self.elements.iter().try_for_each(ElementConfig::check)
    }
}

/// A new propagation delay, as at a handover. It applies to transmissions that end at `at` or
/// later. No parcel overtakes an earlier one: after a change to a shorter delay, the first parcels
/// arrive together with the last parcel before the change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayChange {
    pub at: Instant,
    pub delay: Duration,
}
