//! Duplication: a copy follows a parcel back to back.

use super::Fate;
use crate::stream::Stream;

#[derive(Debug)]
pub struct Duplicate {
    rate: f64,
    stream: Stream,
}

impl Duplicate {
    pub(super) fn new(rate: f64, stream: Stream) -> Self {
        Self { rate, stream }
    }

    pub(super) fn meet(&mut self) -> Fate {
        if self.stream.chance(self.rate) { Fate::Twice } else { Fate::Pass }
    }
}
