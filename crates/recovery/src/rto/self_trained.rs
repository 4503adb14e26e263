//! *Looks at* round-trip samples, ssthresh and cwnd, and which of its timeouts were spurious.
//! *Decides* on AGG x RTO_E: ever shorter, until a spurious timeout shows that it was too short.
//! *Blind to* spurious timeouts that nobody detects: without a detector it only becomes shorter.
//! *From* the thesis, section 5.4.6.

use super::back_off::BackOff;
use super::eifel::Settings;
use super::restart::Restart;
use super::rto_e::RtoE;
use super::timing::Timed;
use super::{Rto, Sample, TimerChange};
use crate::detect::Outcome;
use crate::episode::Estimate;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// The self-trained timer, RTO_AGG.
#[derive(Clone, Debug)]
pub struct SelfTrained {
    prediction: RtoE,
    restart: Restart,
    timed: Timed,
    back_off: BackOff,
    /// How quickly AGG falls, between 0 and 1.
    k: f64,
    /// The share of RTO_E that is waited for.
    agg: f64,
    /// What the next sample multiplies it by, and the cwnd that this was made from.
    decay: (f64, u64),
    /// cwnd at the last sample, in bytes.
    cwnd: u64,
    cycle: Cycle,
    rto: Duration,
}

/// The congestion avoidance cycle that AGG falls by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cycle {
    /// None has ended: it is as if one ended now.
    First,
    /// The last one ended with this cwnd, MAXCWND, in bytes.
    Ended(u64),
}

/// CYCLE = 3/8 x MAXCWND^2: the segments that a congestion avoidance cycle sends. One has at least one.
fn cycle(max_cwnd: u64, mss: u32) -> f64 {
    let segments = max_cwnd as f64 / f64::from(mss);
    (0.375 * segments * segments).max(1.0)
}

/// 1 - k / CYCLE: what AGG is multiplied by for each valid sample.
fn decay(k: f64, cycle: f64) -> f64 {
    1.0 - k / cycle
}

/// MIN(AGG + 1/2 x (1 - AGG), 1), for each spurious timeout.
fn relented(agg: f64) -> f64 {
    (agg + 0.5 * (1.0 - agg)).min(1.0)
}

impl SelfTrained {
    /// A timer that has not seen a sample. AGG falls by about `k_per_mille` thousandths a cycle.
    pub fn new(settings: Settings, k_per_mille: u64) -> Self {
        let back_off = BackOff::new(settings.limits());
        let rto = back_off.rto(None);
        Self {
            prediction: RtoE::new(settings.granularity, settings.m),
            restart: settings.restart,
            timed: Timed::new(settings.timing),
            back_off,
            k: k_per_mille as f64 / 1000.0,
            agg: 1.0,
            decay: (1.0, 0),
            cwnd: 0,
            cycle: Cycle::First,
            rto,
        }
    }

    /// A window that has become smaller ends a cycle.
    fn train(&mut self, cwnd: u64, mss: u32) {
        if cwnd < self.cwnd {
            self.cycle = Cycle::Ended(self.cwnd);
        }
        self.cwnd = cwnd;
        let max_cwnd = match self.cycle {
            Cycle::First => cwnd,
            Cycle::Ended(max_cwnd) => max_cwnd,
        };
        if self.decay.1 != max_cwnd {
            self.decay = (decay(self.k, cycle(max_cwnd, mss)), max_cwnd);
        }
        // So little that two ticks are longer, whatever RTO_E is.
        self.agg = (self.agg * self.decay.0).max(f64::EPSILON);
    }

    fn refresh(&mut self) {
        // RTO_AGG = AGG x RTO_E.
        let scaled = |nanos: f64| Duration::from_nanos((self.agg * nanos) as u64);
        let predicted = self.prediction.rto().map(scaled);
        self.rto = self.back_off.rto(predicted).max(self.prediction.floor().map(scaled).unwrap_or_default());
    }
}

impl Rto for SelfTrained {
    fn sample(&mut self, sample: &Sample, view: &View) {
        if self.timed.takes(sample, view) {
            self.prediction.sample(sample, view.mss, self.timed.rate(sample, view));
            self.train(sample.window.cwnd, view.mss);
            self.back_off.on_sample();
            self.refresh();
        }
    }

    fn settled(&mut self, outcome: Outcome) {
        if outcome == Outcome::Spurious {
            self.agg = relented(self.agg);
            self.refresh();
        }
    }

    fn back_off(&mut self) {
        self.back_off.on_expiry();
        self.refresh();
    }

    fn rto(&self) -> Duration {
        self.rto
    }

    fn expires(&self, now: Instant, oldest: Instant) -> Instant {
        self.restart.begins(now, oldest) + self.rto
    }

    fn estimate(&self) -> Option<Estimate> {
        self.prediction.estimate()
    }

    fn change(&mut self, change: TimerChange) {
        if let Some(seed) = self.back_off.change(change) {
            self.prediction.seed(seed);
        }
        self.refresh();
    }
}
