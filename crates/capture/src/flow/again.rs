//! What was sent again in one direction, and what is learnt of each part of it.

use std::collections::BTreeMap;

use super::When;
use super::flight::Flight;
use super::half::{Acknowledgement, Data, Half, Setting};
use super::replica::{Explained, Replica};
use super::sent::Sent;
use super::trip::Vantage;
use crate::attribute::Sending;
use crate::report::{End, Retransmission};
use crate::sender::Cause;
use crate::verdict::{Answered, Circumstances, Confidence, Judged, Noticed, Original, Repeated, Verdict};
use eifel_base::ranges::{Block, Ranges};
use eifel_base::units::Timestamp;
use eifel_packet::seq::{Seq, wrap};

/// Segments sent again that a direction remembers. Verdicts on older ones are final.
const MOST_REMEMBERED: usize = 1 << 16;
/// Until a round trip is known, what is late by less than this, in nanoseconds, was reordered.
const REORDERED_WITHIN: u64 = 3_000_000;

/// One segment that sent something again.
#[derive(Clone, Debug)]
struct Row {
    when: When,
    block: Block,
    payload: u32,
    copy: usize,
    causes: Causes,
    /// The episode of loss recovery that it belongs to.
    episode: Option<u32>,
    /// The segments that it repeats, each with the number of this sending.
    parts: Vec<(u64, usize)>,
    /// The ACK that had covered all of it before it passed.
    acknowledged: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Causes {
    Known(Cause),
    /// By each model.
    Modelled([Cause; crate::sender::MODELS.len()]),
}

/// All that was sent again in one direction.
#[derive(Debug)]
pub(super) struct Trouble {
    repeated: BTreeMap<u64, Repeated>,
    /// Those that ACKs can still tell something new of, besides duplicates.
    active: Vec<u64>,
    sacked: Ranges,
    /// The receiver has reported a duplicate.
    reports: bool,
    /// How long the last sending that filled a gap took to be answered, in nanoseconds.
    takes: u64,
    /// It has answered one without a report.
    silent: bool,
    /// Where the data end that the last ACK of new data was the first for, of those that were sent once.
    neighbour: Option<(u64, When)>,
    rows: Vec<Row>,
    pub(super) replica: Replica,
    pub(super) flight: Flight,
}

/// Segments that one ACK covers.
#[derive(Clone, Debug, Default)]
pub(super) struct Popped {
    /// When the lowest left, if it answers its first sending.
    front: Option<u64>,
    any: bool,
    /// Those whose first sending it answers, put together where they touch.
    originals: Vec<Block>,
    pub(super) reported_before: bool,
}

impl Popped {
    /// Whether first sendings above `position` are among them.
    fn beyond(&self, position: u64) -> bool {
        self.originals.last().is_some_and(|block| block.end > position)
    }

    /// Whether the ACK at `when` is the first for the data that end at `position`, and those were sent once.
    fn neighbour(&self, position: u64, when: When) -> Option<When> {
        self.originals.iter().any(|block| block.start < position && position <= block.end).then_some(when)
    }

    pub(super) fn note(&mut self, sent: &Sent, trouble: &Trouble, setting: &Setting) {
        self.judge(sent, trouble, setting);
        self.any = true;
    }

