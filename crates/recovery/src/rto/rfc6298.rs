//! *Looks at* round-trip samples, as often as they come.
//! *Decides* on SRTT + max(G, 4 RTTVAR), not below the minimum, doubled by each expiry up to the maximum.
//! *Blind to* how often it is sampled: with a sample on every ACK its memory is a fraction of a round trip.
//! *From* RFC 6298, sections 2 and 5.

use super::{Rto, TimerChange};
use crate::episode::Estimate;
use crate::time::Duration;
use crate::view::View;

/// The standard timer.
#[derive(Debug)]
pub struct Rfc6298 {
    bounds: Bounds,
    minimum: Duration,
    estimate: Option<Estimate>,
    expiries: u32,
    hold: Hold,
    rto: Duration,
}

/// The timer's settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Before the first sample (section 2.1).
    pub initial: Duration,
    /// Never less (section 2.4).
    pub minimum: Duration,
    /// Never more (section 2.5).
    pub maximum: Duration,
    /// G, the clock's granularity.
    pub granularity: Duration,
}

/// Whether a sample resets the back-off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hold {
    No,
    Yes,
}

impl Rfc6298 {
    /// A timer that has not seen a sample.
    pub fn new(bounds: Bounds) -> Self {
        let minimum = bounds.minimum;
        let mut timer = Self { bounds, minimum, estimate: None, expiries: 0, hold: Hold::No, rto: bounds.initial };
        timer.refresh();
        timer
    }

    fn refresh(&mut self) {
        let base = match self.estimate {
            // Sections 2.2 and 2.3.
            Some(Estimate { srtt, rttvar }) => (srtt + self.bounds.granularity.max(rttvar * 4)).max(self.minimum),
            None => self.bounds.initial.max(self.minimum),
        };
        // Section 5.5; the shift saturates long before it overflows.
        self.rto = (base * (1 << self.expiries.min(30))).min(self.bounds.maximum.max(self.minimum));
    }
}

impl Rto for Rfc6298 {
    fn sample(&mut self, rtt: Duration, _: &View<'_>) {
        self.estimate = Some(match self.estimate {
            // Section 2.2.
            None => Estimate { srtt: rtt, rttvar: rtt / 2 },
            // Section 2.3, with alpha = 1/8 and beta = 1/4; RTTVAR before SRTT.
            Some(Estimate { srtt, rttvar }) => {
                Estimate { rttvar: (rttvar * 3 + srtt.abs_diff(rtt)) / 4, srtt: (srtt * 7 + rtt) / 8 }
            }
        });
        if self.hold == Hold::No {
            self.expiries = 0;
        }
        self.refresh();
    }

    fn back_off(&mut self) {
        self.expiries += 1;
        self.refresh();
    }

    fn rto(&self) -> Duration {
        self.rto
    }

    fn estimate(&self) -> Option<Estimate> {
        self.estimate
    }

    fn change(&mut self, change: TimerChange) {
        match change {
            TimerChange::Keep => return,
            TimerChange::Reseed(sample) => {
                self.estimate = Some(Estimate { srtt: sample, rttvar: sample / 2 });
                self.expiries = 0;
            }
            TimerChange::ReseedAtLeast { sample, before } => {
                // RFC 4015, section 3.2, step 0 adds twice the granularity to what was before.
                let srtt = sample.max(before.srtt + self.bounds.granularity * 2);
                self.estimate = Some(Estimate { srtt, rttvar: before.rttvar.max(sample / 2) });
                self.expiries = 0;
            }
            TimerChange::RaiseInitial(least) => {
                self.bounds.initial = self.bounds.initial.max(least);
                self.expiries = 0;
            }
            TimerChange::HoldBackOff => self.hold = Hold::Yes,
            TimerChange::ReleaseBackOff => {
                self.hold = Hold::No;
                self.expiries = 0;
            }
            TimerChange::RaiseMinimum(step) => self.minimum = self.minimum + step,
            TimerChange::ResetMinimum => self.minimum = self.bounds.minimum,
        }
        self.refresh();
    }
}
