//! What the receiver has reported, and when: data that arrived above a gap, and so the gap.
//!
//! A report shows two things. Data in it have arrived, so a later transmission of them is needless.
//! Data below it are missing, so from then on the sender has a reason to send them again.

use super::hidden::Hidden;
use crate::result::When;
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;
use std::collections::VecDeque;

/// Reports remembered per direction.
const MOST: usize = 256;

/// Linux sends at most one ACK in this time for packets that it refuses, for example for an old
/// timestamp (`net.ipv4.tcp_invalid_ratelimit`), in nanoseconds.
const REFUSALS_APART: u64 = 500_000_000;

/// By how much a capture may have packets of the two directions out of order, in nanoseconds: they wait in other queues.
/// Chosen, not fitted.
const RECORDED_WITHIN: u64 = 100_000;

/// Consecutive reports of one block of data, which may grow.
#[derive(Clone, Copy, Debug)]
struct Report {
    /// When the first of them passed, in nanoseconds, and its timestamp.
    since: u64,
    stamp: Option<Timestamp>,
    /// The last of them.
    last: When,
    /// Everything below this was acknowledged at first.
    una: u64,
    block: Block,
}

/// What shows that data had arrived before they were sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrived {
    /// When the ACK passed.
    pub(crate) when: When,
    /// Whether its SACK blocks cover the data, and not its cumulative ACK.
    pub(crate) by_sack: bool,
    /// Whether the cumulative ACK covers data that had not passed.
    pub(crate) unseen: bool,
    /// Whether the ACK may answer the very segment that it passed before: a capture has the two directions out of order.
    pub(crate) may_be_later: bool,
    /// Whether no older ACK has passed after it. Else a capture that has packets out of order may have it too early.
    pub(crate) in_order: bool,
}

/// The latest reports of the receiver, in the order in which they passed.
#[derive(Debug, Default)]
pub(crate) struct ReceiverReports {
    reports: VecDeque<Report>,
    /// When the last sign of a loss passed, in nanoseconds: a report of missing data, or a repair.
    pub(crate) last_loss_sign: u64,
    /// When the newest data left that ACKs have reported and that were sent once, in nanoseconds.
    pub(crate) newest_reported: u64,
    /// The frame of the last ACK that was older than one before it.
    last_old_ack: u64,
    /// When an ACK without news last seemed to refuse an old timestamp, in nanoseconds.
    last_refusal: Option<u64>,
    pub(crate) hidden: Hidden,
}

impl ReceiverReports {
    /// Records that an ACK of everything below `una` reports that `block` arrived.
    pub(crate) fn on_block(&mut self, una: u64, block: Block, (when, stamp): (When, Option<Timestamp>)) {
        let known = self.reports.iter_mut().rev().take(4).find(|known| known.block.start == block.start);
        match known {
            Some(known) if known.block.end <= block.end => (known.block.end, known.last) = (block.end, when),
            Some(_) => {}
            None => {
                if self.reports.len() == MOST {
                    self.reports.pop_front();
                }
                self.reports.push_back(Report { since: when.nanos, stamp, last: when, una, block });
            }
        }
    }

    /// Records a duplicate ACK without SACK blocks: the segment at `una` is missing.
    pub(crate) fn on_duplicate_ack(&mut self, una: u64, at: (When, Option<Timestamp>)) {
        self.on_block(una, Block { start: una + 1, end: una + 1 }, at);
    }

    /// Records an ACK at `now` that may refuse an old timestamp.
    pub(crate) fn on_refusal(&mut self, now: u64) {
        self.last_refusal = Some(now);
    }

    /// Returns whether the receiver may refuse old timestamps in silence at `now`.
    pub(crate) fn may_refuse_silently(&self, now: u64) -> bool {
        self.last_refusal.is_some_and(|refused| now.saturating_sub(refused) < REFUSALS_APART)
    }

    /// Records an ACK that is older than one before it.
    pub(crate) fn on_old_ack(&mut self, frame: u64) {
        self.last_old_ack = frame;
    }

