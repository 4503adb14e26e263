//! *Looks at* cwnd and SRTT.
//! *Decides* that segments leave at gain * cwnd / SRTT, after a first burst of ten.
//! *Blind to* what limits below cwnd: an application that sends less is not slowed.
//! *From* Aggarwal, Savage and Anderson, "Understanding the Performance of TCP Pacing"; gains as Linux has them.

use super::{Gains, Pace, Permit};
use crate::congest::Window;
use eifel_base::time::{Duration, Instant};

/// Spreads the window over the round trip.
#[derive(Clone, Debug)]
pub struct Pacing {
    gains: Gains,
    unpaced: u32,
    next: Instant,
}

impl Pacing {
    /// At these rates.
    pub fn new(gains: Gains) -> Self {
        Self { gains, unpaced: 10, next: Instant::ZERO }
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
        self.next = self.next.max(now) + self.gains.spacing(bytes, window, srtt);
    }
}
