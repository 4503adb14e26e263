//! *Looks at* round-trip samples, and at una and nxt to tell one round trip from the next.
//! *Decides* on SRTT plus the largest deviation of a round trip, fourfold, which is at least the minimum; it rises at
//! once and falls by a quarter a round trip, and a falling round trip moves it an eighth as much.
//! *Blind to* a minimum that suits the path: with 200 ms above SRTT, short paths wait for hundreds of round trips.
//! *From* Linux, tcp_rtt_estimator and tcp_set_rto in net/ipv4/tcp_input.c.

use super::back_off::{BackOff, Limits, Seed};
use super::{Rto, Sample, TimerChange, jacobson};
use crate::episode::Estimate;
use crate::view::View;
use eifel_base::time::Duration;

/// Linux's timer. The kernel counts microseconds and rounds the RTO up to a tick; this counts nanoseconds.
#[derive(Clone, Debug)]
pub struct Linux {
    minimum: Duration,
    estimator: Option<Estimator>,
    back_off: BackOff,
    rto: Duration,
}

/// The variables of `tcp_sock`, by its names, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Estimator {
    /// Eight times SRTT.
    srtt: u64,
    /// Four times the mean deviation.
    mdev: u64,
    /// The largest `mdev` of this round trip, or the minimum.
    mdev_max: u64,
    /// What the RTO is above SRTT.
    rttvar: u64,
    /// Once una is beyond it, the round trip is over.
    rtt_seq: u64,
}

impl Estimator {
    fn new(srtt: u64, mdev: u64, minimum: u64, nxt: u64) -> Self {
        let rttvar = mdev.max(minimum);
        Self { srtt: srtt * 8, mdev, mdev_max: rttvar, rttvar, rtt_seq: nxt }
    }

    /// The first sample makes the RTO three times itself.
    fn first(rtt: u64, minimum: u64, nxt: u64) -> Self {
        Self::new(rtt, rtt * 2, minimum, nxt)
    }

    fn sample(&mut self, rtt: u64, minimum: u64, (una, nxt): (u64, u64)) {
        let before = self.srtt / 8;
        self.srtt = self.srtt - before + rtt;
        let deviation = before.abs_diff(rtt);
        let mean = self.mdev / 4;
        self.mdev = match deviation.checked_sub(mean) {
            // A falling round trip is no reason for a longer wait: alpha x beta in the place of beta.
            Some(more) if rtt < before => self.mdev + more / 8,
            Some(more) => self.mdev + more,
            None => self.mdev - (mean - deviation),
        };
        self.mdev_max = self.mdev_max.max(self.mdev);
        self.rttvar = self.rttvar.max(self.mdev_max);
        if una > self.rtt_seq {
            self.rttvar -= (self.rttvar - self.mdev_max) / 4;
            (self.rtt_seq, self.mdev_max) = (nxt, minimum);
        }
    }
}

impl Linux {
    /// A timer that has not seen a sample.
    pub fn new(limits: Limits) -> Self {
        let back_off = BackOff::new(limits);
        let rto = back_off.rto(None);
        Self { minimum: limits.minimum, estimator: None, back_off, rto }
    }

    fn refresh(&mut self) {
        let estimated = self.estimator.map(|now| Duration::from_nanos(now.srtt / 8 + now.rttvar));
        self.rto = self.back_off.rto(estimated);
    }

    fn seed(&mut self, seed: Seed) {
        let rtt_seq = self.estimator.map_or(0, |now| now.rtt_seq);
        let minimum = self.minimum.as_nanos();
        self.estimator = Some(match seed {
            Seed::First(sample) => Estimator::first(sample.as_nanos(), minimum, rtt_seq),
            Seed::AtLeast { sample, before } => {
                let Estimate { srtt, rttvar } = jacobson::at_least(sample, before, Duration::ZERO);
                Estimator::new(srtt.as_nanos(), rttvar.as_nanos() * 4, minimum, rtt_seq)
            }
        });
    }
}

impl Rto for Linux {
    fn sample(&mut self, sample: &Sample, view: &View) {
        let minimum = self.minimum.as_nanos();
        match &mut self.estimator {
            None => self.estimator = Some(Estimator::first(sample.rtt.as_nanos(), minimum, view.nxt)),
            Some(now) => now.sample(sample.rtt.as_nanos(), minimum, (view.una, view.nxt)),
        }
        self.back_off.on_sample();
        self.refresh();
    }

    fn back_off(&mut self) {
        self.back_off.on_expiry();
        self.refresh();
    }

    fn rto(&self) -> Duration {
        self.rto
    }

    /// RTTVAR is a quarter of what the RTO is above SRTT, as in RFC 6298.
    fn estimate(&self) -> Option<Estimate> {
        let nanos = Duration::from_nanos;
        self.estimator.map(|now| Estimate { srtt: nanos(now.srtt / 8), rttvar: nanos(now.rttvar / 4) })
    }

    fn change(&mut self, change: TimerChange) {
        if let Some(seed) = self.back_off.change(change) {
            self.seed(seed);
        }
        self.refresh();
    }
}
