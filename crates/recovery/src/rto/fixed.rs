//! *Looks at* nothing but its own expiries.
//! *Decides* on a constant time, doubled by each expiry.
//! *Blind to* the path.
//! *From* the practice of small stacks; a yardstick for the other timers.

use super::MAXIMUM;
use super::back_off::{BackOff, Limits, Seed};
use super::timer::{Estimator, Timer};
use super::{HOUR, MICROSECOND, Sample};
use crate::episode::Estimate;
use crate::registry::{Entry, Parameter};
use crate::view::View;
use eifel_base::time::Duration;

pub(super) const ENTRY: Entry = Entry {
    name: "fixed",
    summary: "a fixed time, doubled by each expiry",
    source: "a yardstick",
    parameters: &[
        Parameter::milliseconds("rto_ms", "the time before any back-off", 1000, (MICROSECOND, HOUR)),
        MAXIMUM,
    ],
    ..Entry::rto(|parameters| {
        let (rto, maximum) = (parameters.duration("rto_ms"), parameters.duration("maximum_ms"));
        Box::new(Timer::new(Fixed, Limits { initial: rto, minimum: rto, maximum }))
    })
};

/// An estimator that does not measure.
#[derive(Clone, Debug)]
pub struct Fixed;

impl Estimator for Fixed {
    fn sample(&mut self, _: &Sample, _: &View) -> bool {
        true
    }

    /// Ignores the seed: there is no estimate to restart.
    fn seed(&mut self, _: Seed) {}

    fn rto(&self, back_off: &BackOff) -> Duration {
        back_off.rto(None)
    }

    fn estimate(&self) -> Option<Estimate> {
        None
    }
}
