//! The part that all timers share: initial value, minimum, maximum, the doubling between them, and
//! the changes that verdicts request (RFC 6298, sections 2.1, 2.4, 2.5 and 5.5 to 5.7).

use super::{TimerChange, jacobson};
use crate::episode::Estimate;
use crate::learnt::Learnt;
use crate::registry::Parameters;
use eifel_base::time::Duration;

/// The limits of a timer's RTO.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The RTO before the first sample.
    pub initial: Duration,
    pub minimum: Duration,
    pub maximum: Duration,
}

impl Limits {
    pub(super) fn of(parameters: &Parameters) -> Self {
        let [initial, minimum, maximum] =
            ["initial_ms", "minimum_ms", "maximum_ms"].map(|name| parameters.duration(name));
        Self { initial, minimum, maximum }
    }
}

/// The values from which an estimator restarts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seed {
    /// This sample, as if it were the first.
    First(Duration),
    /// The sample, but not below the estimate before the timeout.
    AtLeast {
        sample: Duration,
        /// The estimate before the timeout.
        before: Estimate,
    },
    /// The estimate of an earlier connection to the destination.
    Inherited(Estimate),
}

impl Seed {
    /// Returns the estimate that it restarts: RFC 4015, section 3.1, step 11. Step 0 adds twice the
    /// granularity to the SRTT before the timeout.
    pub fn estimate(self, granularity: Duration) -> Estimate {
        match self {
            Self::First(sample) => jacobson::first(sample),
            Self::Inherited(estimate) => estimate,
            Self::AtLeast { sample, before } => {
                Estimate { srtt: sample.max(before.srtt + granularity * 2), rttvar: before.rttvar.max(sample / 2) }
            }
        }
    }
}

/// The back-off of one timer.
#[derive(Clone, Debug)]
pub struct BackOff {
    limits: Limits,
    /// The current minimum, which verdicts raise, halve and reset.
    minimum: Duration,
    /// Expiries since the back-off was last reset.
    expiries: u32,
    /// Whether samples do not reset the back-off. Set by [`TimerChange::HoldBackOff`].
    held: bool,
}

impl BackOff {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, minimum: limits.minimum, expiries: 0, held: false }
    }

    /// Ends the back-off at a sample, unless a verdict holds it.
    pub(super) fn on_sample(&mut self) {
        if !self.held {
            self.expiries = 0;
        }
    }

    pub(super) fn on_expiry(&mut self) {
        self.expiries += 1;
    }

    /// Returns the RTO within the limits, backed off. `estimated` is the estimator's value; `None`
    /// before the first sample.
    pub fn rto(&self, estimated: Option<Duration>) -> Duration {
        // [rfc6298:2.1] [rfc6298:2.4]
        let base = estimated.unwrap_or(self.limits.initial).max(self.minimum);
        // Doubled by each expiry [rfc6298:5.5]; the shift saturates long before it overflows.
        let doubled = if self.expiries == 0 { base } else { base * (1 << self.expiries.min(30)) };
        self.at_most(doubled)
    }

    /// Returns whether the timer has expired since the back-off was last reset.
    pub(super) fn is_backed_off(&self) -> bool {
        self.expiries > 0
    }

    /// Limits a time to the maximum.
    pub(super) fn at_most(&self, time: Duration) -> Duration {
        time.min(self.limits.maximum.max(self.minimum))
    }

    /// Applies a change that a response or an adaptation requests. Returns the seed if the
    /// estimator must restart.
    pub(super) fn change(&mut self, change: TimerChange) -> Option<Seed> {
        match change {
            TimerChange::Keep => {}
            TimerChange::Reseed(sample) => {
                self.expiries = 0;
                return Some(Seed::First(sample));
            }
            TimerChange::ReseedAtLeast { sample, before } => {
                self.expiries = 0;
                return Some(Seed::AtLeast { sample, before });
            }
            TimerChange::Inherit(estimate) => return Some(Seed::Inherited(estimate)),
            TimerChange::RaiseInitial(least) => {
                self.limits.initial = self.limits.initial.max(least);
                self.expiries = 0;
            }
            TimerChange::HoldBackOff => self.held = true,
            TimerChange::ReleaseBackOff => {
                self.held = false;
                self.expiries = 0;
            }
            TimerChange::RaiseMinimum(step) => self.raise_minimum_to(self.minimum + step),
            TimerChange::RaiseMinimumTo(least) => self.raise_minimum_to(least),
            TimerChange::HalveMinimum => self.minimum = (self.minimum / 2).max(self.limits.minimum),
            TimerChange::ResetMinimum => self.minimum = self.limits.minimum,
        }
        None
    }

    /// Returns what the next connection may inherit, with the estimator's `estimate`.
    pub(super) fn learnt(&self, estimate: Option<Estimate>) -> Learnt {
        Learnt { estimate, minimum: self.minimum, held_expiries: if self.held { self.expiries } else { 0 } }
    }

    /// Raises the minimum, up to the maximum. Otherwise a detector that is often wrong would raise
    /// it without end.
    fn raise_minimum_to(&mut self, least: Duration) {
        let most = self.limits.maximum.max(self.limits.minimum);
        self.minimum = self.minimum.max(least.min(most));
    }
}
