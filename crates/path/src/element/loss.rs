//! Random loss: drops each parcel with the same probability, independently of the others.

use super::Fate;
use crate::parcel::DropCause;
use crate::stream::Stream;

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
