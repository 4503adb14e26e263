//! *Looks at* round-trip samples, as often as they come.
//! *Decides* on RFC 6298's RTO, but no ACK of new data starts the timer anew: it runs from its start
//! until all is acknowledged or it expires.
//! *Blind to* the age of the oldest segment: it expires for a segment that was sent just before.
//! *From* stacks that leave out RFC 6298, section 5.3, which is only recommended.

use super::back_off::{BackOff, Limits, Seed};
use super::rfc6298::{Ends, Rfc6298};
use super::timer::{Estimator, Timer};
use super::{HOUR, MAXIMUM, MICROSECOND, RestartedBy, Sample};
use crate::episode::Estimate;
use crate::registry::{Entry, Parameter};
use crate::view::View;
use eifel_base::time::Duration;

pub(super) const ENTRY: Entry = Entry {
    name: "never-restarted",
    summary: "RFC 6298's time, but ACKs of new data never restart the timer",
    source: "a deviation from RFC 6298, section 5.3",
    parameters: &[
        Parameter::milliseconds("initial_ms", "before the first sample", 1000, (MICROSECOND, HOUR)),
        Parameter::milliseconds("minimum_ms", "never less", 1000, (Duration::ZERO, HOUR)),
        MAXIMUM,
        Parameter::milliseconds(
            "granularity_ms",
            "G, the clock's granularity",
            1,
            (MICROSECOND, Duration::from_secs(10)),
        ),
    ],
    ..Entry::rto(|parameters| {
        let standard = Rfc6298::new(parameters.duration("granularity_ms"), Duration::ZERO, Ends::Sample);
        Box::new(Timer::new(NeverRestarted(standard), Limits::of(parameters)))
    })
};

/// The standard estimator, for a timer that ACKs do not restart.
#[derive(Clone, Debug)]
pub struct NeverRestarted(Rfc6298);

impl Estimator for NeverRestarted {
    fn sample(&mut self, sample: &Sample, view: &View) -> bool {
        self.0.sample(sample, view)
    }

    fn seed(&mut self, seed: Seed) {
        self.0.seed(seed);
    }

    fn rto(&self, back_off: &BackOff) -> Duration {
        self.0.rto(back_off)
    }

    fn estimate(&self) -> Option<Estimate> {
        self.0.estimate()
    }

    fn restarted_by(&self) -> RestartedBy {
        RestartedBy::Nothing
    }
}
