//! Records what made each retransmission leave, so that other settings of the sender can be judged.

use super::rack::Rack;
use crate::cause::model::Retransmitted;
use crate::result::Trigger;
use eifel_base::ranges::Block;
use std::collections::BTreeMap;

/// What made the retransmissions of a sender leave, in their order.
#[derive(Debug, Default)]
pub(crate) struct Triggers {
    /// Each with the time when the retransmission left, in nanoseconds.
    found: Vec<(u64, Trigger)>,
    /// Those whose data were not reported yet, by the first position.
    open: BTreeMap<u64, Vec<usize>>,
    /// When the last retransmission left, in nanoseconds.
    last: u64,
    /// When new data left last that only a tail-loss probe explains, in nanoseconds.
    probed: u64,
    /// Bytes of the largest segment.
    mss: u64,
}

impl Triggers {
    /// Adds a retransmission. `shortest` is the shortest round trip in nanoseconds.
    pub(super) fn add(&mut self, resent: &Retransmitted, mss: u32, shortest: Option<u64>) {
        let ms = |nanos: u64| nanos as f64 / 1e6;
        let before = resent.timer_set.1.max(self.last);
        let set = before.max(self.probed).min(resent.now);
        let trigger = Trigger {
            timer_ms: Some(ms(resent.now - set)),
            probed_ms: self.probed.checked_sub(before).filter(|ran| *ran > 0).map(ms),
            quiet_ms: ms(resent.now.saturating_sub(resent.last_sent)),
            smoothed_ms: resent.estimate.map(|(smoothed, _)| ms(smoothed)),
            variation_ms: resent.estimate.map(|(_, variation)| ms(4 * variation)),
            rtt_min_ms: shortest.map(ms),
            overtaken_ms: resent.overtaken.map(|overtaken| between(resent.now, overtaken.from)),
            segments: 1,
            reports_ms: None,
        };
        (self.last, self.mss) = (resent.now, mss.into());
        // Data that the sender knows to have arrived are not reported once more.
        if resent.end > resent.una && !resent.reported {
            self.open.entry(resent.start.max(resent.una)).or_default().push(self.found.len());
        }
        self.found.push((resent.now, trigger));
    }

    /// Notes new data that leave at `now`. Nothing left or came since `since`: if that is longer than a round trip,
    /// no ACK lets them leave, and a tail-loss probe of new data sets the timer too.
    #[inline]
    pub(super) fn on_new(&mut self, now: u64, since: u64, smoothed: Option<u64>) {
        if smoothed.is_some_and(|smoothed| now > since.saturating_add(smoothed + smoothed / 2)) {
            self.probed = now;
        }
    }

    /// Notes that `block` was delivered.
    #[inline]
    pub(super) fn on_delivered(&mut self, block: Block, rack: Option<&Rack>) {
        if !self.open.is_empty() {
            self.close(block, rack);
        }
    }

    #[cold]
    fn close(&mut self, block: Block, rack: Option<&Rack>) {
        while let Some((&start, _)) = self.open.range(block.start..block.end).next() {
            let indices = self.open.remove(&start).unwrap_or_default();
            let Some(reports) = rack.map(|rack| rack.reports_above(start, self.mss)) else { continue };
            for index in indices {
                let (left, trigger) = &mut self.found[index];
                trigger.reports_ms = Some(reports.iter().map(|at| between(*left, *at)).collect());
            }
        }
    }

    /// Returns what made each retransmission leave, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Trigger> {
        self.found.iter().map(|(_, trigger)| trigger)
    }
}

/// Returns the milliseconds from one time to another, both in nanoseconds.
fn between(from: u64, to: u64) -> f64 {
    to.wrapping_sub(from).cast_signed() as f64 / 1e6
}