    /// Returns what shows that `block` arrived: an ACK that passed when `acknowledged`, or else a report.
    /// The block passes again at `now`, in nanoseconds; its timestamp may be `newer` than what the receiver has echoed.
    pub(crate) fn arrived(&self, acknowledged: Option<When>, block: Block, newer: bool, now: u64) -> Option<Arrived> {
        let covers = |one: &&Report| one.block.start <= block.start && block.end <= one.block.end;
        let reported = || self.reports.iter().rev().find(covers).map(|one| one.last);
        let when = acknowledged.or_else(|| reported().filter(|_| block.start < block.end))?;
        let just_before = now.saturating_sub(when.nanos) < RECORDED_WITHIN;
        Some(Arrived {
            when,
            by_sack: acknowledged.is_none(),
            unseen: false,
            may_be_later: just_before && !newer,
            in_order: self.last_old_ack < when.frame,
        })
    }

    /// Returns when the first report passed that shows the data at `position` missing, in
    /// nanoseconds, and its timestamp.
    pub(crate) fn missing_since(&self, position: u64) -> Option<(u64, Option<Timestamp>)> {
        let shows = |one: &&Report| (one.una..one.block.start).contains(&position);
        self.reports.iter().find(shows).map(|one| (one.since, one.stamp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time long after all reports.
    const LATER: u64 = 1_000_000_000;

    fn at(nanos: u64) -> (When, Option<Timestamp>) {
        (When { nanos, frame: nanos + 1 }, Some(Timestamp(nanos as u32)))
    }

    fn since(nanos: u64) -> Option<(u64, Option<Timestamp>)> {
        Some((nanos, Some(Timestamp(nanos as u32))))
    }

    #[test]
    fn a_report_shows_what_arrived_and_what_is_missing_below_it() {
        let mut reports = ReceiverReports::default();
        reports.on_block(1000, Block { start: 3000, end: 4000 }, at(5));
        reports.on_block(1000, Block { start: 3000, end: 5000 }, at(7));
        reports.on_block(1000, Block { start: 6000, end: 7000 }, at(9));
        let missing = [999, 1000, 2999, 3000, 5000, 6000].map(|position| reports.missing_since(position));
        assert_eq!(missing, [None, since(5), since(5), since(9), since(9), None]);
        let arrived = |start, end| reports.arrived(None, Block { start, end }, false, LATER).map(|one| one.when.frame);
        assert_eq!([arrived(3000, 5000), arrived(6500, 7000), arrived(4500, 6500)], [Some(8), Some(10), None]);
    }

    #[test]
    fn a_duplicate_ack_shows_only_the_first_segment_missing() {
        let mut reports = ReceiverReports::default();
        reports.on_duplicate_ack(1000, at(5));
        reports.on_duplicate_ack(1000, at(6));
        assert_eq!([1000, 1001].map(|position| reports.missing_since(position)), [since(5), None]);
        assert_eq!(reports.arrived(None, Block { start: 1000, end: 1001 }, false, LATER), None);
    }

    #[test]
    fn a_report_just_before_data_may_be_of_them() {
        let mut reports = ReceiverReports::default();
        reports.on_block(0, Block { start: 5, end: 9 }, at(100));
        let may_be_later = |newer, now| {
            let arrived = reports.arrived(None, Block { start: 5, end: 9 }, newer, now);
            arrived.is_some_and(|arrived| arrived.may_be_later)
        };
        assert!(may_be_later(false, 100) && may_be_later(false, 99 + RECORDED_WITHIN));
        assert!(!may_be_later(false, 100 + RECORDED_WITHIN) && !may_be_later(true, 100));
    }

    #[test]
    fn the_oldest_reports_are_forgotten() {
        let mut reports = ReceiverReports::default();
        for place in 0..=MOST as u64 {
            reports.on_block(0, Block { start: 10 * place + 5, end: 10 * place + 9 }, at(place));
        }
        assert_eq!(reports.reports.len(), MOST);
        assert_eq!(reports.arrived(None, Block { start: 5, end: 9 }, false, LATER), None);
        assert_eq!(reports.missing_since(1), since(1));
    }
}
