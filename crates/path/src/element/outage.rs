//! Outages: the link drops every parcel offered during one, as without radio coverage. Parcels
//! already on the link go on.

use super::Fate;
use crate::config::ConfigError;
use crate::parcel::DropCause;
use crate::spike::{Schedule, SpikeSource};
use eifel_base::time::Instant;

/// A source of outages on a link.
#[derive(Clone, Debug, PartialEq)]
pub struct OutageConfig {
    /// Name of the random stream. Links with the same name in a run have the same outages.
    pub name: String,
    /// The outages, listed or drawn like spikes.
    pub source: SpikeSource,
}

impl OutageConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.source.check("outage")
    }
}

#[derive(Debug)]
pub struct Outage(Schedule);

impl Outage {
    pub(super) fn new(config: &OutageConfig, seed: u64) -> Self {
        Self(Schedule::new(&config.source, ("outage", &config.name), seed))
    }

    pub(super) fn meet(&mut self, now: Instant) -> Fate {
        if self.0.contains(now) { Fate::Drop(DropCause::Outage) } else { Fate::Pass }
    }
}
