//! The retransmissions of one direction, and the evidence about each retransmitted segment.

use std::collections::BTreeMap;

use super::When;
use super::calm::Rest;
use super::flight::Flight;
use super::half::{Acknowledgement, Data, Half, Setting};
use super::implied::{Implied, MOST_OVERTAKEN};
use super::path_mtu::PathMtu;
use super::popped::Popped;
use super::replica::Replica;
use super::rows::Row;
use super::sent::Sent;
use crate::attribute::Sending;
use crate::sender::Cause;
use crate::verdict::{Answered, Original, REORDERED_WITHIN, Repeated};
use eifel_base::ranges::{Block, Ranges};
use eifel_base::units::Timestamp;

/// Retransmitted segments remembered per direction. Beyond this number the lowest are forgotten.
const MOST_REMEMBERED: usize = 1 << 16;
/// Until a round trip is known, data that are late by less than this, in nanoseconds, count as
/// reordered.
const AT_FIRST: u64 = 3_000_000;
/// Time within which a receiver next to the capture point answers, in nanoseconds.
const HOST: u64 = 1_000_000;
/// The most segments that a delayed ACK covers. An ACK of more shows that some had arrived before.
const MOST_DELAYED: usize = 2;

/// The retransmissions of one direction and the state that judges them.
#[derive(Debug)]
pub(super) struct Trouble {
    /// Evidence by start position. Boxed, because a map node has room for eleven entries, and most
    /// directions retransmit one or two segments.
    pub(super) repeated: BTreeMap<u64, Box<Repeated>>,
    /// Every retransmitted segment starts below this position.
    pub(super) repaired_below: u64,
    /// Start positions of the retransmitted segments for which ACKs may add evidence other than
    /// duplicates.
    pub(super) active: Vec<u64>,
    pub(super) sacked: Ranges,
    /// Whether the receiver has reported a duplicate.
    pub(super) reports: bool,
    /// The newest timestamp that the receiver has echoed.
    pub(super) echoed: Option<Timestamp>,
    /// Duplicates that the receiver answered without reporting them.
    pub(super) implied: Implied,
    /// Whether an ACK later than [`HOST`] did not cover a segment that had passed here.
    pub(super) lost_behind: bool,
    /// The end of the highest segment sent once that the last ACK of new data covers, and when that
    /// ACK passed.
    pub(super) neighbour: Option<(u64, When)>,
    /// The record of the segments that the last ACK covered, kept for its memory.
    pub(super) popped: Popped,
    pub(super) rest: Rest,
    pub(super) rows: Vec<Row>,
    pub(super) replica: Replica,
    pub(super) flight: Flight,
    pub(super) path_mtu: PathMtu,
    /// When the last ACK with news came, in nanoseconds, and the number of ACKs without news since
    /// then. An ACK has news if it covers data that no ACK has covered.
    last_news: u64,
    without_news: u32,
}

/// Handles a segment whose positions `block` were sent before, or passed over as not seen.
pub(super) fn on_again(half: &mut Half, block: Block, data: &Data, setting: &Setting) {
    half.begin(setting);
    let Some(mut trouble) = half.trouble.take() else { return };
    trouble.stir(half.nxt, setting);
    trouble.on_again(half, block, data, setting);
    half.trouble = Some(trouble);
}

/// Handles a segment that is sent again without a loss.
pub(super) fn on_probe(half: &mut Half, block: Block, data: &Data, cause: Cause, setting: &Setting) {
    if data.payload == 0 && !data.syn {
        return;
    }
    half.begin(setting);
    let acknowledged = half.acknowledged(block.end);
    let Some(trouble) = &mut half.trouble else { return };
    trouble.stir(half.nxt, setting);
    let parts = trouble.repeat(half.out.get(0).copied().filter(|sent| sent.start == block.start), block, data, setting);
    half.counts.retransmissions += u64::from(data.payload > 0);
    half.counts.bytes_again += u64::from(data.payload);
    trouble.flight.on_again(data.left, trouble.rows.len(), block.end, half.nxt - half.una);
    trouble.rows.push(Row {
        when: setting.when,
        block,
        payload: data.payload,
        copy: parts.1 + 1,
        known: Some(cause),
        episode: None,
        parts: vec![parts],
        acknowledged,
    });
}

/// Returns the delay, in nanoseconds, below which late data count as reordered: no sender reacts
/// sooner.
fn within(setting: &Setting) -> u64 {
    setting.round_trip().map_or(AT_FIRST, |round_trip| round_trip / 2)
}

