//! *Looks at* how many segments have left since the last ACK or timeout.
//! *Decides* that no more than the limit leave for one.
//! *Blind to* time: it makes bursts smaller, not slower.
//! *From* Fall and Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP" (the maxburst parameter).

use super::{Pace, Permit};
use crate::congest::Window;
use eifel_base::time::{Duration, Instant};

/// At most so many segments for one ACK.
#[derive(Clone, Debug)]
pub struct BurstLimit {
    limit: u32,
    sent: u32,
}

impl BurstLimit {
    /// At most `limit` segments.
    pub fn new(limit: u32) -> Self {
        Self { limit, sent: 0 }
    }
}

impl Pace for BurstLimit {
    fn on_input(&mut self) {
        self.sent = 0;
    }

    fn permit(&self, _: Instant) -> Permit {
        if self.sent < self.limit { Permit::Now } else { Permit::NextInput }
    }

    fn on_sent(&mut self, _: Instant, _: u32, _: &Window, _: Option<Duration>) {
        self.sent += 1;
    }
}
