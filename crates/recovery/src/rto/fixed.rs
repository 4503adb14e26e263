//! *Looks at* nothing but its own expiries.
//! *Decides* on the same time always, doubled by each expiry.
//! *Blind to* the path.
//! *From* what small stacks do; a yardstick for the others.

use super::back_off::{BackOff, Limits};
use super::{Rto, Sample, TimerChange};
use crate::episode::Estimate;
use crate::view::View;
use eifel_base::time::Duration;

/// A timer that does not measure.
#[derive(Clone, Debug)]
pub struct Fixed {
    back_off: BackOff,
}

impl Fixed {
    /// A timer of so long, backed off to at most `maximum`.
    pub fn new(rto: Duration, maximum: Duration) -> Self {
        Self { back_off: BackOff::new(Limits { initial: rto, minimum: rto, maximum }) }
    }
}

impl Rto for Fixed {
    fn sample(&mut self, _: &Sample, _: &View) {
        self.back_off.on_sample();
    }

    fn back_off(&mut self) {
        self.back_off.on_expiry();
    }

    fn rto(&self) -> Duration {
        self.back_off.rto(None)
    }

    fn estimate(&self) -> Option<Estimate> {
        None
    }

    fn change(&mut self, change: TimerChange) {
        // There is no estimator that a seed could be for.
        let _ = self.back_off.change(change);
    }
}
