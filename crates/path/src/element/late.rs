//! Lateness: a chosen parcel waits for a time, and all that come meanwhile overtake it.

use super::Fate;
use super::reorder::{Choice, Chooser};
use super::waiting::Waiting;
use crate::config::ConfigError;
use crate::draw::Draw;
use crate::parcel::Labelled;
use crate::stream::Stream;
use eifel_base::time::Instant;

/// Which parcels are late, and how late.
#[derive(Clone, PartialEq, Debug)]
pub struct LateConfig {
    pub choice: Choice,
    /// The wait of each chosen parcel.
    pub late: Draw,
}

impl LateConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.late.check("reorder.late_ms")?;
        self.choice.check()
    }
}

#[derive(Debug)]
pub struct Late {
    chooser: Chooser,
    late: Draw,
    waiting: Waiting,
}

impl Late {
    pub(super) fn new(config: &LateConfig, stream: Stream) -> Self {
        let chooser = Chooser::new(&config.choice, stream);
        Self { chooser, late: config.late.clone(), waiting: Waiting::default() }
    }

    pub(super) fn meet(&mut self, now: Instant, one: &Labelled) -> Fate {
        if !self.chooser.chooses(&one.label) {
            return Fate::Pass;
        }
        let deadline = now + self.late.draw(&mut self.chooser.stream);
        self.waiting.hold(deadline, now, one)
    }

    pub(super) fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    pub(super) fn release(&mut self, now: Instant) -> Option<Labelled> {
        self.waiting.release(now)
    }
}
