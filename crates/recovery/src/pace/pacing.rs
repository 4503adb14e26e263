//! *Looks at* cwnd and SRTT.
//! *Decides* to send segments at gain * cwnd / SRTT, after a first burst of ten.
//! *Blind to* limits below cwnd: it does not slow an application that sends less.
//! *From* Aggarwal, Savage and Anderson, "Understanding the Performance of TCP Pacing"; gains as in
//! Linux.

use super::{AVOIDANCE_PERCENT, Gains, Pace, Permit, SLOW_START_PERCENT};
use crate::congest::Window;
use crate::registry::Entry;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "pacing",
    summary: "the window spread over the round trip",
    source: "Aggarwal, Savage and Anderson 2000",
    parameters: &[SLOW_START_PERCENT, AVOIDANCE_PERCENT],
    ..Entry::pace(|parameters| Box::new(Pacing::new(Gains::of(parameters))))
};

/// Spreads the window over the round trip.
#[derive(Clone, Debug)]
pub struct Pacing {
    gains: Gains,
    unpaced: u32,
    next: Instant,
}

impl Pacing {
    /// Creates a pacer with these rates.
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
