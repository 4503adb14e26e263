//! Finds duplicates that the receiver does not report. It answers each with an ACK without news.

use super::arrivals::Arrivals;
use super::counting::Counted;
use super::{Evidence, REORDERED_WITHIN, SegmentEvidence};
use crate::order::{CapturePoint, Original};
use crate::stream::{Acknowledgement, Stream};
use std::collections::VecDeque;

/// Transmissions remembered. An ACK does not answer older ones.
const MOST_REMEMBERED: usize = 1 << 12;

/// Segments examined to find the one whose original was overtaken by a retransmission.
pub(super) const MOST_OVERTAKEN: usize = 64;

/// Retransmissions that an ACK without news may answer: each may have arrived as a duplicate that
/// the receiver acknowledged without a DSACK.
#[derive(Debug, Default)]
pub(super) struct Unreported {
    /// The time from the last transmission that filled a gap to its ACK, in nanoseconds.
    pub(super) takes: u64,
    /// Whether the receiver has answered a duplicate without reporting it.
    pub(super) silent: bool,
    /// The count of ACKs; `None` with SACK, and while nothing is to be repaired.
    pub(super) arrivals: Option<Box<Arrivals>>,
    pub(super) counted: Counted,
    /// Retransmissions: time, start position, and number of the transmission.
    transmissions: VecDeque<(u64, u64, usize)>,
}

impl Unreported {
    pub(super) fn on_retransmission(&mut self, nanos: u64, start: u64, index: usize) {
        if self.transmissions.len() == MOST_REMEMBERED {
            self.transmissions.pop_front();
        }
        self.transmissions.push_back((nanos, start, index));
    }

    /// Estimates when the segment that an ACK answers left, from the current delay of the path.
    fn left(&self, ack: &Acknowledgement, point: &CapturePoint) -> u64 {
        ack.when.nanos.saturating_sub(self.takes.max(point.receiver_rtt().unwrap_or(0)))
    }

    /// Returns the retransmissions within `margin` of `left`, in the order in which they left.
    fn about(&self, left: u64, margin: u64) -> impl Iterator<Item = (u64, u64, usize)> + '_ {
        let from = self.transmissions.partition_point(|(nanos, ..)| *nanos <= left.saturating_sub(margin));
        self.transmissions.range(from..).copied().take_while(move |(nanos, ..)| *nanos < left.saturating_add(margin))
    }
}

impl Evidence {
    /// Returns whether an ACK without news answers a duplicate that the receiver does not report. Without SACK,
    /// data behind a gap cause the same ACK.
    pub(super) fn implies_duplicate(&self, stream: &Stream, ack: &Acknowledgement, point: &CapturePoint) -> bool {
        point.sack && ack.plain && !ack.advances && ack.cumulative == stream.una && !self.reports
    }

    /// Assigns an unreported duplicate to a transmission: the one whose time fits the current delay
    /// of the path best. That delay is the one of the last transmission that filled a gap. The
    /// transmission that filled a gap is a last resort, because no duplicate ACK answers it. The
    /// path keeps the order of the others. Returns whether there is one.
    pub(super) fn on_unreported(&mut self, ack: &Acknowledgement, point: &CapturePoint) -> bool {
        self.unreported.silent = true;
        let shortest = point.receiver_rtt().unwrap_or(0);
        let left = self.unreported.left(ack, point);
        // The first block holds the segment that caused the ACK (RFC 2018, section 4), if that lies
        // above the gap.
        let place = ack.reports.sacks().first().copied();
        let mut chosen: Option<((bool, u64), u64)> = None;
        for (nanos, start, index) in self.unreported.about(left, shortest / 4) {
            let Some(one) = self.segments.get(&start).filter(|one| one.answer.is_some()) else { continue };
            let there =
                place.is_none_or(|block| one.end <= ack.cumulative || block.start <= start && one.end <= block.end);
            if !there || index <= one.duplicates.len() {
                continue;
            }
            let rank = (one.filler == Some(index), nanos.abs_diff(left));
            if chosen.is_none_or(|(best, _)| rank < best) {
                chosen = Some((rank, start));
            }
        }
        let chosen = chosen.map(|(_, start)| start).or_else(|| self.overtaken(ack, left));
        let chosen = chosen.and_then(|start| self.segments.get_mut(&start));
        chosen.map(|one| one.duplicates.push(ack.when)).is_some()
    }

    /// Returns the segment whose original arrived after its retransmission, for an ACK that no
    /// retransmission can have caused. `None` if several segments or none are possible.
    fn overtaken(&self, ack: &Acknowledgement, left: u64) -> Option<u64> {
        let recent = |one: &SegmentEvidence| {
            one.answer.is_some_and(|answer| ack.when.nanos.saturating_sub(answer.when.nanos) < REORDERED_WITHIN)
        };
        let late = |one: &SegmentEvidence| one.duplicates.is_empty() && one.transmissions[0].nanos < left;
        let all = self.segments.range(..ack.cumulative).rev().take(MOST_OVERTAKEN);
        let late = all.filter(|(_, one)| recent(one) && late(one) && one.original == Original::Seen);
        let mut late = late.map(|(start, _)| *start);
        late.next().filter(|_| late.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_retransmissions_are_dropped_and_those_near_a_time_are_found() {
        let mut implied = Unreported::default();
        let most = MOST_REMEMBERED as u64;
        let first = |implied: &Unreported| implied.about(0, u64::MAX).next();
        (1..=most).for_each(|number| implied.on_retransmission(10 * number, number, 1));
        assert_eq!(first(&implied), Some((10, 1, 1)));
        implied.on_retransmission(10 * (most + 1), 0, 2);
        assert_eq!((first(&implied), implied.transmissions.len()), (Some((20, 2, 1)), MOST_REMEMBERED));
        // Transmissions exactly at the margin are left out.
        let near = |margin| implied.about(100, margin).map(|(nanos, ..)| nanos).collect::<Vec<_>>();
        assert_eq!((near(10), near(11)), (vec![100], vec![90, 100, 110]));
    }
}
