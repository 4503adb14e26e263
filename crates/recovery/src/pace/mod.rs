//! How fast the data that the window allows is sent. One file per algorithm. Each combines with all
//! other algorithms.

crate::registry::algorithms! { none, burst_limit, pacing, burst_pacer, lasting_pacing, tso }
crate::duplicate::duplicate!(Pace by DuplicatePace);

use crate::congest::Window;
use crate::registry::{Parameter, Parameters};
use eifel_base::time::{Duration, Instant};

const SLOW_START_PERCENT: Parameter =
    Parameter::integer("slow_start_percent", "rate in slow start, in percent of cwnd / SRTT", 200, (1, 10_000));
const AVOIDANCE_PERCENT: Parameter = Parameter::integer(
    "avoidance_percent",
    "rate in congestion avoidance, in percent of cwnd / SRTT",
    120,
    (1, 10_000),
);

/// When the next segment may be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permit {
    Now,
    /// Not before this time.
    At(Instant),
    /// Not before the next ACK or timeout.
    NextInput,
}

/// The rate of paced data, in percent of cwnd / SRTT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gains {
    pub slow_start_percent: u64,
    /// Rate in congestion avoidance.
    pub avoidance_percent: u64,
}

impl Gains {
    fn of(parameters: &Parameters) -> Self {
        Self {
            slow_start_percent: parameters.integer("slow_start_percent"),
            avoidance_percent: parameters.integer("avoidance_percent"),
        }
    }

    /// Computes the time from a segment of `bytes` to the next.
    fn spacing(&self, bytes: u32, window: &Window, srtt: Duration) -> Duration {
        let percent = if window.cwnd < window.ssthresh { self.slow_start_percent } else { self.avoidance_percent };
        let nanos = u128::from(srtt.as_nanos()) * u128::from(bytes) * 100
            / (u128::from(window.cwnd.max(1)) * u128::from(percent));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// Delays segments that would be sent too fast.
pub trait Pace: Send + DuplicatePace {
    /// Learns that an ACK arrived or a timer expired.
    fn on_input(&mut self);
    /// Learns that the application has written although nothing waited to be sent. What it writes later
    /// than the last segment was sent is no part of that burst.
    fn on_write(&mut self, _: Instant) {}
    /// Learns a round-trip sample and its instant.
    fn on_sample(&mut self, _: Instant, _: Duration) {}
    /// Returns when the next segment may be sent.
    fn permit(&self, now: Instant) -> Permit;
    /// Learns that `bytes` were sent.
    fn on_sent(&mut self, now: Instant, bytes: u32, window: &Window, srtt: Option<Duration>);
    /// Returns whether it ever holds anything back. Otherwise the engine drops it.
    fn holds_back(&self) -> bool {
        true
    }
}
