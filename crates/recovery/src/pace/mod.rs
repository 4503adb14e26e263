//! How fast what the window allows may leave. One file a part; it composes with every other algorithm.

pub mod burst_limit;
pub mod burst_pacer;
pub mod none;
pub mod pacing;

use crate::congest::Window;
use crate::duplicate::DuplicatePace;
use eifel_base::time::{Duration, Instant};

/// When the next segment may leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permit {
    /// Now.
    Now,
    /// Not before.
    At(Instant),
    /// Not before the next ACK or timeout.
    NextInput,
}

/// The rate of what is spread, in percent of cwnd / SRTT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gains {
    /// In slow start.
    pub slow_start_percent: u64,
    /// In congestion avoidance.
    pub avoidance_percent: u64,
}

impl Gains {
    /// From one segment of so many bytes to the next.
    fn spacing(&self, bytes: u32, window: &Window, srtt: Duration) -> Duration {
        let percent = if window.cwnd < window.ssthresh { self.slow_start_percent } else { self.avoidance_percent };
        let nanos = u128::from(srtt.as_nanos()) * u128::from(bytes) * 100
            / (u128::from(window.cwnd.max(1)) * u128::from(percent));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// Holds back what leaves too fast.
pub trait Pace: Send + DuplicatePace {
    /// An ACK or a timeout came.
    fn on_input(&mut self);
    /// When the next segment may leave.
    fn permit(&self, now: Instant) -> Permit;
    /// `bytes` have left.
    fn on_sent(&mut self, now: Instant, bytes: u32, window: &Window, srtt: Option<Duration>);
    /// Whether it ever holds anything back; one that does not need not be asked.
    fn holds_back(&self) -> bool {
        true
    }
}
