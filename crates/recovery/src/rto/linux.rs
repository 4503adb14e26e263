//! *Looks at* round-trip samples, and at una and nxt to tell one round trip from the next.
//! *Decides* on SRTT plus four times the largest deviation of a round trip, which is at least the
//! minimum. The deviation rises at once and falls by a quarter per round trip; a falling round trip
//! raises it an eighth as much.
//! *Blind to* short paths: with a minimum of 200 ms above SRTT, a timeout there takes hundreds of
//! round trips.
//! *From* Linux, tcp_rtt_estimator and tcp_set_rto in net/ipv4/tcp_input.c.

use super::back_off::{BackOff, Limits, Seed};
use super::timer::{Estimator, Timer};
use super::{HOUR, INITIAL, MICROSECOND, Sample};
use crate::episode::Estimate;
use crate::registry::{Entry, Parameter};
use crate::view::View;
use eifel_base::time::Duration;

pub(super) const ENTRY: Entry = Entry {
    name: "linux",
    summary: "SRTT + 4 times the largest deviation within a round trip, at least 200 ms",
    source: "Linux, net/ipv4/tcp_input.c",
    parameters: &[
        INITIAL,
        Parameter::milliseconds(
            "minimum_ms",
            "TCP_RTO_MIN: how much the RTO exceeds SRTT at least",
            200,
            (MICROSECOND, HOUR),
        ),
        Parameter::milliseconds("maximum_ms", "TCP_RTO_MAX", 120_000, (MICROSECOND, HOUR)),
    ],
    ..Entry::rto(|parameters| {
        let limits = Limits::of(parameters);
        Box::new(Timer::new(Linux::new(limits.minimum), limits))
    })
};

/// Linux's timer. The kernel counts microseconds and rounds the RTO up to a tick; this counts nanoseconds.
#[derive(Clone, Debug)]
pub struct Linux {
    minimum: u64,
    variables: Option<Variables>,
}

/// The variables of `tcp_sock`, by its names, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Variables {
    /// Eight times SRTT.
    srtt: u64,
    /// Four times the mean deviation.
    mdev: u64,
    /// The largest `mdev` of this round trip, or the minimum.
    mdev_max: u64,
    /// The RTO less SRTT.
    rttvar: u64,
    /// The round trip is over once una is beyond this position.
    rtt_seq: u64,
}

impl Variables {
    fn new(srtt: u64, mdev: u64, minimum: u64, nxt: u64) -> Self {
        let rttvar = mdev.max(minimum);
        Self { srtt: srtt * 8, mdev, mdev_max: rttvar, rttvar, rtt_seq: nxt }
    }

    /// Creates the state after the first sample. The RTO is three times the sample, or the sample
    /// plus the minimum if that is more.
    fn first(rtt: u64, minimum: u64, nxt: u64) -> Self {
        Self::new(rtt, rtt * 2, minimum, nxt)
    }

    fn sample(&mut self, rtt: u64, minimum: u64, (una, nxt): (u64, u64)) {
        let before = self.srtt / 8;
        self.srtt = self.srtt - before + rtt;
        let deviation = before.abs_diff(rtt);
        let mean = self.mdev / 4;
        self.mdev = match deviation.checked_sub(mean) {
            // A falling round trip is no reason for a longer wait: the gain is alpha x beta instead
            // of beta.
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
    /// Creates an estimator that has not seen a sample; `minimum` is TCP_RTO_MIN.
    pub fn new(minimum: Duration) -> Self {
        Self { minimum: minimum.as_nanos(), variables: None }
    }
}

impl Estimator for Linux {
    fn sample(&mut self, sample: &Sample, view: &View) -> bool {
        let rtt = sample.rtt.as_nanos();
        match &mut self.variables {
            None => self.variables = Some(Variables::first(rtt, self.minimum, view.nxt)),
            Some(now) => now.sample(rtt, self.minimum, (view.una, view.nxt)),
        }
        true
    }

    fn seed(&mut self, seed: Seed) {
        let rtt_seq = self.variables.map_or(0, |now| now.rtt_seq);
        self.variables = Some(match seed {
            Seed::First(sample) => Variables::first(sample.as_nanos(), self.minimum, rtt_seq),
            Seed::AtLeast { .. } | Seed::Inherited(_) => {
                let Estimate { srtt, rttvar } = seed.estimate(Duration::ZERO);
                Variables::new(srtt.as_nanos(), rttvar.as_nanos() * 4, self.minimum, rtt_seq)
            }
        });
    }

    fn rto(&self, back_off: &BackOff) -> Duration {
        back_off.rto(self.variables.map(|now| Duration::from_nanos(now.srtt / 8 + now.rttvar)))
    }

    /// Returns SRTT, and as in RFC 6298 a quarter of the difference between RTO and SRTT as RTTVAR.
    fn estimate(&self) -> Option<Estimate> {
        let nanos = Duration::from_nanos;
        self.variables.map(|now| Estimate { srtt: nanos(now.srtt / 8), rttvar: nanos(now.rttvar / 4) })
    }
}
