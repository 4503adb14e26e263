//! The evidence about each retransmitted segment: which of its transmissions ACKs answer, what the
//! receiver reported as duplicates, and what it answered without a report.

mod acknowledged;
mod arrivals;
mod attribution;
mod counting;
mod hidden;
mod late;
mod newly_acked;
mod receiver_reports;
mod segment;
mod unreported;

pub(crate) use acknowledged::Acknowledged;
pub(crate) use attribution::{Candidates, candidates, is_nearer};
pub(crate) use counting::PathOrder;
pub(crate) use receiver_reports::Arrived;
pub(crate) use segment::{AcksWithoutNews, Answered, Filled, REORDERED_WITHIN, SHORT_ROUND_TRIP, SegmentEvidence};

use std::collections::BTreeMap;

use crate::order::{CapturePoint, Reaction, Transmission};
use crate::result::When;
use crate::stream::{Acknowledgement, Stream};
use eifel_base::ranges::{Block, Ranges};
use eifel_base::units::Timestamp;
use hidden::Refusal;
use newly_acked::NewlyAcked;
use receiver_reports::ReceiverReports;
use unreported::{MOST_OVERTAKEN, Unreported};

/// Retransmitted segments remembered per direction. Beyond this number the lowest are forgotten.
const MOST_REMEMBERED: usize = 1 << 16;
/// Time within which a receiver next to the capture point answers, in nanoseconds.
const HOST: u64 = 1_000_000;
/// By how much a host's reaction may differ from its shortest one, in nanoseconds.
const INACCURATE: u64 = 50_000;
/// Without SACK, this number of duplicate ACKs is a sign of a loss. The network may double fewer.
const MANY_DUPLICATES: u32 = 3;
/// The most segments that a delayed ACK covers. An ACK of more shows that some had arrived before.
const MOST_DELAYED: usize = 2;

/// The start position of a segment, and the index of one of its transmissions. Index 1 is the first
/// retransmission.
pub(crate) type Part = (u64, usize);

/// The evidence about the retransmissions of one direction.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// Evidence by start position. Boxed, because a map node has room for eleven entries, and most
    /// directions retransmit one or two segments.
    pub(crate) segments: BTreeMap<u64, Box<SegmentEvidence>>,
    /// Every retransmitted segment starts below this position.
    repaired_below: u64,
    /// Start positions of the retransmitted segments for which ACKs may add evidence other than
    /// duplicates.
    pub(crate) active: Vec<u64>,
    pub(crate) sacked: Ranges,
    pub(crate) receiver_reports: ReceiverReports,
    /// Whether the receiver has reported a duplicate.
    pub(crate) reports: bool,
    reported: Reported,
    /// The newest timestamp that the receiver has echoed.
    pub(crate) echoed: Option<Timestamp>,
    unreported: Unreported,
    /// Whether an ACK later than [`HOST`] did not cover a segment that had passed here.
    pub(crate) lost_behind: bool,
    newly_acked: NewlyAcked,
    news: News,
}

/// The data that the receiver has reported as duplicates, in positions.
#[derive(Debug, Default)]
struct Reported {
    /// Data that was sent once: the network made the duplicates (RFC 3708, section 3).
    sent_once: u64,
    sent_again: u64,
}

/// The reported duplicates of retransmissions count if copies that the network makes explain at most one in
/// this many. Chosen, not fitted: recordings of Linux had either no copies or mostly copies.
const COPIES: u64 = 10;

/// ACKs with news: those that cover data that no ACK has covered.
#[derive(Debug, Default)]
struct News {
    /// When the last one came, in nanoseconds.
    last: u64,
    /// The number of ACKs without news since then.
    without: u32,
}

impl News {
    fn at(last: u64) -> Self {
        Self { last, without: 0 }
    }
}

/// What is known of a connection without its packets, as by the sender's kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Known {
    /// Whether the receiver has reported duplicates.
    pub reports: bool,
    /// Whether the sender has counted reordering. It matters only without SACK, which shows the order.
    pub reorders: bool,
}

impl Evidence {
    /// Records what is known without packets.
    pub(crate) fn knows(&mut self, known: Known, sack: bool) {
        self.reports |= known.reports;
        self.unreported.counted.is_told |= known.reorders && !sack;
    }

    /// Returns whether the receiver has answered a duplicate without reporting it.
    pub(crate) fn is_silent(&self) -> bool {
        self.unreported.silent
    }

    /// Returns whether the receiver reports duplicates; `None` if no duplicate has shown it.
    pub(crate) fn reporting(&self) -> Option<bool> {
        (self.reports || self.is_silent()).then_some(self.reports)
    }

