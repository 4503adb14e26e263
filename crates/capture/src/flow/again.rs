//! The segments that were sent again in one direction, and the evidence about each part of them.

use std::collections::BTreeMap;

use super::When;
use super::calm::Rest;
use super::flight::Flight;
use super::half::{Acknowledgement, Data, Half, Setting};
use super::implied::{Implied, MOST_OVERTAKEN};
use super::popped::Popped;
use super::replica::Replica;
use super::rows::Row;
use super::sent::Sent;
use crate::attribute::Sending;
use crate::sender::Cause;
use crate::verdict::{Answered, Original, REORDERED_WITHIN, Repeated};
use eifel_base::ranges::{Block, Ranges};
use eifel_base::units::Timestamp;

/// Segments sent again that a direction remembers. Verdicts on older ones are final.
const MOST_REMEMBERED: usize = 1 << 16;
/// Until a round trip is known, what is late by less than this, in nanoseconds, was reordered.
const AT_FIRST: u64 = 3_000_000;
/// A receiver's capture shows its answer within this, in nanoseconds.
const HOST: u64 = 1_000_000;
/// An ACK that covers more segments at once than a delayed one shows that some were there before.
const MOST_DELAYED: usize = 2;

/// All that was sent again in one direction.
#[derive(Debug)]
pub(super) struct Trouble {
    /// Boxed, because the map makes room for eleven at once, and most directions send one or two again.
    pub(super) repeated: BTreeMap<u64, Box<Repeated>>,
    /// No segment that was sent again begins here or above.
    pub(super) repaired_below: u64,
    /// Those that ACKs can still tell something new of, besides duplicates.
    pub(super) active: Vec<u64>,
    pub(super) sacked: Ranges,
    /// The receiver has reported a duplicate.
    pub(super) reports: bool,
    /// The newest timestamp that it has echoed.
    pub(super) echoed: Option<Timestamp>,
    /// Duplicates that it answered without a report.
    pub(super) implied: Implied,
    /// Something that had passed here was still missing in an ACK of the receiver that came later than a host takes.
    pub(super) lost_behind: bool,
    /// Where the data end that the last ACK of new data was the first for, of those that were sent once.
    pub(super) neighbour: Option<(u64, When)>,
    /// The memory of what the last ACK covered.
    pub(super) popped: Popped,
    pub(super) rest: Rest,
    pub(super) rows: Vec<Row>,
    pub(super) replica: Replica,
    pub(super) flight: Flight,
    /// When an ACK brought news last, in nanoseconds, and how many without any have come since.
    last_news: u64,
    without_news: u32,
}

/// Takes in a segment whose positions `block` were sent, or passed over, before.
pub(super) fn on_again(half: &mut Half, block: Block, data: &Data, setting: &Setting) {
    half.begin(setting);
    let Some(mut trouble) = half.trouble.take() else { return };
    trouble.stir(half.nxt, setting);
    trouble.on_again(half, block, data, setting);
    half.trouble = Some(trouble);
}

/// Takes in a segment that repeats something for another reason than a loss.
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

/// Returns the delay, in nanoseconds, up to which late data counts as reordered: a sender reacts no sooner.
fn within(setting: &Setting) -> u64 {
    setting.round_trip().map_or(AT_FIRST, |round_trip| round_trip / 2)
}

impl Trouble {
    /// Nothing so far, and at rest.
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
            last_news: 0,
            without_news: 0,
        }
    }

    fn on_again(&mut self, half: &mut Half, block: Block, data: &Data, setting: &Setting) {
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
        let episode = self.replica.on_again(block, data, half, setting);
        let (when, payload) = (setting.when, data.payload);
        self.flight.on_again(data.left, self.rows.len(), block.end, half.nxt - half.una);
        self.rows.push(Row { when, block, payload, copy, known: None, episode, parts, acknowledged });
    }

    /// Whether an ACK that left the receiver after `sent` had passed here shows that it had not arrived. Only a capture at the
    /// receiver may take that to be so.
    fn is_lost_behind(&self, half: &Half, sent: &Sent, setting: &Setting) -> bool {
        let last = self.repeated.get(&sent.start).and_then(|one| one.sendings.last());
        let passed = last.map_or(sent.nanos, |last| last.nanos);
        let missed = sent.start == half.una || setting.sack && self.sacked.covered(sent.start, sent.end()) == 0;
        missed && !sent.missing && half.last_ack > passed.saturating_add(HOST)
    }

    /// Whether this is the first sending of a segment of which only a retransmission has passed. Then it is noted as such.
    fn is_late_original(&mut self, start: u64, data: &Data, setting: &Setting) -> bool {
        let Some(one) = self.repeated.get_mut(&start).filter(|one| one.original == Original::Unseen) else {
            return false;
        };
        let Some(again) = one.sendings.get(1) else { return false };
        let late = match (data.stamp, again.stamp) {
            (Some(stamp), Some(again)) if stamp != again => stamp.precedes(again),
            // No sender decides so soon to send it once more.
            _ => setting.when.nanos.saturating_sub(again.nanos) < within(setting),
        };
        if late {
            one.original = Original::Late { frame: setting.when.frame };
        }
        late
    }

    /// Whether this is the first sending of a segment that was passed over, or that was sent again unseen: then it is noted
    /// as such.
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

    /// Notes one more sending of a segment; returns its place and the number of the sending, from 1.
    fn repeat(&mut self, sent: Option<Sent>, block: Block, data: &Data, setting: &Setting) -> (u64, usize) {
        if self.repeated.len() >= MOST_REMEMBERED {
            self.repeated.pop_first();
        }
        self.repaired_below = self.repaired_below.max(block.start + 1);
        // The receiver had heard of a later timestamp, and its next ACK did not move.
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

    /// New data are acknowledged: everything in `block`.
    pub(super) fn on_advance(
        &mut self,
        half: &Half,
        block: Block,
        ack: &Acknowledgement,
        popped: &Popped,
        setting: &Setting,
    ) {
        // What fills the gap at the front with data behind it is answered at once (RFC 5681, section 4.2): whatever that ACK
        // covers besides was there before what filled the gap, and so were not the sendings that left after that.
        let shortest = setting.receiver().unwrap_or(0);
        let mut filled_by = None;
        if let Some(front) = self.repeated.get_mut(&block.start)
            && let Some(index) = front.latest_that_arrived(ack.when.nanos, shortest)
        {
            let filler = front.sendings[index];
            front.filler = Some(index);
            // An ACK that echoes what left after it is not the first since it arrived: that one was lost.
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
                    // With SACK it would have been reported.
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

    /// New data are acknowledged after everything was repaired. Of what the ACK covers, the last that was sent once ends at
    /// `original`.
    pub(super) fn on_mended(&mut self, original: Option<u64>, when: When) {
        self.neighbour = original.map(|end| (end, when));
        self.last_news = when.nanos;
    }

    /// Whether ACKs have come last that brought no news.
    #[inline]
    pub(super) fn is_without_news(&self) -> bool {
        self.without_news > 0
    }

    /// SACK blocks and DSACKs.
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

    /// Counts ACKs without news. One of them may answer an original that a retransmission has overtaken: by SACK any, and without
    /// SACK one that comes alone, because several in a row say that something else is missing.
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
            // Segments do not overlap, so the first that ends below is followed by none that does not.
            if one.end <= dsack.start {
                break;
            }
            if dsack.start <= *start && one.end <= dsack.end {
                one.duplicates.push(ack.when);
            }
        }
    }
}
