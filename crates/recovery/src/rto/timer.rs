//! A timer around a round-trip estimator. It implements limits, back-off and the changes that
//! verdicts request, once for all estimators.

use super::back_off::{BackOff, Limits, Seed};
use super::{RestartedBy, Rto, Sample, TimerChange};
use crate::detect::Outcome;
use crate::episode::Estimate;
use crate::learnt::Learnt;
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// Turns round-trip samples into the time to wait.
pub trait Estimator: Clone + core::fmt::Debug + Send + 'static {
    /// Processes a sample. Returns whether it ends the back-off.
    fn sample(&mut self, sample: &Sample, view: &View) -> bool;

    /// Restarts the estimate from `seed`, as a verdict requests.
    fn seed(&mut self, seed: Seed);

    /// Returns the RTO, backed off.
    fn rto(&self, back_off: &BackOff) -> Duration;

    /// Returns SRTT and RTTVAR, once there is a sample.
    fn estimate(&self) -> Option<Estimate>;

    /// Returns the instant from which the RTO counts if the timer is started at `now`. `oldest` is
    /// when the oldest segment in flight was sent. RFC 6298, section 5.3, asks for a full RTO,
    /// whatever that segment's age.
    fn begins(&self, now: Instant, _oldest: Instant) -> Instant {
        now
    }

    /// Returns which ACKs restart the timer while data is outstanding. RFC 6298, section 5.3,
    /// recommends those of new data.
    fn restarted_by(&self) -> RestartedBy {
        RestartedBy::NewData
    }

    /// Learns that the timer has expired.
    fn on_expiry(&mut self) {}

    /// Learns the verdict on an episode that the timer opened.
    fn on_verdict(&mut self, _: Outcome) {}
}

/// A retransmission timer around a round-trip estimator.
#[derive(Clone, Debug)]
pub struct Timer<E> {
    estimator: E,
    back_off: BackOff,
    rto: Duration,
}

impl<E: Estimator> Timer<E> {
    /// Creates a timer that has not seen a sample.
    pub fn new(estimator: E, limits: Limits) -> Self {
        let back_off = BackOff::new(limits);
        let rto = estimator.rto(&back_off);
        Self { estimator, back_off, rto }
    }

    fn refresh(&mut self) {
        self.rto = self.estimator.rto(&self.back_off);
    }
}

impl<E: Estimator> Rto for Timer<E> {
    #[inline(always)]
    fn sample(&mut self, sample: &Sample, view: &View) {
        if self.estimator.sample(sample, view) {
            self.back_off.on_sample();
        }
        self.refresh();
    }

    fn on_verdict(&mut self, outcome: Outcome) {
        self.estimator.on_verdict(outcome);
        self.refresh();
    }

    fn back_off(&mut self) {
        self.back_off.on_expiry();
        self.estimator.on_expiry();
        self.refresh();
    }

    fn rto(&self) -> Duration {
        self.rto
    }

    fn expires(&self, now: Instant, oldest: Instant) -> Instant {
        self.estimator.begins(now, oldest) + self.rto
    }

    fn restarted_by(&self) -> RestartedBy {
        self.estimator.restarted_by()
    }

    fn estimate(&self) -> Option<Estimate> {
        self.estimator.estimate()
    }

    fn change(&mut self, change: TimerChange) {
        if let Some(seed) = self.back_off.change(change) {
            self.estimator.seed(seed);
        }
        self.refresh();
    }

    fn learnt(&self) -> Learnt {
        self.back_off.learnt(self.estimator.estimate())
    }
}
