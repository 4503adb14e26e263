//! The evidence about each retransmitted segment: which of its transmissions ACKs answer, what the
//! receiver reported as duplicates, and what it answered without a report.

mod attribution;
mod newly_acked;
mod segment;
mod unreported;

pub(crate) use attribution::candidates;
pub(crate) use segment::{Answered, REORDERED_WITHIN, SegmentEvidence};

use std::collections::BTreeMap;

use crate::order::{CapturePoint, Original, Transmission, is_late_original, reordered_within};
use crate::result::When;
use crate::stream::{Acknowledgement, Stream};
use eifel_base::ranges::{Block, Ranges};
use eifel_base::units::Timestamp;
use newly_acked::NewlyAcked;
use unreported::{MOST_OVERTAKEN, Unreported};

/// Retransmitted segments remembered per direction. Beyond this number the lowest are forgotten.
const MOST_REMEMBERED: usize = 1 << 16;
/// Time within which a receiver next to the capture point answers, in nanoseconds.
const HOST: u64 = 1_000_000;
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
    /// Whether the receiver has reported a duplicate.
    pub(crate) reports: bool,
    /// The newest timestamp that the receiver has echoed.
    pub(crate) echoed: Option<Timestamp>,
    unreported: Unreported,
    /// Whether an ACK later than [`HOST`] did not cover a segment that had passed here.
    pub(crate) lost_behind: bool,
    /// The end of the highest segment sent once that the last ACK of new data covers, and when that
    /// ACK passed.
    neighbour: Option<(u64, When)>,
    newly_acked: NewlyAcked,
    /// When the last ACK with news came, in nanoseconds, and the number of ACKs without news since
    /// then. An ACK has news if it covers data that no ACK has covered.
    last_news: u64,
    without_news: u32,
}

impl Evidence {
    /// Returns whether the receiver has answered a duplicate without reporting it.
    pub(crate) fn is_silent(&self) -> bool {
        self.unreported.silent
    }

    /// Returns whether ACKs can add no evidence other than duplicates.
    pub(crate) fn is_complete(&self) -> bool {
        self.active.is_empty() && self.sacked.is_empty()
    }