impl Trouble {
    /// Returns the state without any retransmissions, at rest.
    pub(super) fn new(replica: Replica) -> Self {
        Self {
            repeated: BTreeMap::new(),
            repaired_below: 0,
            active: Vec::new(),
            sacked: Ranges::default(),
            reports: false,
            echoed: None,
            implied: Implied::default(),
            lost_behind: false,
            neighbour: None,
            popped: Popped::default(),
            rest: Rest::Asleep,
            rows: Vec::new(),
            replica,
            flight: Flight::default(),
            path_mtu: PathMtu::default(),
            last_news: 0,
            without_news: 0,
        }
    }

    fn on_again(&mut self, half: &mut Half, block: Block, data: &Data, setting: &Setting) {
        let is_missed = half.duplicates > 0 || !self.sacked.is_empty();
        let by_message = self.path_mtu.explains(block, data, half, (is_missed, setting.sender()));
        let known = by_message.then_some(Cause::PathMtu);
        let mut parts = Vec::new();
        if block.start < half.una {
            if self.is_late_original(block.start, data, setting) {
                half.counts.reordered += 1;
                return;
            }
            let known = Block { start: block.start, end: block.end.min(half.una) };
            parts.push(self.repeat(None, known, data, setting));
        }
        let open = Block { start: block.start.max(half.una), end: block.end };
        if open.start < open.end {
            let mut index = half.out.align(open.start, open.end);
            while let Some(sent) = half.out.get(index).copied().filter(|sent| sent.start < open.end) {
                if self.came_late(half, index, &sent, data, setting) {
                    half.counts.reordered += 1;
                } else {
                    let block = Block { start: sent.start, end: sent.end() };
                    self.lost_behind |= self.is_lost_behind(half, &sent, setting);
                    parts.push(self.repeat(Some(sent), block, data, setting));
                    if let Some(sent) = half.out.get_mut(index) {
                        sent.copies = sent.copies.saturating_add(1);
                    }
                }
                index += 1;
            }
        }
        let Some(copy) = parts.iter().map(|(_, index)| index + 1).max() else { return };
        let acknowledged = half.acknowledged(block.end);
        half.counts.retransmissions += 1;
        half.counts.bytes_again += u64::from(data.payload.min((block.end - block.start) as u32));
        let episode = if known.is_none() { self.replica.on_again(block, data, half, setting) } else { None };
        let (when, payload) = (setting.when, data.payload);
        self.flight.on_again(data.left, self.rows.len(), block.end, half.nxt - half.una);
        self.rows.push(Row { when, block, payload, copy, known, episode, parts, acknowledged });
    }

    /// Returns whether the last ACK should have covered `sent` and did not, because it is later
    /// than [`HOST`]. That shows a loss behind the capture point only if the capture seems to be
    /// made at the receiver.
    fn is_lost_behind(&self, half: &Half, sent: &Sent, setting: &Setting) -> bool {
        let last = self.repeated.get(&sent.start).and_then(|one| one.sendings.last());
        let passed = last.map_or(sent.nanos, |last| last.nanos);
        let missed = sent.start == half.una || setting.sack && self.sacked.covered(sent.start, sent.end()) == 0;
        missed && !sent.missing && half.last_ack > passed.saturating_add(HOST)
    }

    /// Returns whether this is the first sending of a segment that passed only as a retransmission
    /// so far. Marks the segment if so.
    fn is_late_original(&mut self, start: u64, data: &Data, setting: &Setting) -> bool {
        let Some(one) = self.repeated.get_mut(&start).filter(|one| one.original == Original::Unseen) else {
            return false;
        };
        let Some(again) = one.sendings.get(1) else { return false };
        let late = match (data.stamp, again.stamp) {
            (Some(stamp), Some(again)) if stamp != again => stamp.precedes(again),
            // No sender retransmits a second time so soon.
            _ => setting.when.nanos.saturating_sub(again.nanos) < within(setting),
        };
        if late {
            one.original = Original::Late { frame: setting.when.frame };
        }
        late
    }

