//! *Looks at* cwnd and SRTT, and at how far sending is ahead of cwnd / SRTT.
//! *Decides* to send a burst of a few segments back to back, and further segments at gain * cwnd /
//! SRTT.
//! *Blind to* bursts below its limit, which a self-clocked sender makes all the time.
//! *From* Ludwig, chapter 5, section 5.2.2, which asks for this pacer. The bucket is the generic
//! cell rate algorithm's (ITU-T I.371, virtual scheduling).

use super::{AVOIDANCE_PERCENT, Gains, Pace, Permit, SLOW_START_PERCENT};
use crate::congest::Window;
use crate::registry::{Entry, Parameter};
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "burst-pacer",
    summary: "a burst of some segments, and further segments spread over the round trip",
    source: "Ludwig, chapter 5, section 5.2.2",
    parameters: &[
        Parameter::integer("segments", "segments sent back to back", 4, (1, 1_000_000)),
        SLOW_START_PERCENT,
        AVOIDANCE_PERCENT,
    ],
    ..Entry::pace(|parameters| Box::new(BurstPacer::new(parameters.integer("segments"), Gains::of(parameters))))
};

/// A burst limit that paces the segments beyond it.
#[derive(Clone, Debug)]
pub struct BurstPacer {
    gains: Gains,
    segments: u64,
    /// When the next segment would be sent if all were paced. It lies in the future while a burst
    /// is being spread.
    next: Instant,
    /// How far `next` may lie in the future.
    ahead: Duration,
}

impl BurstPacer {
    /// Creates a pacer that sends up to `segments` segments back to back.
    pub fn new(segments: u64, gains: Gains) -> Self {
        Self { gains, segments, next: Instant::ZERO, ahead: Duration::ZERO }
    }
}

impl Pace for BurstPacer {
    fn on_input(&mut self) {}

    fn permit(&self, now: Instant) -> Permit {
        let lead = self.next.since(now);
        if lead <= self.ahead { Permit::Now } else { Permit::At(now + (lead - self.ahead)) }
    }

    fn on_sent(&mut self, now: Instant, bytes: u32, window: &Window, srtt: Option<Duration>) {
        let Some(srtt) = srtt else { return };
        let spacing = self.gains.spacing(bytes, window, srtt);
        self.next = self.next.max(now) + spacing;
        self.ahead = Duration::from_nanos(spacing.as_nanos().saturating_mul(self.segments - 1));
    }
}
