//! Feeds the count of ACKs without SACK, and adds what it shows to the evidence.

use super::Evidence;
use super::arrivals::{Arrivals, News, Sent, Shown};
use crate::order::CapturePoint;
use crate::stream::{Acknowledgement, Stream};
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;

/// A path keeps its order if at most one in this many ACKs of new data disagrees with it. Fitted to 120 recordings of
/// Linux without SACK by `eifel truth record`, and judged on others.
const DISAGREES: u32 = 50;
/// ACKs of new data that have to agree with a kept order before it is believed.
const ENOUGH: u32 = 10;
/// For how long after its answer an ACK without news may be that of the original of a segment, in nanoseconds.
const LATE_WITHIN: u64 = 500_000_000;

/// The most segments that one disagreement puts in doubt.
const MOST_DOUBTED: usize = 1 << 10;

/// How often the number of ACKs agreed with the order in which segments passed, and how often it did not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    agrees: u32,
    disagrees: u32,
    /// Whether segments that were sent once arrived late.
    overtaken: bool,
    /// Whether the sender counted reordering. Without SACK it takes many duplicate ACKs for that, also those of copies.
    pub(super) is_told: bool,
}

/// Whether a path keeps the order of its packets, as the number of ACKs shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum PathOrder {
    #[default]
    Unknown,
    Kept,
    /// There are more ACKs than the order explains, perhaps of copies that the network made; or so the sender says.
    Unsure,
    Changed,
}

impl Counted {
    fn order(self) -> PathOrder {
        match self {
            Self { agrees, disagrees, overtaken, .. } if disagrees * DISAGREES > agrees => {
                if overtaken {
                    PathOrder::Changed
                } else {
                    PathOrder::Unsure
                }
            }
            Self { is_told: true, .. } => PathOrder::Unsure,
            Self { agrees: ENOUGH.., .. } => PathOrder::Kept,
            _ => PathOrder::Unknown,
        }
    }
}

impl Evidence {
    /// Returns whether the path keeps the order of its packets; unknown with SACK.
    pub(crate) fn path_order(&self) -> PathOrder {
        self.unreported.counted.order()
    }

    /// Begins to count ACKs against transmissions, if there is no SACK: at the first sign of a loss, because before
    /// it nothing is to be repaired. `duplicates` is the number of duplicate ACKs that have come by then.
    pub(crate) fn begin_counting(&mut self, stream: &Stream, duplicates: u32, point: &CapturePoint) {
        if point.sack || self.unreported.arrivals.is_some() {
            return;
        }
        let passed = stream.out.iter().filter(|sent| !sent.missing);
        let sent = passed.map(|sent| Sent {
            block: Block { start: sent.start, end: sent.end() },
            nanos: sent.nanos,
            stamp: sent.stamp(),
        });
        self.unreported.arrivals = Some(Box::new(Arrivals::begin(sent, duplicates)));
    }

    /// Ends the count of ACKs. Everything below `una` is acknowledged.
    pub(crate) fn end_counting(&mut self, una: u64) {
        if let Some(mut arrivals) = self.unreported.arrivals.take() {
            self.take_shown(arrivals.finish(una), (una, 0));
        }
    }

    /// Returns whether ACKs are counted.
    #[inline]
    pub(crate) fn is_counting(&self) -> bool {
        self.unreported.arrivals.is_some()
    }

    /// Counts a transmission of `block` that passes at `nanos`.
    #[inline]
    pub(crate) fn count_sent(&mut self, block: Block, nanos: u64, stamp: Option<Timestamp>) {
        if let Some(arrivals) = &mut self.unreported.arrivals {
            arrivals.on_sent(Sent { block, nanos, stamp });
        }
    }

