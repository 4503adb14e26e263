//! Random loss: each parcel is dropped with the same probability, whatever happened to the others.

use super::Fate;
use crate::parcel::DropCause;
use crate::stream::Stream;

/// Random loss at work.
#[derive(Debug)]
pub struct RandomLoss {
    rate: f64,
    stream: Stream,
}

impl RandomLoss {
    pub(super) fn new(rate: f64, stream: Stream) -> Self {
        Self { rate, stream }
    }

    pub(super) fn meet(&mut self) -> Fate {
        if self.stream.chance(self.rate) { Fate::Drop(DropCause::Random) } else { Fate::Pass }
    }
}
