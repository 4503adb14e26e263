//! Finds duplicates that the receiver does not report. It answers each with an ACK without news.

use super::again::Trouble;
use super::half::{Acknowledgement, Half, Setting};
use crate::verdict::{Original, REORDERED_WITHIN, Repeated};
use std::collections::VecDeque;

/// Sendings remembered. An ACK does not answer older ones.
const MOST_REMEMBERED: usize = 1 << 12;

/// Segments examined to find the one whose original was overtaken by a retransmission.
pub(super) const MOST_OVERTAKEN: usize = 64;

/// The sendings that an ACK without news may answer.
#[derive(Debug, Default)]
pub(super) struct Implied {
    /// The time from the last sending that filled a gap to its ACK, in nanoseconds.
    pub(super) takes: u64,
    /// Whether the receiver has answered a duplicate without reporting it.
    pub(super) silent: bool,
    /// Retransmissions: time, start position, and number of the sending.
    sendings: VecDeque<(u64, u64, usize)>,
}

impl Implied {
    pub(super) fn on_again(&mut self, nanos: u64, start: u64, index: usize) {
        if self.sendings.len() == MOST_REMEMBERED {
            self.sendings.pop_front();
        }
        self.sendings.push_back((nanos, start, index));
    }

    /// Estimates when the segment that an ACK answers left, from the current delay of the path.
    fn left(&self, ack: &Acknowledgement, shortest: u64) -> u64 {
        ack.when.nanos.saturating_sub(self.takes.max(shortest))
    }

    /// Returns the retransmissions within `margin` of `left`, in the order in which they left.
    fn about(&self, left: u64, margin: u64) -> impl Iterator<Item = (u64, u64, usize)> + '_ {
        let from = self.sendings.partition_point(|(nanos, ..)| *nanos <= left.saturating_sub(margin));
        self.sendings.range(from..).copied().take_while(move |(nanos, ..)| *nanos < left.saturating_add(margin))
    }
}

impl Trouble {
    /// Returns whether an ACK without news answers a duplicate that the receiver does not report.
    /// Without SACK, data behind a gap cause the same ACK. So no data sent once may have left about
    /// when the answered segment left.
    pub(super) fn implies_duplicate(&self, half: &Half, ack: &Acknowledgement, setting: &Setting) -> bool {
        if !ack.plain || ack.advances || ack.cumulative != half.una || self.reports {
            return false;
        }
        let shortest = setting.receiver().unwrap_or(0);
        setting.sack || !half.out.has_sent_about(self.implied.left(ack, shortest), shortest / 4)
    }

    /// Assigns an unreported duplicate to a sending: the one whose time fits the current delay of
    /// the path best. That delay is the one of the last sending that filled a gap. The sending that
    /// filled a gap is a last resort, because no duplicate ACK answers it. The path keeps the order
    /// of the others.
    pub(super) fn on_implied_duplicate(&mut self, ack: &Acknowledgement, setting: &Setting) {
        self.implied.silent = true;
        let shortest = setting.receiver().unwrap_or(0);
        let left = self.implied.left(ack, shortest);
        // The first block holds the segment that caused the ACK (RFC 2018, section 4), if that lies
        // above the gap.
        let place = ack.sacks().first().copied();
        let mut chosen: Option<((bool, u64), u64)> = None;
        for (nanos, start, index) in self.implied.about(left, shortest / 4) {
            let Some(one) = self.repeated.get(&start).filter(|one| one.answer.is_some()) else { continue };
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
        let chosen = chosen.map(|(_, start)| start).or_else(|| self.overtaken(ack, left).filter(|_| setting.sack));
        if let Some(one) = chosen.and_then(|start| self.repeated.get_mut(&start)) {
            one.duplicates.push(ack.when);
        }
    }

    /// Returns the segment whose original arrived after its retransmission, for an ACK that no
    /// retransmission can have caused. `None` if several segments or none are possible.
    fn overtaken(&self, ack: &Acknowledgement, left: u64) -> Option<u64> {
        let recent = |one: &Repeated| {
            one.answer.is_some_and(|answer| ack.when.nanos.saturating_sub(answer.when.nanos) < REORDERED_WITHIN)
        };
        let late = |one: &Repeated| one.duplicates.is_empty() && one.sendings[0].nanos < left;
        let all = self.repeated.range(..ack.cumulative).rev().take(MOST_OVERTAKEN);
        let late = all.filter(|(_, one)| recent(one) && late(one) && one.original == Original::Seen);
        let mut late = late.map(|(start, _)| *start);
        late.next().filter(|_| late.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_sendings_make_room_and_those_near_an_instant_are_found() {
        let mut implied = Implied::default();
        let most = MOST_REMEMBERED as u64;
        let first = |implied: &Implied| implied.about(0, u64::MAX).next();
        (1..=most).for_each(|number| implied.on_again(10 * number, number, 1));
        assert_eq!(first(&implied), Some((10, 1, 1)));
        implied.on_again(10 * (most + 1), 0, 2);
        assert_eq!((first(&implied), implied.sendings.len()), (Some((20, 2, 1)), MOST_REMEMBERED));
        // Sendings exactly at the margin are left out.
        let near = |margin| implied.about(100, margin).map(|(nanos, ..)| nanos).collect::<Vec<_>>();
        assert_eq!((near(10), near(11)), (vec![100], vec![90, 100, 110]));
    }
}
