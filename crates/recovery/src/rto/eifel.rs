//! *Looks at* round-trip samples, ssthresh and cwnd, and the age of the oldest segment under way.
//! *Decides* on SRTT_E + RTTVAR_E / GAIN_E, not below the latest sample plus two ticks, less that
//! age.
//! *Blind to* how fast the load grows in slow start: its gains take the larger of ssthresh and half
//! of cwnd for the load.
//! *From* the thesis, section 5.4.

use super::back_off::{BackOff, Limits, Seed};
use super::restart::{RESTART_AGE, Restart};
use super::rto_e::RtoE;
use super::timer::{Estimator, Timer};
use super::timing::{TIMING, Timed, Timing};
use super::{HOUR, INITIAL, MICROSECOND, Sample};
use crate::episode::Estimate;
use crate::registry::{Entry, Parameter, Parameters};
use crate::view::View;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "eifel",
    summary: "scales with the load, ignores falling round trips, restarted with the age of the oldest segment",
    source: "Ludwig 2000, section 5.4",
    parameters: &[INITIAL, BACK_OFF_MAXIMUM, GRANULARITY, M, TIMING, RESTART_AGE],
    ..Entry::rto(|parameters| Box::new(Timer::new(Eifel::of(parameters), Eifel::limits(parameters))))
};

pub(super) const BACK_OFF_MAXIMUM: Parameter = Parameter::milliseconds(
    "maximum_ms",
    "the maximum RTO, unless the latest sample and two ticks exceed it",
    60_000,
    (MICROSECOND, HOUR),
);
pub(super) const GRANULARITY: Parameter = Parameter::milliseconds(
    "granularity_ms",
    "a tick; the RTO is two ticks above the latest sample",
    10,
    (MICROSECOND, Duration::from_secs(10)),
);
pub(super) const M: Parameter =
    Parameter::integer("m", "the variation weight is m / GAIN (section 5.4.2, footnote)", 1, (1, 1000));

/// The Eifel timer, RTO_E and REXMT_E.
#[derive(Clone, Debug)]
pub struct Eifel {
    prediction: RtoE,
    restart: Restart,
    timed: Timed,
}

impl Eifel {
    /// Creates an estimator that has not seen a sample. `granularity` is a tick, and m / GAIN_E the variation weight.
    pub fn new(granularity: Duration, m: u64, timing: Timing, restart: Restart) -> Self {
        Self { prediction: RtoE::new(granularity, m), restart, timed: Timed::new(timing) }
    }

    pub(super) fn of(parameters: &Parameters) -> Self {
        let (granularity, m) = (parameters.duration("granularity_ms"), parameters.integer("m"));
        Self::new(granularity, m, Timing::of(parameters), Restart::of(parameters))
    }

    /// Returns the timer's limits. Without the maximum, a large ssthresh alone would make the
    /// variation weight so large that one late sample silences the timer for hours.
    pub(super) fn limits(parameters: &Parameters) -> Limits {
        Limits {
            initial: parameters.duration("initial_ms"),
            minimum: parameters.duration("granularity_ms") * 2,
            maximum: parameters.duration("maximum_ms"),
        }
    }

    /// Returns the RTO for this `share` of the prediction.
    pub(super) fn share(&self, share: f64, back_off: &BackOff) -> Duration {
        let scaled = |nanos: f64| Duration::from_nanos((share * nanos) as u64);
        let floor = self.prediction.floor().map(scaled).unwrap_or_default();
        back_off.rto(self.prediction.rto().map(scaled)).max(floor)
    }
}

impl Estimator for Eifel {
    fn sample(&mut self, sample: &Sample, view: &View) -> bool {
        let takes = self.timed.takes(sample, view);
        if takes {
            self.prediction.sample(sample, view.mss, self.timed.rate(sample, view));
        }
        takes
    }

    fn seed(&mut self, seed: Seed) {
        self.prediction.seed(seed);
    }

    fn rto(&self, back_off: &BackOff) -> Duration {
        self.share(1.0, back_off)
    }

    fn estimate(&self) -> Option<Estimate> {
        self.prediction.estimate()
    }

    /// Returns the start of REXMT_E = RTO_E - "age of oldest outstanding segment" (section 5.4.5).
    fn begins(&self, now: Instant, oldest: Instant) -> Instant {
        self.restart.begins(now, oldest)
    }
}