    fn judge(&mut self, sent: &Sent, trouble: &Trouble, setting: &Setting) {
        if trouble.sacked.covered(sent.start, sent.end()) > 0 {
            self.reported_before = true;
            return;
        }
        let original =
            sent.copies == 1
                || trouble.repeated.get(&sent.start).and_then(|one| one.sendings.get(1)).is_some_and(|second| {
                    second.nanos.saturating_add(setting.receiver.unwrap_or(0)) > setting.when.nanos
                });
        if original && !sent.missing {
            if !self.any {
                self.front = Some(sent.when.nanos);
            }
            match self.originals.last_mut().filter(|last| last.end == sent.start) {
                Some(last) => last.end = sent.end(),
                None => self.originals.push(Block { start: sent.start, end: sent.end() }),
            }
        }
    }
}

/// Gives a half its [`Trouble`], if it has none.
pub(super) fn begin(half: &mut Half, setting: &Setting) {
    if half.trouble.is_some() {
        return;
    }
    let trouble = Trouble {
        repeated: BTreeMap::new(),
        active: Vec::new(),
        sacked: Ranges::default(),
        reports: false,
        silent: false,
        takes: 0,
        neighbour: None,
        rows: Vec::new(),
        replica: Replica::new(half, setting),
        flight: Flight::default(),
    };
    half.trouble = Some(Box::new(trouble));
}

/// Takes in a segment whose positions `block` were sent, or passed over, before.
pub(super) fn on_again(half: &mut Half, block: Block, data: &Data, setting: &Setting) {
    begin(half, setting);
    let Some(mut trouble) = half.trouble.take() else { return };
    trouble.on_again(half, block, data, setting);
    half.trouble = Some(trouble);
}

/// Takes in a segment that repeats something for another reason than a loss.
pub(super) fn on_probe(half: &mut Half, block: Block, data: &Data, cause: Cause, setting: &Setting) {
    if data.payload == 0 && !data.syn {
        return;
    }
    begin(half, setting);
    let acknowledged = half.acknowledged(block.end);
    let Some(trouble) = &mut half.trouble else { return };
    let parts = trouble.repeat(half.out.get(0).copied().filter(|sent| sent.start == block.start), block, data, setting);
    half.counts.retransmissions += u64::from(data.payload > 0);
    half.counts.bytes_again += u64::from(data.payload);
    trouble.flight.on_again(trouble.rows.len(), block.end, half.nxt - half.una);
    trouble.rows.push(Row {
        when: setting.when,
        block,
        payload: data.payload,
        copy: parts.1 + 1,
        causes: Causes::Known(cause),
        episode: None,
        parts: vec![parts],
        acknowledged,
    });
}

/// What comes later than others by less than this was reordered: a sender reacts no sooner.
fn within(setting: &Setting) -> u64 {
    setting.round_trip().map_or(REORDERED_WITHIN, |round_trip| round_trip / 2)
}

impl Trouble {
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
        let Explained { causes, episode } = self.replica.on_again(block, data, half, setting);
        let causes = Causes::Modelled(causes);
        let (when, payload) = (setting.when, data.payload);
        self.flight.on_again(self.rows.len(), block.end, half.nxt - half.una);
        self.rows.push(Row { when, block, payload, copy, causes, episode, parts, acknowledged });
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
            one.original = Original::Late(setting.when.frame);
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
        let late = by_stamp.unwrap_or(setting.when.nanos.saturating_sub(sent.when.nanos) < within(setting));
        if let Some(sent) = half.out.get_mut(index).filter(|_| late) {
            sent.missing = false;
            sent.when = setting.when;
            sent.stamp = data.stamp.map_or(0, |stamp| stamp.0);
        }
        late
    }

