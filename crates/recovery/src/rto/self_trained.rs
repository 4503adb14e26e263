//! *Looks at* round-trip samples, ssthresh and cwnd, and verdicts on its timeouts.
//! *Decides* on AGG x RTO_E. AGG shrinks until a spurious timeout shows that the timer was too
//! short.
//! *Blind to* spurious timeouts that go undetected: without a detector the timer only becomes
//! shorter.
//! *From* the thesis, section 5.4.6.

use super::back_off::{BackOff, Seed};
use super::eifel::{BACK_OFF_MAXIMUM, Eifel, GRANULARITY, M};
use super::restart::RESTART_AGE;
use super::timer::{Estimator, Timer};
use super::timing::TIMING;
use super::{INITIAL, Sample};
use crate::detect::Outcome;
use crate::episode::Estimate;
use crate::registry::{Entry, Parameter};
use crate::view::View;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "self-trained",
    summary: "a fraction of the Eifel timer that shrinks until a timeout is spurious",
    source: "Ludwig 2000, section 5.4.6",
    parameters: &[
        Parameter::integer("k_per_mille", "approximate decrease of AGG in a congestion avoidance cycle", 50, (1, 999)),
        INITIAL,
        BACK_OFF_MAXIMUM,
        GRANULARITY,
        M,
        TIMING,
        RESTART_AGE,
    ],
    ..Entry::rto(|parameters| {
        let estimator = SelfTrained::new(Eifel::of(parameters), parameters.integer("k_per_mille"));
        Box::new(Timer::new(estimator, Eifel::limits(parameters)))
    })
};

/// The self-trained timer, RTO_AGG.
#[derive(Clone, Debug)]
pub struct SelfTrained {
    eifel: Eifel,
    /// How quickly AGG falls, between 0 and 1.
    k: f64,
    /// The share of RTO_E that the timer waits, above 0 and at most 1.
    agg: f64,
    /// The factor of AGG for the next sample, and the MAXCWND from which it was computed.
    decay: (f64, u64),
    /// cwnd at the last sample, in bytes.
    cwnd: u64,
    /// MAXCWND, in bytes: cwnd when the last congestion avoidance cycle ended. `None` before the
    /// first end; the current cwnd then takes its place.
    max_cwnd: Option<u64>,
}

/// Returns CYCLE = 3/8 x MAXCWND^2: the segments that a congestion avoidance cycle sends, at least
/// one.
fn cycle(max_cwnd: u64, mss: u32) -> f64 {
    let segments = max_cwnd as f64 / f64::from(mss);
    (0.375 * segments * segments).max(1.0)
}

/// Returns 1 - k / CYCLE: the factor of AGG for each valid sample.
fn decay(k: f64, cycle: f64) -> f64 {
    1.0 - k / cycle
}

/// Returns AGG after a spurious timeout: MIN(AGG + 1/2 x (1 - AGG), 1).
fn relented(agg: f64) -> f64 {
    (agg + 0.5 * (1.0 - agg)).min(1.0)
}

impl SelfTrained {
    /// Creates an estimator whose AGG falls by about `k_per_mille` thousandths a cycle.
    pub fn new(eifel: Eifel, k_per_mille: u64) -> Self {
        Self { eifel, k: k_per_mille as f64 / 1000.0, agg: 1.0, decay: (1.0, 0), cwnd: 0, max_cwnd: None }
    }

    /// Lowers AGG. A window that is smaller than at the last sample ends a cycle.
    fn train(&mut self, cwnd: u64, mss: u32) {
        if cwnd < self.cwnd {
            self.max_cwnd = Some(self.cwnd);
        }
        self.cwnd = cwnd;
        let max_cwnd = self.max_cwnd.unwrap_or(cwnd);
        if self.decay.1 != max_cwnd {
            self.decay = (decay(self.k, cycle(max_cwnd, mss)), max_cwnd);
        }
        // At this share, the minimum of two ticks exceeds AGG x RTO_E for any RTO_E.
        self.agg = (self.agg * self.decay.0).max(f64::EPSILON);
    }
}

impl Estimator for SelfTrained {
    fn sample(&mut self, sample: &Sample, view: &View) -> bool {
        let takes = self.eifel.sample(sample, view);
        if takes {
            self.train(sample.window.cwnd, view.mss);
        }
        takes
    }

    fn seed(&mut self, seed: Seed) {
        self.eifel.seed(seed);
    }

    /// Returns RTO_AGG = AGG x RTO_E.
    fn rto(&self, back_off: &BackOff) -> Duration {
        self.eifel.share(self.agg, back_off)
    }

    fn estimate(&self) -> Option<Estimate> {
        self.eifel.estimate()
    }

    fn begins(&self, now: Instant, oldest: Instant) -> Instant {
        self.eifel.begins(now, oldest)
    }

    fn on_verdict(&mut self, outcome: Outcome) {
        if outcome == Outcome::Spurious {
            self.agg = relented(self.agg);
        }
    }
}