    /// Records that `count` ACKs are missing before the one that passes at `now`, in nanoseconds; `None` if missing ones
    /// do not show.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_missing_acks(&mut self, now: u64, count: Option<u32>) {
        if let Some(count) = count {
            self.receiver_reports.hidden.on_missing_acks(now, count);
        }
        if let Some(arrivals) = &mut self.unreported.arrivals {
            arrivals.on_lost(count);
        }
    }

    /// Finds what the number of ACKs before this ACK of `block` shows. While nothing is to be repaired, it agrees.
    #[inline]
    pub(super) fn count_ack(&mut self, block: Block, ack: &Acknowledgement, point: &CapturePoint) {
        match &self.unreported.arrivals {
            Some(_) => self.compare_ack(block, ack, point),
            None => self.unreported.counted.agrees += u32::from(!point.sack),
        }
    }

    #[inline(never)]
    fn compare_ack(&mut self, block: Block, ack: &Acknowledgement, point: &CapturePoint) {
        let Some(arrivals) = &mut self.unreported.arrivals else { return };
        let shortest = point.receiver_rtt().unwrap_or(0);
        let news = News { block, nanos: ack.when.nanos, echo: ack.echo, soonest: shortest - shortest / 16 };
        let (segments, again_below) = (&self.segments, self.repaired_below);
        let is_again = |block: Block| {
            let below = || segments.range(..block.end).next_back();
            block.start < again_below && below().is_some_and(|(_, one)| one.end > block.start)
        };
        if let Some((agrees, shown)) = arrivals.follows(&news, is_again) {
            self.unreported.counted.agrees += u32::from(agrees);
            if !shown.is_empty() {
                self.take_shown(shown, (block.start, ack.when.nanos));
            } else if agrees
                && self.unreported.arrivals.as_ref().is_some_and(|arrivals| arrivals.are_new(block.end))
                && self.is_complete()
            {
                self.unreported.arrivals = None;
            }
            return;
        }
        let shown = arrivals.on_news(&news, is_again);
        self.take_shown(shown, (block.start, ack.when.nanos));
    }

    /// Adds what the number of ACKs shows, when all below `una` had been acknowledged at `now`.
    fn take_shown(&mut self, shown: Vec<Shown>, (una, now): (u64, u64)) {
        for one in shown {
            let (block, nanos) = match one {
                Shown::Agrees => {
                    self.unreported.counted.agrees += 1;
                    continue;
                }
                Shown::Disagrees { overtaken } => {
                    self.unreported.counted.disagrees += 1;
                    self.unreported.counted.overtaken |= overtaken;
                    self.doubt(una, now);
                    continue;
                }
                Shown::Filled { position, nanos } => (Block { start: position, end: position + 1 }, nanos),
                Shown::Settled { position } => (Block { start: position, end: position + 1 }, 0),
                Shown::Twice(sent) => (sent.block, sent.nanos),
            };
            let below = self.segments.range_mut(..block.end).rev();
            for (_, segment) in below.take_while(|(_, segment)| segment.end > block.start) {
                let index = segment.transmissions.iter().position(|sent| sent.nanos == nanos);
                let counted = &mut segment.without_news;
                match one {
                    Shown::Settled { .. } => counted.settled = true,
                    Shown::Twice(_) => counted.twice = counted.twice.or(index),
                    _ => counted.filled = index,
                }
            }
        }
    }

    /// Withdraws what rests on a kept order from the segments below `una` that were answered shortly before `now`.
    fn doubt(&mut self, una: u64, now: u64) {
        for (_, segment) in self.segments.range_mut(..una).rev().take(MOST_DOUBTED) {
            if segment.answer.is_some_and(|answer| now.saturating_sub(answer.when.nanos) < LATE_WITHIN) {
                segment.arrived_before = None;
                (segment.without_news.twice, segment.without_news.doubted) = (None, true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_sender_counted_makes_a_kept_order_unsure_and_no_more() {
        let order = |agrees, disagrees, overtaken, is_told| Counted { agrees, disagrees, overtaken, is_told }.order();
        assert_eq!([false, true].map(|told| order(500, 1, true, told)), [PathOrder::Kept, PathOrder::Unsure]);
        assert_eq!([false, true].map(|told| order(0, 0, false, told)), [PathOrder::Unknown, PathOrder::Unsure]);
        assert_eq!([false, true].map(|told| order(9, 9, true, told)), [PathOrder::Changed; 2]);
    }
}
