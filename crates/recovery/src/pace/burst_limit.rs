//! *Looks at* how many segments were sent since the last ACK, timeout or later write.
//! *Decides* to send at most its limit of segments for one of these.
//! *Blind to* time within a burst: bursts become smaller, not slower.
//! *From* Fall and Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP" (the maxburst
//! parameter).

use super::{Pace, Permit};
use crate::congest::Window;
use crate::registry::{Entry, Parameter};
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "burst-limit",
    summary: "at most some segments for one ACK",
    source: "Fall and Floyd 1996",
    parameters: &[Parameter::integer("segments", "segments sent for one ACK", 4, (1, 1_000_000))],
    ..Entry::pace(|parameters| Box::new(BurstLimit::new(parameters.integer("segments") as u32)))
};

/// A limit on the segments for one ACK.
#[derive(Clone, Debug)]
pub struct BurstLimit {
    limit: u32,
    sent: u32,
    /// When the last segment was sent.
    last: Instant,
}

impl BurstLimit {
    /// Creates a limit of `limit` segments.
    pub fn new(limit: u32) -> Self {
        Self { limit, sent: 0, last: Instant::ZERO }
    }
}

impl Pace for BurstLimit {
    fn on_input(&mut self) {
        self.sent = 0;
    }

    fn on_write(&mut self, now: Instant) {
        if now > self.last {
            self.sent = 0;
        }
    }

    fn permit(&self, _: Instant) -> Permit {
        if self.sent < self.limit { Permit::Now } else { Permit::NextInput }
    }

    fn on_sent(&mut self, now: Instant, _: u32, _: &Window, _: Option<Duration>) {
        self.sent += 1;
        self.last = now;
    }
}
