//! *Looks at* cwnd and SRTT.
//! *Decides* that segments leave at gain * cwnd / SRTT, after a first burst of ten.
//! *Blind to* what limits below cwnd: an application that sends less is not slowed.
//! *From* Aggarwal, Savage and Anderson, "Understanding the Performance of TCP Pacing"; gains as Linux has them.

use super::{Pace, Permit};
use crate::congest::Window;
use crate::time::{Duration, Instant};

/// Spreads the window over the round trip.
#[derive(Debug)]
pub struct Pacing {
    slow_start_percent: u64,
    avoidance_percent: u64,
    unpaced: u32,
    next: Instant,
}

impl Pacing {
    /// Rates in percent of cwnd / SRTT in slow start and in congestion avoidance.
    pub fn new(slow_start_percent: u64, avoidance_percent: u64) -> Self {
        Self { slow_start_percent, avoidance_percent, unpaced: 10, next: Instant::ZERO }
    }
}

impl Pace for Pacing {
    fn on_input(&mut self) {}

    fn permit(&self, now: Instant) -> Permit {
        if self.next <= now { Permit::Now } else { Permit::At(self.next) }
    }

    fn on_sent(&mut self, now: Instant, bytes: u32, window: &Window, srtt: Option<Duration>) {
        if self.unpaced > 0 {
            self.unpaced -= 1;
            return;
        }
        let Some(srtt) = srtt else { return };
        let percent = if window.cwnd < window.ssthresh { self.slow_start_percent } else { self.avoidance_percent };
        let nanos = u128::from(srtt.as_nanos()) * u128::from(bytes) * 100
            / (u128::from(window.cwnd.max(1)) * u128::from(percent));
        self.next = self.next.max(now) + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
    }
}