    /// Returns whether a reported duplicate of a retransmission may be a copy that the network made, as many
    /// are. `sent` and `again` are the data sent and sent again, in positions.
    pub(crate) fn may_report_copies(&self, sent: u64, again: u64) -> bool {
        let expected = u128::from(self.reported.sent_once) * u128::from(again);
        expected * u128::from(COPIES) > u128::from(self.reported.sent_again) * u128::from(sent)
    }

    /// Returns when duplicates were reported, and when the last transmission of their data had left, in nanoseconds
    /// and in this order.
    pub(crate) fn reported_duplicates(&self) -> Vec<(u64, u64)> {
        let of = |one: &'_ SegmentEvidence, when: &When| {
            let left = one.transmissions.iter().rev().find(|sent| sent.nanos < when.nanos);
            left.map(|sent| (when.nanos, sent.nanos))
        };
        let all = self.segments.values().flat_map(|one| one.duplicates.iter().filter_map(move |when| of(one, when)));
        let mut all: Vec<_> = all.collect();
        all.sort_unstable();
        all
    }

    /// Returns whether ACKs can add no evidence other than duplicates.
    pub(crate) fn is_complete(&self) -> bool {
        self.active.is_empty() && self.sacked.is_empty()
    }

    /// Returns whether all retransmissions lie below `una` and are acknowledged, nothing above is
    /// reported by SACK, and the last ACK brought news.
    #[inline]
    pub(crate) fn is_repaired(&self, una: u64) -> bool {
        self.repaired_below <= una && self.is_complete() && self.news.without == 0
    }

    /// Records whether the last ACK should have covered `sent` and did not, because it is later
    /// than [`HOST`]. That shows a loss behind the capture point only if the capture seems to be
    /// made at the receiver, and if the receiver did not refuse the segment.
    pub(crate) fn record_lost_behind(&mut self, sent: &Transmission, stream: &Stream, sack: bool) {
        let last = self.segments.get(&sent.start).and_then(|one| one.transmissions.last());
        let passed = last.map_or(sent.nanos, |last| last.nanos);
        let missed = sent.start == stream.una || sack && self.sacked.covered(sent.start, sent.end()) == 0;
        let lost = missed && !sent.missing && !self.refuses(sent);
        self.lost_behind |= lost && stream.last_ack > passed.saturating_add(HOST);
    }

    /// Returns whether the receiver has echoed a newer timestamp than that of `sent`. Then it refuses
    /// the segment (RFC 7323, section 5).
    fn refuses(&self, sent: &Transmission) -> bool {
        sent.stamp().zip(self.echoed).is_some_and(|(stamp, echoed)| stamp.precedes(echoed))
    }

    /// Returns how soon a sender can send the segment at `position` again, if that echoes `echo`.
    pub(crate) fn reaction(
        &self,
        stream: &Stream,
        (position, echo): (u64, Option<Timestamp>),
        point: &CapturePoint,
    ) -> Reaction {
        stream.reaction(self.was_prompted(position, echo, point), point)
    }

    /// Records a retransmission of `block`. `first` is the first transmission of the segment, and
    /// `dropped` the frame in which a router reports it as dropped.
    pub(crate) fn add(
        &mut self,
        first: Option<Transmission>,
        (block, passing): (Block, &Transmission),
        dropped: Option<u64>,
        point: &CapturePoint,
    ) -> Part {
        let (frame, shortest) = (point.when.frame, point.receiver_rtt().unwrap_or(0));
        if self.segments.len() >= MOST_REMEMBERED
            && let Some((forgotten, _)) = self.segments.pop_first()
        {
            self.active.retain(|start| *start != forgotten);
        }
        self.repaired_below = self.repaired_below.max(block.start + 1);
        self.receiver_reports.last_loss_sign = passing.nanos;
        let unseen = Transmission { start: block.start, ..Transmission::default() };
        let behind = first.filter(|first| first.missing);
        // The first transmission counts as stamped if the retransmission is.
        let stamped = passing.stamped && first.is_some();
        let first = first.unwrap_or(unseen);
        let (stamp, number) = if first.missing { Default::default() } else { (first.stamp, first.number) };
        let first = Transmission { stamp, stamped, number, ..first };
        let refused = self.refuses(&first);
        let may_be_refused = self.receiver_reports.hidden.may_be_refused(&first, shortest);
        let gap = self.sacked.highest().is_some_and(|highest| highest > block.end).then_some(frame);
        let missed = gap.is_some() || self.receiver_reports.missing_since(block.start).is_some();
        let may_be_left_out = self.receiver_reports.hidden.may_be_left_out(&self.receiver_reports, block);
        let is_new = !self.segments.contains_key(&block.start);
        // A part that is cut off a segment was sent as often as the whole.
        let below = self.segments.range(..block.start).next_back().map(|(_, below)| below);
        let whole = below.filter(|below| first.copies > 1 && below.first.whole.end > block.start);
        let before = whole.map_or(&[][..], |whole| &whole.transmissions[1..]).iter();
        let before: Vec<_> = before.filter(|sent| sent.nanos < passing.nanos).copied().collect();
        let one = self.segments.entry(block.start).or_insert_with(|| {
            let mut one = SegmentEvidence { refused, dropped, ..SegmentEvidence::new(block.end, first) };
            one.first.behind = behind;
            (one.first.missed, one.first.may_be_refused) = (missed, may_be_refused);
            one.first.may_be_left_out = may_be_left_out;
            one.transmissions.extend(before);
            Box::new(one)
        });
        one.end = one.end.min(block.end);
        one.gap = one.gap.or(gap);
        one.transmissions.push(*passing);
        let index = one.transmissions.len() - 1;
        self.unreported.on_retransmission(passing.nanos, block.start, index);
        if is_new {
            self.active.push(block.start);
        }
        (block.start, index)
    }

    /// Records that `parts` were sent again as one segment, `block`. `before` is the same data as they
    /// were sent before: with the whole of the segments at both ends.
    pub(crate) fn on_bounds(&mut self, parts: &[Part], block: Block, before: Block, stamp: Option<Timestamp>) {
        for (start, index) in parts {
            let below = self.segments.range(..*start).next_back().map(|(_, below)| below.first.whole);
            let Some(one) = self.segments.get_mut(start) else { continue };
            if *index == 1 {
                let from = if *start == block.start { before.start } else { *start };
                let to = if one.end == block.end { before.end } else { one.end };
                let whole = Block { start: from, end: to };
                one.first.whole = below.filter(|below| below.end > *start).unwrap_or(whole);
            }
            one.on_bounds(block, stamp);
        }
    }

    /// Moves the segments below `cumulative` from the stream to the `acknowledged`. Returns the last one, and whether
    /// any had not passed.
    pub(crate) fn take_acked(
        &mut self,
        stream: &mut Stream,
        cumulative: u64,
        point: &CapturePoint,
        acknowledged: &mut Acknowledged,
    ) -> (Option<Transmission>, bool) {
        let Self { segments, sacked, newly_acked, .. } = self;
        stream.out.pop_below(cumulative, |sent| {
            newly_acked.note(sent, segments, sacked, point);
            acknowledged.add(sent);
        })
    }

    /// Starts with an ACK after `duplicates` duplicate ACKs.
    pub(crate) fn begin_ack(&mut self, duplicates: u32) {
        self.newly_acked = NewlyAcked { duplicates, ..NewlyAcked::default() };
    }

    /// Returns whether the ACK shows how long its newest segment took. It does not if it covers data
    /// that SACK had reported before, or a retransmission, behind which data had waited.
    pub(crate) fn is_timely(&self) -> bool {
        !self.newly_acked.reported_before && !self.newly_acked.repaired
    }

    /// Returns how long the retransmission took that the ACK echoes, in nanoseconds.
    pub(crate) fn filler_took(&self) -> Option<u64> {
        self.newly_acked.filler_took
    }

    /// Handles an ACK of new data, which covers `block`.
    pub(crate) fn on_advance(&mut self, stream: &Stream, block: Block, ack: &Acknowledgement, point: &CapturePoint) {
        self.count_ack(block, ack, point);
        // A segment that fills the gap at the front is ACKed at once (RFC 5681, section 4.2). The
        // other segments that this ACK covers had arrived before it. So they did not arrive by a
        // transmission that left after the filler.
        let shortest = point.receiver_rtt().unwrap_or(0);
        let mut filled_by = None;
        if let Some(front) = self.segments.get_mut(&block.start)
            && let Some(index) = front.latest_that_arrived(ack.when.nanos, shortest)
        {
            let filler = front.transmissions[index];
            front.filler = Some(index);
            // If the ACK echoes a newer timestamp than the filler's, it is not the first ACK after
            // the filler arrived. The first one was lost.
            let later = matches!((filler.stamp(), ack.echo), (Some(stamp), Some(echo)) if stamp.precedes(echo));
            let takes = if self.unreported.takes == 0 { shortest } else { self.unreported.takes };
            filled_by = Some(Filled { sent: filler.nanos, takes }).filter(|_| !later);
            self.unreported.takes = ack.when.nanos - filler.nanos;
            let echoes = filler.stamp().is_some() && filler.stamp() == ack.echo;
            self.newly_acked.filler_took = echoes.then_some(self.unreported.takes);
        }
        if !point.sack && self.repaired_below > block.start {
            // Without SACK, an ACK during a repair reports the next loss (RFC 6582).
            self.receiver_reports.on_duplicate_ack(block.end, (ack.when, ack.stamp));
        }
        let newly = &self.newly_acked;
        let data_behind = newly.duplicates > 0 || newly.count > MOST_DELAYED;
        let refuses_silently = point.sack && self.receiver_reports.may_refuse_silently(ack.when.nanos);
        for start in &self.active {
            let Some(one) = self.segments.get_mut(start) else { continue };
            match &mut one.answer {
                Some(answer) => {
                    let second = one.transmissions.get(1).map_or(0, |second| second.nanos);
                    if answer.up_to.take().is_some() && newly.front.is_some_and(|front| front < second) {
                        one.in_order = Some(ack.when.frame);
                    }
                }
                None if one.end <= block.end => {
                    let fills = *start <= block.start && !stream.may_miss_before(block.start);
                    let echo = ack.echo.filter(|_| fills && stream.is_stamped());
                    one.answer = Some(Answered {
                        when: ack.when,
                        echo,
                        newest: self.receiver_reports.newest_reported,
                        up_to: Some(block.end),
                    });
                    if let Some(echo) = echo.filter(|_| refuses_silently) {
                        one.first.may_be_refused |= one.is_older_than(echo);
                    }
                    // With SACK, an earlier ACK would have reported it.
                    let silently = !fills && !point.sack && (data_behind || newly.beyond(one.end));
                    one.arrived_before = filled_by.filter(|_| silently);
                }
                None => {}
            }
        }
        self.sacked.remove_below(block.end, |_| {});
        self.receiver_reports.hidden.on_advance(block.end);
    }

    /// Handles an ACK of new data, which covers `block`, after all repairs were acknowledged.
    pub(crate) fn on_repaired(&mut self, block: Block, ack: &Acknowledgement, point: &CapturePoint) {
        self.news.last = ack.when.nanos;
        self.count_ack(block, ack, point);
    }

    /// Returns the round trip of the newest segment that SACK reports for the first time, in nanoseconds,
    /// if that was sent once.
    pub(crate) fn round_trip(&self, stream: &Stream, ack: &Acknowledgement) -> Option<u64> {
        let latest = ack.reports.sacks().first().filter(|block| !self.sacked.covers(**block))?;
        let newest = stream.out.overlapping(Block { start: latest.end - 1, end: latest.end }).next()?;
        let news = newest.is_only_one() && self.sacked.covered(newest.start, newest.end()) == 0;
        news.then(|| ack.when.nanos.saturating_sub(newest.nanos))
    }

    /// Records that an ACK at `now` reported data that were sent once and took `took`, in nanoseconds.
    pub(crate) fn on_round_trip(&mut self, now: u64, took: u64) {
        self.receiver_reports.newest_reported = self.receiver_reports.newest_reported.max(now.saturating_sub(took));
    }

    /// Applies SACK blocks and DSACKs.
    pub(crate) fn on_report(&mut self, stream: &Stream, ack: &Acknowledgement, point: &CapturePoint) {
        if ack.cumulative < stream.una {
            self.receiver_reports.on_old_ack(ack.when.frame);
        }
        let news = ack.reports.sacks().iter().any(|block| !self.sacked.covers(*block));
        if let Some(dsack) = ack.reports.dsack {
            self.reports = true;
            self.on_duplicate(dsack, ack.when);
            if dsack.end <= ack.cumulative {
                let parts = self.segments.range_mut(dsack.start..dsack.end);
                parts.for_each(|(_, one)| one.on_report(dsack, ack.echo, ack.when.frame));
            }
        }
        let implied = ack.reports.dsack.is_none() && !news && self.implies_duplicate(stream, ack, point);
        let refuses = ack.answers && !ack.advances && !news && ack.reports.dsack.is_none();
        if let Some(echo) = ack.echo.filter(|_| point.sack && refuses) {
            self.receiver_reports.hidden.on_refusal(Refusal {
                nanos: ack.when.nanos,
                cumulative: ack.cumulative,
                echo,
            });
            let mut refuses = false;
            for start in &self.active {
                refuses |= self.segments.get_mut(start).is_some_and(|one| one.on_ack_without_news(echo));
            }
            if refuses {
                self.receiver_reports.on_refusal(ack.when.nanos);
            }
        }
        if let Some(arrivals) = self.unreported.arrivals.as_mut().filter(|_| refuses && ack.cumulative == stream.una) {
            arrivals.on_without_news(ack.when.nanos);
        }
        if implied {
            self.on_unreported(ack, point);
        }
        self.on_without_news(ack, news, point.sack);
        let highest = ack.reports.sacks().iter().map(|block| block.end).max();
        let (segments, newest) = (&mut self.segments, self.receiver_reports.newest_reported);
        self.active.retain(|start| {
            let Some(one) = segments.get_mut(start) else { return false };
            if one.answer.is_none() {
                let reported = ack.reports.sacks().iter().any(|block| block.start <= *start && one.end <= block.end);
                if reported {
                    one.answer = Some(Answered { when: ack.when, echo: None, newest, up_to: None });
                } else if one.gap.is_none() && highest.is_some_and(|highest| highest > one.end) {
                    one.gap = Some(ack.when.frame);
                }
            }
            one.is_open()
        });
        for block in ack.reports.sacks() {
            self.receiver_reports.on_block(ack.cumulative, *block, (ack.when, ack.stamp));
            if self.sacked.count() < MOST_REMEMBERED {
                self.sacked.add(*block);
            }
        }
        self.receiver_reports.hidden.on_gap_edges(ack, self.sacked.highest());
        if ack.reports.count > 0 || !point.sack && stream.duplicates >= MANY_DUPLICATES {
            self.receiver_reports.last_loss_sign = ack.when.nanos;
        }
        if !point.sack && ack.plain && !ack.advances && ack.cumulative == stream.una && stream.nxt > stream.una {
            self.receiver_reports.on_duplicate_ack(stream.una, (ack.when, ack.stamp));
        }
    }

    /// Returns whether a report that `position` is missing had reached the sender before it sent
    /// what passes now and echoes `echo`. With timestamps, the sender would echo that of the report (RFC
    /// 7323, section 4.3), or a newer one.
    pub(crate) fn was_prompted(&self, position: u64, echo: Option<Timestamp>, point: &CapturePoint) -> bool {
        let trip = point.sender_rtt().unwrap_or(0);
        // The sender and the path may be a little faster than in the shortest sample.
        let soonest = |since: u64| since + (trip - trip / 16).saturating_sub(INACCURATE);
        let unknown = |stamp: Option<Timestamp>| echo.zip(stamp).is_some_and(|(echo, stamp)| echo.precedes(stamp));
        let missing = self.receiver_reports.missing_since(position);
        // Next to the sender nothing is reordered.
        let known = |stamp| point.is_next_to_sender() || !unknown(stamp);
        missing.is_some_and(|(since, stamp)| soonest(since) <= point.when.nanos && known(stamp))
    }

    /// Counts ACKs without news. An ACK without news may answer an original that its retransmission
    /// has overtaken, so it is recorded for the candidates. With SACK every ACK without news
    /// counts. Without SACK only a single one counts, because several in a row are duplicate ACKs
    /// for another loss.
    fn on_without_news(&mut self, ack: &Acknowledgement, news: bool, sack: bool) {
        if !ack.advances && !news {
            self.news.without += u32::from(ack.plain && ack.reports.dsack.is_none());
            return;
        }
        let News { last: since, without: count } = std::mem::replace(&mut self.news, News::at(ack.when.nanos));
        if count == 0 || count > 1 && !sack {
            return;
        }
        let recent = |one: &SegmentEvidence| {
            let answer = one.answer.map(|answer| answer.when.nanos);
            answer.is_some_and(|answer| answer <= since && since - answer < REORDERED_WITHIN)
        };
        for one in self.segments.values_mut().rev().take(MOST_OVERTAKEN).filter(|one| recent(one)) {
            one.without_news.original = true;
        }
    }

    /// Records that the receiver reports the data of `block` as duplicates.
    pub(crate) fn on_duplicate(&mut self, block: Block, when: When) {
        let below = self.segments.range(..block.end).next_back();
        let again = below.is_some_and(|(_, one)| one.end > block.start);
        let Reported { sent_once, sent_again } = &mut self.reported;
        *if again { sent_again } else { sent_once } += block.end - block.start;
        for (start, one) in self.segments.range_mut(..block.end).rev() {
            // Segments do not overlap, so all segments below this one end below the block too.
            if one.end <= block.start {
                break;
            }
            if block.start <= *start && one.end <= block.end {
                one.duplicates.push(when);
            }
        }
    }
}