    /// Notes one more sending of a segment; returns its place and the number of the sending, from 1.
    fn repeat(&mut self, sent: Option<Sent>, block: Block, data: &Data, setting: &Setting) -> (u64, usize) {
        if self.repeated.len() >= MOST_REMEMBERED {
            self.repeated.pop_first();
        }
        let gap = self.sacked.highest().is_some_and(|highest| highest > block.end).then_some(setting.when.frame);
        let one = self.repeated.entry(block.start).or_insert_with(|| {
            let first = sent.map_or(Sending { nanos: 0, stamp: None }, |sent| Sending {
                nanos: sent.when.nanos,
                stamp: data.stamp.map(|_| Timestamp(sent.stamp)),
            });
            Repeated {
                end: block.end,
                sendings: vec![first],
                original: if sent.is_some_and(|sent| sent.missing) { Original::Unseen } else { Original::Seen },
                answer: None,
                duplicates: Vec::new(),
                gap: None,
                in_order: None,
                there_before: None,
                neighbour: None,
            }
        });
        one.end = one.end.min(block.end);
        one.gap = one.gap.or(gap);
        one.sendings.push(Sending { nanos: setting.when.nanos, stamp: data.stamp });
        let index = one.sendings.len() - 1;
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
        let filled_by = self
            .repeated
            .get(&block.start)
            .and_then(|front| front.latest_that_arrived(ack.when.nanos, setting.receiver.unwrap_or(0)));
        if let Some(sent) = filled_by {
            self.takes = ack.when.nanos - sent;
        }
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
                    let fills = *start <= block.start;
                    let echo = ack.echo.filter(|_| fills && half.stamped);
                    one.answer = Some(Answered { when: ack.when, echo, up_to: fills.then_some(block.end) });
                    one.there_before = filled_by.filter(|_| !fills && popped.beyond(one.end));
                    one.neighbour = popped
                        .neighbour(*start, ack.when)
                        .or(self.neighbour.filter(|one| one.0 == *start).map(|one| one.1));
                }
                None => {}
            }
        }
        self.flight.on_ack(ack.when.nanos, block.end, setting.round_trip().unwrap_or(0));
        self.neighbour = popped.originals.last().map(|last| (last.end, ack.when));
        self.sacked.remove_below(block.end, |_| {});
        self.retire();
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
        let highest = ack.sacks().iter().map(|block| block.end).max();
        for start in &self.active {
            let Some(one) = self.repeated.get_mut(start).filter(|one| one.answer.is_none()) else { continue };
            let reported = ack.sacks().iter().any(|block| block.start <= *start && one.end <= block.end);
            if reported {
                one.answer = Some(Answered { when: ack.when, echo: None, up_to: None });
            } else if one.gap.is_none() && highest.is_some_and(|highest| highest > one.end) {
                one.gap = Some(ack.when.frame);
            }
        }
        for block in ack.sacks() {
            if self.sacked.count() < MOST_REMEMBERED {
                self.sacked.add(*block);
            }
        }
        self.retire();
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

    /// An ACK without news answers a duplicate, where the receiver does not report it. Without SACK it may also answer what left
    /// a gap, unless nothing that could have left one can have arrived just now.
    fn implies_duplicate(&self, half: &Half, ack: &Acknowledgement, setting: &Setting) -> bool {
        if !ack.plain || ack.advances || ack.cumulative != half.una || self.reports {
            return false;
        }
        let shortest = setting.receiver.unwrap_or(0);
        setting.sack || !half.out.has_sent_about(self.left(ack, shortest), shortest / 4)
    }

    /// About when what an ACK answers has left, as long as the path takes as now.
    fn left(&self, ack: &Acknowledgement, shortest: u64) -> u64 {
        ack.when.nanos.saturating_sub(self.takes.max(shortest))
    }

    /// Which sending it was is told by the time that the path takes now: that of the last gap that was filled.
    fn on_implied_duplicate(&mut self, ack: &Acknowledgement, setting: &Setting) {
        self.silent = true;
        let shortest = setting.receiver.unwrap_or(0);
        let left = self.left(ack, shortest);
        // The first block holds what caused the ACK (RFC 2018, section 4), if it lies above the gap.
        let place = ack.sacks().first().copied();
        let mut chosen: Option<(u64, &mut Repeated)> = None;
        for (start, one) in self.repeated.iter_mut().filter(|(_, one)| one.answer.is_some()) {
            let there =
                place.is_none_or(|block| one.end <= ack.cumulative || block.start <= *start && one.end <= block.end);
            let next = one.duplicates.len() + 1;
            let Some(sent) = one
                .sendings
                .get(next..)
                .and_then(|rest| rest.iter().map(|one| one.nanos).min_by_key(|nanos| nanos.abs_diff(left)))
            else {
                continue;
            };
            let nearer = chosen.as_ref().is_none_or(|(nearest, _)| sent.abs_diff(left) < nearest.abs_diff(left));
            if there && nearer && sent.abs_diff(left) < shortest / 4 {
                chosen = Some((sent, one));
            }
        }
        if let Some((_, one)) = chosen {
            one.duplicates.push(ack.when);
        }
    }

    fn retire(&mut self) {
        let repeated = &self.repeated;
        self.active.retain(|start| {
            repeated.get(start).is_some_and(|one| one.answer.is_none_or(|answer| answer.up_to.is_some()))
        });
    }

    /// Hands out what was sent again, with verdicts; returns the name of the model that explains it best.
    pub(super) fn finish(
        &mut self,
        setting: &Setting,
        (connection, sender, initial): (u64, End, Seq),
        into: &mut Vec<Retransmission>,
    ) -> Option<&'static str> {
        self.replica.finish();
        let (place, model) = self.replica.best_model();
        let circumstances = Circumstances {
            at_receiver: setting.vantage() == Vantage::Receiver,
            silent: self.silent,
            reports: self.reports || setting.sack && !self.silent,
            shortest: setting.receiver.unwrap_or(0),
        };
        let noticed: Vec<_> = self.flight.finish().collect();
        for (number, row) in self.rows.iter().enumerate() {
            let judged = self.judge(row, &circumstances);
            let undone = noticed.get(number).copied().filter(|_| judged.verdict == Verdict::Spurious);
            into.push(Retransmission {
                capture: 0,
                frame: row.when.frame,
                time_s: row.when.nanos as f64 / 1e9,
                connection,
                sender,
                seq: wrap(row.block.start, initial).0,
                bytes: row.payload,
                copy: row.copy,
                cause: match row.causes {
                    Causes::Known(cause) => cause,
                    Causes::Modelled(causes) => causes[place],
                },
                verdict: judged.verdict,
                confidence: judged.confidence,
                reason: judged.reason,
                evidence_frame: judged.evidence,
                stack_noticed: undone.unwrap_or(Noticed::CannotBeTold),
                first_told: row.episode.map(|episode| self.replica.told(episode)).unwrap_or_default(),
            });
        }
        (!self.rows.is_empty()).then_some(model)
    }

    /// A segment is spurious if all of its parts are.
    fn judge(&self, row: &Row, circumstances: &Circumstances) -> Judged {
        if let Some(frame) = row.acknowledged {
            return Judged {
                verdict: Verdict::Spurious,
                confidence: Confidence::Certain,
                reason: "it was acknowledged before it passed",
                evidence: Some(frame),
            };
        }
        let of_part = |(start, index): &(u64, usize)| {
            self.repeated
                .get(start)
                .filter(|one| *index < one.sendings.len())
                .map(|one| one.judge(*index, circumstances))
        };
        let all = row.parts.iter().filter_map(of_part);
        let rank = |judged: &Judged| match judged.verdict {
            Verdict::Spurious => 0,
            Verdict::Undecidable => 1,
            Verdict::Needed => 2,
        };
        all.max_by_key(|judged| (rank(judged), judged.confidence)).unwrap_or(Judged {
            verdict: Verdict::Undecidable,
            confidence: Confidence::Weak,
            reason: "too much was sent again to remember it all",
            evidence: None,
        })
    }
}
