//! *Looks at* cwnd, SRTT, and the smallest round trip.
//! *Decides* to send bursts back to back at gain * cwnd / SRTT. A burst is 1/1024 s of that rate,
//! and on a short path up to 64 KB more; at least two segments, and at most 64 KB.
//! *Blind to* a window that opens by less than a burst: Linux may wait for more room, this does
//! not.
//! *From* Linux 6.18, below the queue discipline `fq`: `tcp_min_tso_segs` and `tcp_tso_rtt_log` in
//! its document ip-sysctl; `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio` are the gains.

use super::{AVOIDANCE_PERCENT, Gains, Pace, Permit, SLOW_START_PERCENT};
use crate::congest::Window;
use crate::registry::Entry;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "tso",
    summary: "bursts as Linux sizes them for segmentation offload, spread over the round trip",
    source: "Linux 6.18",
    parameters: &[SLOW_START_PERCENT, AVOIDANCE_PERCENT],
    ..Entry::pace(|parameters| Box::new(Tso::new(Gains::of(parameters))))
};

/// The data of the largest burst in bytes: 64 KB less Linux's room for headers.
const LARGEST: u64 = 65_215;
/// tcp_min_tso_segs
const FEWEST_SEGMENTS: u64 = 2;
/// How much of a second of the rate a burst holds, as a shift: sk_pacing_shift.
const PACING_SHIFT: u32 = 10;
/// tcp_tso_rtt_log: the bytes that a short path adds are halved for each 512 us of round trip.
const HALVED_EACH: Duration = Duration::from_micros(1 << 9);

/// Sends bursts that share their instant.
#[derive(Clone, Debug)]
pub struct Tso {
    gains: Gains,
    unpaced: u32,
    /// When the next burst may begin.
    next: Instant,
    /// When the burst began that may still grow, by `left` bytes.
    began: Instant,
    left: u64,
    smallest: Option<Duration>,
}

impl Tso {
    /// Creates a pacer with these rates.
    pub fn new(gains: Gains) -> Self {
        Self { gains, unpaced: 10, next: Instant::ZERO, began: Instant::NEVER, left: 0, smallest: None }
    }

    /// Computes the bytes of a burst of segments with `segment` bytes, `spacing` apart.
    fn burst(&self, segment: u64, spacing: Duration) -> u64 {
        let rate = Duration::from_secs(1).as_nanos() * segment / spacing.as_nanos().max(1);
        let of_rate = rate >> PACING_SHIFT;
        let halved = self.smallest.map_or(u64::MAX, |rtt| rtt.as_nanos() / HALVED_EACH.as_nanos());
        let of_path = if halved < u64::from(u32::BITS) { LARGEST >> halved } else { 0 };
        let segments = (of_rate + of_path).min(LARGEST) / segment.max(1);
        segments.max(FEWEST_SEGMENTS) * segment
    }
}

impl Pace for Tso {
    fn on_input(&mut self) {}

    fn on_sample(&mut self, _: Instant, rtt: Duration) {
        self.smallest = Some(self.smallest.map_or(rtt, |smallest| smallest.min(rtt)));
    }

    fn permit(&self, now: Instant) -> Permit {
        let grows = now == self.began && self.left > 0;
        if grows || self.next <= now { Permit::Now } else { Permit::At(self.next) }
    }

    fn on_sent(&mut self, now: Instant, bytes: u32, window: &Window, srtt: Option<Duration>) {
        if self.unpaced > 0 {
            self.unpaced -= 1;
            return;
        }
        let Some(srtt) = srtt else { return };
        let spacing = self.gains.spacing(bytes, window, srtt);
        if now != self.began || self.left == 0 {
            (self.began, self.left) = (now, self.burst(u64::from(bytes), spacing));
        }
        self.left = self.left.saturating_sub(u64::from(bytes));
        self.next = self.next.max(now) + spacing;
    }
}
