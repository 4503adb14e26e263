//! What a trace shows of one path: round trips, windows, and the rules that watch it.

use super::instant;
use super::qlog::{Key, Metrics, Space};
use super::rules::{Loss, News, RULES, UndoRule};
use eifel_base::time::Duration;
use std::collections::BTreeMap;

/// The assumed round trip before one is known, in milliseconds (RFC 9002, section 6.2.2).
const ROUND_TRIP_MS: f64 = 333.0;
/// The largest delay of ACKs unless an end says otherwise (RFC 9000, section 18.2).
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
/// Bytes of a packet before one is known.
const PACKET: u32 = 1200;

/// One path of a trace.
pub(super) struct Path {
    /// The latest event, by its place among all events.
    pub(super) latest: Option<usize>,
    /// The window and the slow start threshold in bytes.
    now: Windows,
    /// When they changed, and what they were before that time.
    changed: Option<(f64, Windows)>,
    reported_rtt_ms: Option<f64>,
    variation_ms: Option<f64>,
    /// Smoothed round trip and its variation, from this log's packets and ACKs.
    seen_ms: Option<(f64, f64)>,
    /// The largest number sent and acknowledged in each number space.
    largest: BTreeMap<Space, (u64, Option<u64>)>,
    packet: u32,
    rules: Vec<Box<dyn UndoRule>>,
}

#[derive(Clone, Copy, PartialEq, Default)]
struct Windows {
    cwnd: Option<u64>,
    ssthresh: Option<u64>,
}

impl Default for Path {
    fn default() -> Self {
        Self {
            latest: None,
            now: Windows::default(),
            changed: None,
            reported_rtt_ms: None,
            variation_ms: None,
            seen_ms: None,
            largest: BTreeMap::new(),
            packet: PACKET,
            rules: RULES.iter().map(|entry| (entry.make)()).collect(),
        }
    }
}

impl Path {
    pub(super) fn sent(&mut self, (space, _, number): Key, bytes: u32) {
        let largest = self.largest.entry(space).or_insert((number, None));
        largest.0 = number.max(largest.0);
        self.packet = self.packet.max(bytes);
    }

    pub(super) fn largest_sent(&self, (space, _, number): Key) -> u64 {
        self.largest.get(&space).map_or(number, |largest| largest.0.max(number))
    }

    pub(super) fn metrics(&mut self, now: f64, metrics: &Metrics) {
        self.reported_rtt_ms = metrics.smoothed_rtt_ms.filter(|rtt| *rtt > 0.0).or(self.reported_rtt_ms);
        self.variation_ms = metrics.rtt_variation_ms.or(self.variation_ms);
        let next = Windows { cwnd: metrics.cwnd.or(self.now.cwnd), ssthresh: metrics.ssthresh.or(self.now.ssthresh) };
        if next != self.now && self.changed.is_none_or(|(at, _)| at < now) {
            self.changed = Some((now, self.now));
        }
        self.now = next;
    }

    /// Returns the windows before anything that happens at `now`: a log may write the reduced window
    /// before the loss that reduced it.
    fn before(&self, now: f64) -> Windows {
        match self.changed {
            Some((at, before)) if at >= now && before.cwnd > self.now.cwnd => before,
            _ => self.now,
        }
    }

    pub(super) fn cwnd_before(&self, now: f64) -> Option<u64> {
        self.before(now).cwnd
    }

    pub(super) fn in_slow_start(&self, now: f64) -> bool {
        let before = self.before(now);
        before.cwnd.zip(before.ssthresh).is_some_and(|(cwnd, ssthresh)| cwnd < ssthresh)
    }

    pub(super) fn window_packets(&self, now: f64) -> Option<u64> {
        Some(self.cwnd_before(now)? / u64::from(self.packet))
    }

    pub(super) fn round_trip_ms(&self) -> f64 {
        self.reported_rtt_ms.or(self.seen_ms.map(|(rtt, _)| rtt)).unwrap_or(ROUND_TRIP_MS)
    }

    pub(super) fn lost(&mut self, lost: &Loss) {
        for rule in &mut self.rules {
            rule.on_lost(lost);
        }
    }

    /// Tells the rules of an ACK. Returns which of them undo the latest event.
    pub(super) fn ack(&mut self, now: f64, late: &[Key], (largest, left_ms): (Key, Option<f64>)) -> Vec<bool> {
        let known = self.largest.entry(largest.0).or_insert((largest.2, None));
        if let Some(left) = left_ms.filter(|_| known.1.is_none_or(|before| before < largest.2)) {
            known.1 = Some(largest.2);
            // RFC 9002, section 5.3.
            let sample = now - left;
            let (rtt, variation) = self.seen_ms.unwrap_or((sample, sample / 2.0));
            let variation = variation + ((rtt - sample).abs() - variation) / 4.0;
            self.seen_ms = Some((rtt + (sample - rtt) / 8.0, variation));
        }
        let rtt = self.round_trip_ms();
        let variation = self.variation_ms.or(self.seen_ms.map(|(_, variation)| variation)).unwrap_or(rtt / 2.0);
        let news = News {
            now: instant(now),
            late,
            largest,
            largest_sent: instant(left_ms.unwrap_or(0.0)),
            smoothed_rtt: duration(rtt),
            rtt_variation: duration(variation),
            max_ack_delay: MAX_ACK_DELAY,
        };
        self.rules.iter_mut().map(|rule| rule.on_ack(&news)).collect()
    }
}

fn duration(ms: f64) -> Duration {
    Duration::from_nanos((ms.max(0.0) * 1e6) as u64)
}
