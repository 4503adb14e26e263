//! *Looks at* cwnd, and at the smallest round trip of the last five to ten seconds.
//! *Decides* to send segments at gain * cwnd over that round trip, after a first burst of ten.
//! *Blind to* a standing queue on the path: it paces faster than it would with SRTT.
//! *From* Aggarwal, Savage and Anderson, "Understanding the Performance of TCP Pacing". The
//! smallest round trip of ten seconds is from Cardwell and others, "BBR: Congestion-Based
//! Congestion Control".

use super::{AVOIDANCE_PERCENT, Gains, Pace, Permit, SLOW_START_PERCENT};
use crate::congest::Window;
use crate::registry::Entry;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "lasting-pacing",
    summary: "the window spread over the smallest round trip of some seconds, so that a spike does not slow it",
    source: "Aggarwal, Savage and Anderson 2000; Cardwell and others 2016",
    parameters: &[SLOW_START_PERCENT, AVOIDANCE_PERCENT],
    ..Entry::pace(|parameters| Box::new(LastingPacing::new(Gains::of(parameters))))
};

/// The shortest time for which a sample counts. It counts for at most twice as long.
const SPAN: Duration = Duration::from_secs(5);

/// Spreads the window over a round trip that a delay spike does not change.
#[derive(Clone, Debug)]
pub struct LastingPacing {
    gains: Gains,
    unpaced: u32,
    next: Instant,
    /// The smallest sample of the last full span, and of the current one.
    smallest: [Option<Duration>; 2],
    span_ends: Instant,
}

impl LastingPacing {
    /// Creates a pacer with these rates.
    pub fn new(gains: Gains) -> Self {
        Self { gains, unpaced: 10, next: Instant::ZERO, smallest: [None; 2], span_ends: Instant::ZERO }
    }
}

impl Pace for LastingPacing {
    fn on_input(&mut self) {}

    fn on_sample(&mut self, now: Instant, rtt: Duration) {
        if now >= self.span_ends {
            self.smallest = [self.smallest[1], None];
            self.span_ends = now + SPAN;
        }
        self.smallest[1] = Some(self.smallest[1].map_or(rtt, |smallest| smallest.min(rtt)));
    }

    fn permit(&self, now: Instant) -> Permit {
        if self.next <= now { Permit::Now } else { Permit::At(self.next) }
    }

    fn on_sent(&mut self, now: Instant, bytes: u32, window: &Window, _: Option<Duration>) {
        if self.unpaced > 0 {
            self.unpaced -= 1;
            return;
        }
        let Some(rtt) = self.smallest.into_iter().flatten().min() else { return };
        self.next = self.next.max(now) + self.gains.spacing(bytes, window, rtt);
    }
}
