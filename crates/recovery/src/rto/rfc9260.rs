//! *Looks at* one round-trip sample per round trip. Timestamp echoes would give more, but rule C4
//! forbids them with these gains.
//! *Decides* on SRTT + 4 RTTVAR, not below the minimum, doubled by each expiry up to the maximum.
//! *Blind to* the number of bytes in flight.
//! *From* RFC 9260, sections 6.3.1 to 6.3.3; section 16 for the values.

use super::back_off::{BackOff, Limits, Seed};
use super::timer::{Estimator, Timer};
use super::timing::{Timed, Timing};
use super::{HOUR, MICROSECOND, Sample, jacobson};
use crate::episode::Estimate;
use crate::registry::{Entry, Parameter};
use crate::view::View;
use eifel_base::time::Duration;

pub(super) const ENTRY: Entry = Entry {
    name: "rfc9260",
    summary: "SCTP's: SRTT + 4 RTTVAR, doubled by each expiry",
    source: "RFC 9260",
    parameters: &[
        // [rfc8540:3.32]
        Parameter::milliseconds("initial_ms", "RTO.Initial", 1000, (MICROSECOND, HOUR)),
        Parameter::milliseconds("minimum_ms", "RTO.Min", 1000, (Duration::ZERO, HOUR)),
        Parameter::milliseconds("maximum_ms", "RTO.Max", 60_000, (MICROSECOND, HOUR)),
        Parameter::milliseconds(
            "granularity_ms",
            "G, the clock's granularity",
            1,
            (MICROSECOND, Duration::from_secs(10)),
        ),
    ],
    ..Entry::rto(|parameters| {
        let granularity = parameters.duration("granularity_ms");
        let estimator = Rfc9260 { granularity, timed: Timed::new(Timing::OneARoundTrip), estimate: None };
        Box::new(Timer::new(estimator, Limits::of(parameters)))
    })
};

/// SCTP's timer, one for each path.
#[derive(Clone, Debug)]
pub struct Rfc9260 {
    granularity: Duration,
    timed: Timed,
    estimate: Option<Estimate>,
}

impl Rfc9260 {
    /// Stores an estimate. Rule G1: an RTTVAR of zero counts as the clock's granularity.
    fn keep(&mut self, Estimate { srtt, rttvar }: Estimate) {
        let rttvar = if rttvar == Duration::ZERO { self.granularity } else { rttvar };
        self.estimate = Some(Estimate { srtt, rttvar });
    }
}

impl Estimator for Rfc9260 {
    fn sample(&mut self, sample: &Sample, view: &View) -> bool {
        let takes = self.timed.takes(sample, view);
        if takes {
            self.keep(jacobson::next(self.estimate, sample.rtt));
        }
        // Section 6.3.3: a new measurement collapses the back-off.
        takes
    }

    fn seed(&mut self, seed: Seed) {
        self.keep(seed.estimate(self.granularity));
    }

    fn rto(&self, back_off: &BackOff) -> Duration {
        // Rules C2 and C3.
        back_off.rto(self.estimate.map(|Estimate { srtt, rttvar }| srtt + rttvar * 4))
    }

    fn estimate(&self) -> Option<Estimate> {
        self.estimate
    }
}