    /// Returns whether all retransmissions lie below `una` and are acknowledged, nothing above is
    /// reported by SACK, and the last ACK brought news.
    #[inline]
    pub(crate) fn is_repaired(&self, una: u64) -> bool {
        self.repaired_below <= una && self.is_complete() && self.without_news == 0
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

    /// Returns whether `passing` is the first transmission of a segment that passed only as a
    /// retransmission so far. Marks the segment if so.
    pub(crate) fn accept_late_original(&mut self, passing: &Transmission, frame: u64, within: u64) -> bool {
        let unseen = self.segments.get_mut(&passing.start).filter(|one| one.original == Original::Unseen);
        let Some(one) = unseen else { return false };
        let late = one.transmissions.get(1).is_some_and(|again| is_late_original(passing, again, within));
        let late = late && !one.is_sent_after(passing);
        if late {
            one.original = Original::Late { frame };
        }
        late
    }

    /// Returns whether `passing` is the first transmission of outstanding segment `index`, which
    /// was passed over, or passed only as a retransmission so far. Marks the segment if so.
    pub(crate) fn accept_original(
        &mut self,
        stream: &mut Stream,
        index: usize,
        passing: &Transmission,
        point: &CapturePoint,
    ) -> bool {
        let within = reordered_within(point.round_trip());
        let Some(sent) = stream.out.get(index).copied() else { return false };
        if self.accept_late_original(&Transmission { start: sent.start, ..*passing }, point.when.frame, within) {
            return true;
        }
        if !sent.missing || self.segments.contains_key(&sent.start) {
            return false;
        }
        let next = stream.out.iter().skip(index + 1).find(|next| !next.missing).copied();
        let late = stream.order.is_reordered(passing, &sent, next.as_ref(), within);
        if let Some(sent) = stream.out.get_mut(index) {
            let Transmission { start, len, copies, .. } = *sent;
            if late {
                *sent = Transmission { start, len, copies, ..*passing };
            } else if let Some(Transmission { stamp, stamped, number, .. }) = next {
                // It left before the data behind it.
                *sent = Transmission { stamp, stamped, number, ..*sent };
            }
        }
        late
    }

    /// Records a retransmission of `block`. `first` is the first transmission of the segment, and
    /// `dropped` the frame in which a router reports it as dropped.
    pub(crate) fn add(
        &mut self,
        first: Option<Transmission>,
        (block, passing): (Block, &Transmission),
        frame: u64,
        dropped: Option<u64>,
    ) -> Part {
        if self.segments.len() >= MOST_REMEMBERED
            && let Some((forgotten, _)) = self.segments.pop_first()
        {
            self.active.retain(|start| *start != forgotten);
        }
        self.repaired_below = self.repaired_below.max(block.start + 1);
        let unseen = Transmission { start: block.start, ..Transmission::default() };
        let behind = first.filter(|first| first.missing);
        // The first transmission counts as stamped if the retransmission is.
        let stamped = passing.stamped && first.is_some();
        let first = first.unwrap_or(unseen);
        let (stamp, number) = if first.missing { Default::default() } else { (first.stamp, first.number) };
        let first = Transmission { stamp, stamped, number, ..first };
        let refused = self.refuses(&first);
        let gap = self.sacked.highest().is_some_and(|highest| highest > block.end).then_some(frame);
        let one = self.segments.entry(block.start).or_insert_with(|| {
            Box::new(SegmentEvidence { refused, dropped, behind, ..SegmentEvidence::new(block.end, first) })
        });
        one.end = one.end.min(block.end);
        one.gap = one.gap.or(gap);
        one.transmissions.push(*passing);
        let index = one.transmissions.len() - 1;
        self.unreported.on_retransmission(passing.nanos, block.start, index);
        if index == 1 {
            self.active.push(block.start);
        }
        (block.start, index)
    }

    /// Removes the segments below `cumulative` from the stream. Returns the last one.
    pub(crate) fn take_acked(
        &mut self,
        stream: &mut Stream,
        cumulative: u64,
        point: &CapturePoint,
    ) -> Option<Transmission> {
        let Self { segments, sacked, newly_acked, .. } = self;
        stream.out.pop_below(cumulative, |sent| newly_acked.note(sent, segments, sacked, point))
    }

    /// Starts with an ACK after `duplicates` duplicate ACKs.
    pub(crate) fn begin_ack(&mut self, duplicates: u32) {
        self.newly_acked.clear(duplicates);
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
            filled_by = Some(filler.nanos).filter(|_| !later);
            self.unreported.takes = ack.when.nanos - filler.nanos;
            self.unreported.answered = (filler.nanos, block.start);
            let echoes = filler.stamp().is_some() && filler.stamp() == ack.echo;
            self.newly_acked.filler_took = echoes.then_some(self.unreported.takes);
        }
        let newly = &self.newly_acked;
        let data_behind = newly.duplicates > 0 || newly.count > MOST_DELAYED;
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
                    let echo = ack.echo.filter(|_| fills && stream.stamped);
                    one.answer = Some(Answered { when: ack.when, echo, up_to: Some(block.end) });
                    // With SACK, an earlier ACK would have reported it.
                    let silently = !fills && !point.sack && (data_behind || newly.beyond(one.end));
                    one.arrived_before = filled_by.filter(|_| silently);
                    one.neighbour = newly
                        .neighbour(*start, ack.when)
                        .or(self.neighbour.filter(|one| one.0 == *start).map(|one| one.1));
                }
                None => {}
            }
        }
        self.neighbour = newly.originals.last().map(|last| (last.end, ack.when));
        self.sacked.remove_below(block.end, |_| {});
    }

    /// Handles an ACK of new data after all repairs were acknowledged. `original` is the end of the
    /// highest segment sent once that it covers.
    pub(crate) fn on_repaired(&mut self, original: Option<u64>, when: When) {
        self.neighbour = original.map(|end| (end, when));
        self.last_news = when.nanos;
    }

    /// Applies SACK blocks and DSACKs.
    pub(crate) fn on_report(&mut self, stream: &Stream, ack: &Acknowledgement, point: &CapturePoint) {
        let news = ack.reports.sacks().iter().any(|block| !self.sacked.covers(*block));
        if let Some(dsack) = ack.reports.dsack {
            self.reports = true;
            self.on_duplicate(dsack, ack.when);
        }
        let implied = ack.reports.dsack.is_none() && !news && self.implies_duplicate(stream, ack, point);
        let explained = implied && self.on_unreported(ack, point);
        if !explained || point.sack {
            self.on_without_news(ack, news, point.sack);
        }
        let highest = ack.reports.sacks().iter().map(|block| block.end).max();
        let segments = &mut self.segments;
        self.active.retain(|start| {
            let Some(one) = segments.get_mut(start) else { return false };
            if one.answer.is_none() {
                let reported = ack.reports.sacks().iter().any(|block| block.start <= *start && one.end <= block.end);
                if reported {
                    one.answer = Some(Answered { when: ack.when, echo: None, up_to: None });
                } else if one.gap.is_none() && highest.is_some_and(|highest| highest > one.end) {
                    one.gap = Some(ack.when.frame);
                }
            }
            one.is_open()
        });
        for block in ack.reports.sacks() {
            if self.sacked.count() < MOST_REMEMBERED {
                self.sacked.add(*block);
            }
        }
    }

    /// Counts ACKs without news. An ACK without news may answer an original that its retransmission
    /// has overtaken, so it is recorded for the candidates. With SACK every ACK without news
    /// counts. Without SACK only a single one counts, because several in a row are duplicate ACKs
    /// for another loss.
    fn on_without_news(&mut self, ack: &Acknowledgement, news: bool, sack: bool) {
        if !ack.advances && !news {
            self.without_news += u32::from(ack.plain && ack.reports.dsack.is_none());
            return;
        }
        let (since, count) = (self.last_news, self.without_news);
        (self.last_news, self.without_news) = (ack.when.nanos, 0);
        if count == 0 || count > 1 && !sack {
            return;
        }
        let recent = |one: &SegmentEvidence| {
            let answer = one.answer.map(|answer| answer.when.nanos);
            answer.is_some_and(|answer| answer <= since && since - answer < REORDERED_WITHIN)
        };
        for one in self.segments.values_mut().rev().take(MOST_OVERTAKEN).filter(|one| recent(one)) {
            one.may_answer_original = true;
        }
    }

    /// Records that the receiver reports the data of `block` as duplicates.
    pub(crate) fn on_duplicate(&mut self, block: Block, when: When) {
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