    /// Returns whether this is the first sending of a segment that was passed over, or that passed
    /// only as a retransmission so far. Marks the segment if so.
    fn came_late(&mut self, half: &mut Half, index: usize, sent: &Sent, data: &Data, setting: &Setting) -> bool {
        if self.is_late_original(sent.start, data, setting) {
            return true;
        }
        if !sent.missing || self.repeated.contains_key(&sent.start) {
            return false;
        }
        let next = half.out.iter().skip(index + 1).find(|next| !next.missing);
        let by_stamp = match (data.stamp, next.filter(|_| half.stamped)) {
            (Some(stamp), Some(next)) if stamp.precedes(Timestamp(next.stamp)) => Some(true),
            (Some(stamp), Some(next)) if Timestamp(next.stamp).precedes(stamp) => Some(false),
            (Some(_), Some(_)) if half.has_fine_clock() => Some(true),
            _ => None,
        };
        let late = by_stamp.unwrap_or(setting.when.nanos.saturating_sub(sent.nanos) < within(setting));
        if let Some(sent) = half.out.get_mut(index).filter(|_| late) {
            sent.missing = false;
            sent.nanos = setting.when.nanos;
            sent.stamp = data.stamp.map_or(0, |stamp| stamp.0);
        }
        late
    }

    /// Records one more sending of a segment. Returns the segment's start position and the number
    /// of the sending; number 1 is the first retransmission.
    fn repeat(&mut self, sent: Option<Sent>, block: Block, data: &Data, setting: &Setting) -> (u64, usize) {
        if self.repeated.len() >= MOST_REMEMBERED {
            self.repeated.pop_first();
        }
        self.repaired_below = self.repaired_below.max(block.start + 1);
        // The receiver had already echoed a newer timestamp than that of the first sending.
        let stamp = data.stamp.and(sent).map(|sent| Timestamp(sent.stamp));
        let refused = stamp.zip(self.echoed).is_some_and(|(stamp, echoed)| stamp.precedes(echoed));
        let gap = self.sacked.highest().is_some_and(|highest| highest > block.end).then_some(setting.when.frame);
        let one = self.repeated.entry(block.start).or_insert_with(|| {
            let first = sent.map_or(Sending { nanos: 0, stamp: None }, |sent| Sending {
                nanos: sent.nanos,
                stamp: data.stamp.map(|_| Timestamp(sent.stamp)),
            });
            Box::new(Repeated {
                end: block.end,
                sendings: vec![first],
                original: if sent.is_some_and(|sent| sent.missing) { Original::Unseen } else { Original::Seen },
                answer: None,
                duplicates: Vec::new(),
                gap: None,
                in_order: None,
                there_before: None,
                neighbour: None,
                filler: None,
                refused,
                dropped: self.path_mtu.report(block.start),
                doubted: false,
            })
        });
        one.end = one.end.min(block.end);
        one.gap = one.gap.or(gap);
        one.sendings.push(Sending { nanos: setting.when.nanos, stamp: data.stamp });
        let index = one.sendings.len() - 1;
        self.implied.on_again(setting.when.nanos, block.start, index);
        if one.answer.is_none() && !self.active.contains(&block.start) {
            self.active.push(block.start);
        }
        (block.start, index)
    }

    /// Handles an ACK of new data, which covers `block`.
    pub(super) fn on_advance(
        &mut self,
        half: &Half,
        block: Block,
        ack: &Acknowledgement,
        popped: &Popped,
        setting: &Setting,
    ) {
        // A segment that fills the gap at the front is ACKed at once (RFC 5681, section 4.2). The
        // other segments that this ACK covers had arrived before it. So they did not arrive by a
        // sending that left after the filler.
        let shortest = setting.receiver().unwrap_or(0);
        let mut filled_by = None;
        if let Some(front) = self.repeated.get_mut(&block.start)
            && let Some(index) = front.latest_that_arrived(ack.when.nanos, shortest)
        {
            let filler = front.sendings[index];
            front.filler = Some(index);
            // If the ACK echoes a newer timestamp than the filler's, it is not the first ACK after
            // the filler arrived. The first one was lost.
            let later = matches!((filler.stamp, ack.echo), (Some(stamp), Some(echo)) if stamp.precedes(echo));
            filled_by = Some(filler.nanos).filter(|_| !later);
            self.implied.takes = ack.when.nanos - filler.nanos;
        }
        let data_behind = popped.duplicates > 0 || popped.count > MOST_DELAYED;
        for start in &self.active {
            let Some(one) = self.repeated.get_mut(start) else { continue };
            match &mut one.answer {
                Some(answer) => {
                    let second = one.sendings.get(1).map_or(0, |second| second.nanos);
                    if answer.up_to.take().is_some() && popped.front.is_some_and(|front| front < second) {
                        one.in_order = Some(ack.when.frame);
                    }
                }
                None if one.end <= block.end => {
                    let fills = *start <= block.start && !half.may_miss_before(block.start);
                    let echo = ack.echo.filter(|_| fills && half.stamped);
                    one.answer = Some(Answered { when: ack.when, echo, up_to: Some(block.end) });
                    // With SACK, an earlier ACK would have reported it.
                    let silently = !fills && !setting.sack && (data_behind || popped.beyond(one.end));
                    one.there_before = filled_by.filter(|_| silently);
                    one.neighbour = popped
                        .neighbour(*start, ack.when)
                        .or(self.neighbour.filter(|one| one.0 == *start).map(|one| one.1));
                }
                None => {}
            }
        }
        self.flight.on_ack(ack.when.nanos, block.end, half.nxt - block.end, setting.round_trip().unwrap_or(0));
        self.neighbour = popped.originals.last().map(|last| (last.end, ack.when));
        self.sacked.remove_below(block.end, |_| {});
    }

