//! Jitter: delays each parcel by its own amount before it enters the queue.

use super::Fate;
use super::waiting::Waiting;
use crate::config::ConfigError;
use crate::draw::Draw;
use crate::parcel::Labelled;
use crate::stream::Stream;
use eifel_base::time::Instant;

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
    waiting: Waiting,
    /// The latest deadline so far.
    latest: Instant,
    stream: Stream,
}

impl Jitter {
    pub(super) fn new(config: JitterConfig, stream: Stream) -> Self {
        Self { config, waiting: Waiting::default(), latest: Instant::ZERO, stream }
    }

    pub(super) fn meet(&mut self, now: Instant, one: &Labelled) -> Fate {
        let mut deadline = now + self.config.delay.draw(&mut self.stream);
        if self.config.keeps_order {
            deadline = deadline.max(self.latest);
        }
        self.latest = self.latest.max(deadline);
        self.waiting.hold(deadline, now, one)
    }

    pub(super) fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    pub(super) fn release(&mut self, now: Instant) -> Option<Labelled> {
        self.waiting.release(now)
    }
}
