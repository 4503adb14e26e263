//! What all timers share: an initial value, a minimum, a maximum, the doubling between them, and what verdicts change of
//! it (RFC 6298, sections 2.1, 2.4, 2.5 and 5.5 to 5.7).

use super::TimerChange;
use crate::episode::Estimate;
use eifel_base::time::Duration;

/// How long and how short a timer may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Before the first sample.
    pub initial: Duration,
    /// Never less.
    pub minimum: Duration,
    /// Never more.
    pub maximum: Duration,
}

/// Whether a sample ends the back-off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hold {
    No,
    Yes,
}

/// From what an estimator begins anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Seed {
    /// This sample, as if it were the first.
    First(Duration),
    /// The sample, but not below what was before.
    AtLeast {
        /// The sample.
        sample: Duration,
        /// What was before.
        before: Estimate,
    },
}

/// The back-off of one timer.
#[derive(Clone, Debug)]
pub(super) struct BackOff {
    limits: Limits,
    /// The minimum as verdicts have left it.
    minimum: Duration,
    expiries: u32,
    hold: Hold,
}

impl BackOff {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, minimum: limits.minimum, expiries: 0, hold: Hold::No }
    }

    /// A sample ends the back-off, unless a verdict holds it.
    pub(super) fn on_sample(&mut self) {
        if self.hold == Hold::No {
            self.expiries = 0;
        }
    }

    pub(super) fn on_expiry(&mut self) {
        self.expiries += 1;
    }

    /// The RTO where the estimator asks for `estimated`; `None` before the first sample.
    pub(super) fn rto(&self, estimated: Option<Duration>) -> Duration {
        // [rfc6298:2.1] [rfc6298:2.4]
        let base = estimated.unwrap_or(self.limits.initial).max(self.minimum);
        // Doubled by each expiry [rfc6298:5.5]; the shift saturates long before it overflows.
        let doubled = if self.expiries == 0 { base } else { base * (1 << self.expiries.min(30)) };
        doubled.min(self.limits.maximum.max(self.minimum))
    }

    /// Does what a response or an adaptation asks of the back-off; what it asks of the estimator is given back.
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
            TimerChange::RaiseInitial(least) => {
                self.limits.initial = self.limits.initial.max(least);
                self.expiries = 0;
            }
            TimerChange::HoldBackOff => self.hold = Hold::Yes,
            TimerChange::ReleaseBackOff => {
                self.hold = Hold::No;
                self.expiries = 0;
            }
            // A detector that is often wrong would raise it without end.
            TimerChange::RaiseMinimum(step) => {
                self.minimum = (self.minimum + step).min(self.limits.maximum.max(self.limits.minimum));
            }
            TimerChange::ResetMinimum => self.minimum = self.limits.minimum,
        }
        None
    }
}