    /// Handles an ACK of new data after all repairs were acknowledged. `original` is the end of the
    /// highest segment sent once that it covers.
    pub(super) fn on_mended(&mut self, original: Option<u64>, when: When) {
        self.neighbour = original.map(|end| (end, when));
        self.last_news = when.nanos;
    }

    /// Returns whether the latest ACKs brought no news.
    #[inline]
    pub(super) fn is_without_news(&self) -> bool {
        self.without_news > 0
    }

    /// Applies SACK blocks and DSACKs.
    pub(super) fn on_report(&mut self, half: &Half, ack: &Acknowledgement, setting: &Setting) {
        let news = ack.sacks().iter().any(|block| !self.sacked.covers(*block));
        if let Some(dsack) = ack.dsack {
            self.reports = true;
            self.on_duplicate(dsack, ack);
        } else if !news && self.implies_duplicate(half, ack, setting) {
            self.on_implied_duplicate(ack, setting);
        }
        self.on_without_news(ack, news, setting);
        let highest = ack.sacks().iter().map(|block| block.end).max();
        let repeated = &mut self.repeated;
        self.active.retain(|start| {
            let Some(one) = repeated.get_mut(start) else { return false };
            if one.answer.is_none() {
                let reported = ack.sacks().iter().any(|block| block.start <= *start && one.end <= block.end);
                if reported {
                    one.answer = Some(Answered { when: ack.when, echo: None, up_to: None });
                } else if one.gap.is_none() && highest.is_some_and(|highest| highest > one.end) {
                    one.gap = Some(ack.when.frame);
                }
            }
            one.may_tell_more()
        });
        for block in ack.sacks() {
            if self.sacked.count() < MOST_REMEMBERED {
                self.sacked.add(*block);
            }
        }
    }

    /// Counts ACKs without news. An ACK without news may answer an original that its retransmission
    /// has overtaken, so the candidates become doubted. With SACK every ACK without news counts.
    /// Without SACK only a single one counts, because several in a row are duplicate ACKs for
    /// another loss.
    fn on_without_news(&mut self, ack: &Acknowledgement, news: bool, setting: &Setting) {
        if !ack.advances && !news {
            self.without_news += u32::from(ack.plain && ack.dsack.is_none());
            return;
        }
        let (since, count) = (self.last_news, self.without_news);
        (self.last_news, self.without_news) = (ack.when.nanos, 0);
        if count == 0 || count > 1 && !setting.sack {
            return;
        }
        let recent = |one: &Repeated| {
            let answer = one.answer.map(|answer| answer.when.nanos);
            answer.is_some_and(|answer| answer <= since && since - answer < REORDERED_WITHIN)
        };
        for one in self.repeated.values_mut().rev().take(MOST_OVERTAKEN).filter(|one| recent(one)) {
            one.doubted = true;
        }
    }

    fn on_duplicate(&mut self, dsack: Block, ack: &Acknowledgement) {
        for (start, one) in self.repeated.range_mut(..dsack.end).rev() {
            // Segments do not overlap, so all segments below this one end below the block too.
            if one.end <= dsack.start {
                break;
            }
            if dsack.start <= *start && one.end <= dsack.end {
                one.duplicates.push(ack.when);
            }
        }
    }
}
