//! *Looks at* round-trip samples, ssthresh and cwnd, and the age of the oldest segment under way.
//! *Decides* on SRTT_E + RTTVAR_E / GAIN_E, not below the latest sample and two ticks, less that age.
//! *Blind to* how fast the load grows in slow start: its gains suppose a load that the window is about half of.
//! *From* the thesis, section 5.4.

use super::back_off::{BackOff, Limits};
use super::restart::Restart;
use super::rto_e::RtoE;
use super::timing::{Timed, Timing};
use super::{Rto, Sample, TimerChange};
use crate::episode::Estimate;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// The Eifel timer, RTO_E and REXMT_E.
#[derive(Clone, Debug)]
pub struct Eifel {
    prediction: RtoE,
    restart: Restart,
    timed: Timed,
    back_off: BackOff,
    rto: Duration,
}

/// The settings that it shares with the self-trained timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Before the first sample.
    pub initial: Duration,
    /// Never more, but for the latest sample and two ticks: a large ssthresh alone makes the variation weight so large
    /// that one late sample would silence the timer for hours.
    pub maximum: Duration,
    /// The timer granularity.
    pub granularity: Duration,
    /// The m of the variation weight, m / GAIN_E.
    pub m: u64,
    /// Which samples are taken.
    pub timing: Timing,
    /// From when a restarted timer counts.
    pub restart: Restart,
}

impl Settings {
    pub(super) fn limits(&self) -> Limits {
        Limits { initial: self.initial, minimum: self.granularity * 2, maximum: self.maximum }
    }
}

impl Eifel {
    /// A timer that has not seen a sample.
    pub fn new(settings: Settings) -> Self {
        let back_off = BackOff::new(settings.limits());
        let rto = back_off.rto(None);
        let prediction = RtoE::new(settings.granularity, settings.m);
        Self { prediction, restart: settings.restart, timed: Timed::new(settings.timing), back_off, rto }
    }

    fn refresh(&mut self) {
        let whole = |nanos: f64| Duration::from_nanos(nanos as u64);
        let predicted = self.prediction.rto().map(whole);
        self.rto = self.back_off.rto(predicted).max(self.prediction.floor().map(whole).unwrap_or_default());
    }
}

impl Rto for Eifel {
    fn sample(&mut self, sample: &Sample, view: &View) {
        if self.timed.takes(sample, view) {
            self.prediction.sample(sample, view.mss, self.timed.rate(sample, view));
            self.back_off.on_sample();
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

    /// REXMT_E = RTO_E - "age of oldest outstanding segment" (section 5.4.5).
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
