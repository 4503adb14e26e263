//! Judges whether a segment was lost before it was sent again.
//!
//! A retransmission is spurious if every byte of it had an earlier transmission that reached the
//! receiver, even if that transmission arrived after the retransmission left.

use crate::evidence::{
    AcksWithoutNews, Candidates, PathOrder, REORDERED_WITHIN, SHORT_ROUND_TRIP, SegmentEvidence, candidates,
};
use crate::order::{Original, Transmission};
use crate::result::{Confidence, Vantage, Verdict, When};

/// The longest time by which a copy follows its packet, in nanoseconds.
const COPIED_WITHIN: u64 = 60_000_000;
/// The smallest retransmission timeout of common stacks, in nanoseconds.
const SMALLEST_TIMEOUT: u64 = 200_000_000;

/// How long after a capture began without a handshake missing data may be of before, in nanoseconds: most senders
/// have repaired by then what was outstanding.
const LONGEST_OUTSTANDING: u64 = 1_000_000_000;

/// A verdict with its confidence, reason and evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judged {
    /// Whether the retransmission was needed.
    pub verdict: Verdict,
    /// How sure the verdict is.
    pub confidence: Confidence,
    pub reason: &'static str,
    /// The frame that shows it, if one does.
    pub evidence: Option<u64>,
}

/// What the capture shows of the connection.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Shown {
    /// Whether ACKs cover data that the capture never showed: it lost packets, or they took another way.
    pub(crate) lossy: bool,
    /// When the last packet of the connection passed, in nanoseconds.
    pub(crate) until: u64,
    /// When the capture began, in nanoseconds, if it shows no handshake: data may have been sent before.
    pub(crate) midstream: Option<u64>,
    /// The place of the capture, as the round trips show it.
    pub(crate) place: Vantage,
}

/// The facts about a direction that all its verdicts depend on.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Circumstances {
    /// Whether packets that pass the capture point have reached the receiver.
    pub(crate) at_receiver: bool,
    /// Whether packets that pass the capture point have just left the sender.
    pub(crate) at_sender: bool,
    /// Whether both ends agreed on SACK.
    pub(crate) sack: bool,
    /// Without SACK: whether the path keeps the order of its packets.
    pub(crate) order: PathOrder,
    /// Whether the receiver has answered duplicates without reporting them.
    pub(crate) silent: bool,
    /// Whether the receiver reports duplicates, as far as is known.
    pub(crate) reports: bool,
    /// Whether it is so likely to report duplicates that the lack of a report counts against an early ACK.
    pub(crate) would_report: bool,
    /// Whether a duplicate that it reports may be a copy that the network made.
    pub(crate) copies: bool,
    /// Whether the receiver may be nearer than that.
    pub(crate) nearer: bool,
    /// Shortest round trip from here to the receiver and back, in nanoseconds.
    pub(crate) shortest: u64,
    pub(crate) shown: Shown,
}

const fn judged(verdict: Verdict, confidence: Confidence, reason: &'static str, evidence: Option<u64>) -> Judged {
    Judged { verdict, confidence, reason, evidence }
}

/// A later transmission passed first. Whether an earlier one arrived is unknown.
pub(crate) const OVERTAKEN: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "a later transmission passed before it", None);

/// What lacks is so near to the beginning of the capture that it may have passed before.
pub(crate) const MAY_BE_OLDER: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "the original may have passed before the capture began", None);

/// The retransmission arrived. Whether the original arrived after it is unknown.
pub(crate) const LATE_ORIGINAL: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "an ACK that covers no new data may answer a late original", None);

/// The marks of a packet that passed later do not show whether it is the original.
const MAY_BE_THE_ORIGINAL: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "a copy that passed after it may be the original", None);

/// The ACK seems to answer the original. A receiver that got both would have reported a duplicate.
const TOO_SOON: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "the ACK comes too soon, but no duplicate is reported", None);

/// The receiver may have got the original before its retransmission, and refused it.
const MAY_BE_REFUSED: Judged = judged(
    Verdict::Undecidable,
    Confidence::Weak,
    "an ACK without news may refuse the original because of its old timestamp",
    None,
);

/// The identifications of the ACKs show that one is missing where the report would be.
pub(crate) const MAY_MISS_REPORT: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "the ACK that would report a duplicate may have been lost", None);

/// Hardly anything is lost in front of a capture point at the sender.
const MAY_BE_MISSED: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "the capture at the sender may have missed the original", None);

/// A duplicate that left earlier was reported later.
pub(crate) const MAY_BE_LOST: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "data that left before it arrived later, so it may be lost", None);

/// The receiver has reported duplicates of data that was sent once.
const MAY_BE_A_COPY: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "the reported duplicate may be a copy that the network made", None);

pub(crate) const EITHER: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "either transmission can have caused the ACK", None);

const SOONER: &str = "the ACK comes sooner than any round trip";

/// The answer to a SYN comes one round trip after its repetition.
const IN_TIME: &str = "the answer comes one round trip after it";

/// The reason of the verdict "needed" if the ACK echoes this timestamp or a later one.
pub(crate) const BY_ECHO: &str = "the ACK echoes the timestamp of this transmission or of a later one";
/// The reason of the verdict "spurious" if the ACK of what filled a gap covers it too.
pub(crate) const BEHIND: &str = "it had arrived before the gap below it was filled";
/// The reason of the verdict "spurious" by the ACK after that of the retransmission, as in F-RTO.
pub(crate) const IN_ORDER: &str = "data sent before it, and only once, arrived after it";
/// The reason of the verdict "needed" if either transmission can have filled a gap.
pub(crate) const NO_REPORT: &str = "later data arrived before it, and no duplicate is reported";
/// The reason of the verdict "needed" if the receiver does not report duplicates.
pub(crate) const OVERDUE: &str = "later data arrived before it";
/// The reason of the verdict "spurious" if ACKs without news were counted.
pub(crate) const COUNTED: &str = "the number of ACKs shows that an earlier transmission arrived";
/// The reason of the verdict "spurious" if a duplicate was answered without a report.
pub(crate) const ANSWERED: &str = "acknowledged as a duplicate";

impl SegmentEvidence {
    /// Judges the transmission at `index`; 1 is the first retransmission.
    pub(crate) fn judge(&self, index: usize, circumstances: &Circumstances) -> Judged {
        use Confidence::{Certain, Likely, Weak};
        use Verdict::{Needed, Spurious, Undecidable};
        let answer = self.answer.map(|answer| answer.when.frame);
        if let Original::Late { frame } = self.original {
            return judged(Spurious, Likely, "the original passed after its retransmission", Some(frame));
        }
        if self.original == Original::LateOrCopied {
            return MAY_BE_THE_ORIGINAL;
        }
        let certain = if self.is_sent_again(index, circumstances) { Certain } else { Likely };
        let seen_before = self.original == Original::Seen || index > 1;
        if self.was_overtaken(index) {
            return OVERTAKEN;
        }
        // Not certain: the host may still drop a packet that passed here, or reject it as out of
        // the window.
        let dropped = self.dropped.filter(|_| index == 1);
        let refused = self.refused && index == 1;
        let reached = "an earlier transmission reached the receiver, where the capture was made";
        let reached = circumstances.at_receiver.then_some(judged(Spurious, Likely, reached, answer));
        if let Some(reached) = reached.filter(|_| seen_before && dropped.is_none() && !refused) {
            return reached;
        }
        if !seen_before {
            return self.judge_unseen(index, circumstances);
        }
        let by_router = |frame| judged(Needed, Likely, "a router reports that it dropped the original", Some(frame));
        let Some(answered) = &self.answer else {
            let unknown = judged(Undecidable, Weak, "no acknowledgement covers it in the capture", None);
            return dropped.map_or(unknown, by_router);
        };
        let candidates = candidates(&self.transmissions, answered, circumstances.shortest);
        if let Some(counted) = self.judge_by_count(index, candidates, circumstances) {
            return Judged { evidence: answer, ..counted };
        }
        if candidates.last < index && (candidates.by_echo || dropped.is_none()) {
            return self.judge_answered_before(index, (answered.when, candidates.by_echo), certain, circumstances);
        }
        if let Some(judged) = self.judge_reported(index, candidates.first < index, circumstances) {
            return judged;
        }
        // Not certain: any host can send such a message.
        if let Some(frame) = dropped {
            return by_router(frame);
        }
        if self.was_behind(index, answered.when, circumstances) {
            return judged(Spurious, Likely, BEHIND, answer);
        }
        let may_answer_original = self.may_answer_original(index, circumstances);
        // Next to the sender nearly every original left before what the receiver has echoed by now.
        let refused = refused && !circumstances.at_sender;
        if candidates.first >= index {
            return match () {
                () if may_answer_original || self.has_another(&candidates) => LATE_ORIGINAL,
                () if self.first.may_be_refused || refused => MAY_BE_REFUSED,
                () => judged(Needed, Likely, BY_ECHO, answer),
            };
        }
        if let Some(reached) = reached {
            return reached;
        }
        let would_be_reported = circumstances.reports && self.gap.is_some();
        if let Some(frame) = self.in_order.filter(|_| index == 1 && !would_be_reported) {
            return judged(Spurious, Likely, IN_ORDER, Some(frame));
        }
        match (circumstances.reports, self.gap) {
            // Not certain: the ACK that reported the duplicate may have been lost.
            (true, Some(_)) => judged(Needed, Likely, NO_REPORT, answer),
            (false, Some(_)) if may_answer_original => LATE_ORIGINAL,
            (false, Some(_)) => judged(Needed, Likely, OVERDUE, answer),
            // Here the lack of a reported duplicate shows little: no data were missing, so some
            // were late.
            (_, None) => Judged { evidence: answer, ..EITHER },
        }
    }

    /// Judges the transmission at `index` by the number of ACKs, if that decides what `candidates` leave open.
    fn judge_by_count(&self, index: usize, candidates: Candidates, circumstances: &Circumstances) -> Option<Judged> {
        let Candidates { first, last, .. } = candidates;
        let is_open = first < index && index <= last && !circumstances.sack;
        let AcksWithoutNews { filled, twice, .. } = self.without_news;
        let filled = filled.filter(|filled| is_open && (first..=last).contains(filled));
        let twice = twice.filter(|twice| is_open && *twice > first);
        match (filled, twice) {
            (Some(filled), _) if index <= filled => Some(judged(Verdict::Needed, Confidence::Likely, OVERDUE, None)),
            (Some(_), _) => Some(judged(Verdict::Spurious, Confidence::Likely, COUNTED, None)),
            (_, Some(twice)) if twice <= index => Some(judged(Verdict::Spurious, Confidence::Likely, COUNTED, None)),
            _ => None,
        }
    }

    /// Judges the transmission at `index` of a segment of which an earlier transmission is `answered`, as the
    /// echo shows or the time.
    fn judge_answered_before(
        &self,
        index: usize,
        (answered, by_echo): (When, bool),
        certain: Confidence,
        circumstances: &Circumstances,
    ) -> Judged {
        if !by_echo && self.is_unreported_and_near(index, answered, circumstances) {
            return TOO_SOON;
        }
        let (confidence, reason) = match by_echo {
            true => (certain, "the ACK echoes the timestamp of an earlier transmission"),
            false => (Confidence::Likely, SOONER),
        };
        judged(Verdict::Spurious, confidence, reason, Some(answered.frame))
    }

    /// Judges the transmission at `index` by what the receiver reports as a duplicate, if that decides or
    /// if nothing else may: `open` if an earlier transmission can have caused the ACK.
    fn judge_reported(&self, index: usize, open: bool, circumstances: &Circumstances) -> Option<Judged> {
        let spurious = |reason, frame| judged(Verdict::Spurious, Confidence::Likely, reason, Some(frame));
        if let Some(frame) = self.first.reported {
            return Some(spurious("the receiver reports a duplicate with the bounds of the original", frame));
        }
        let duplicate = self.reported(index, circumstances.shortest)?;
        let reason = if circumstances.silent { ANSWERED } else { "reported as a duplicate" };
        match circumstances.copies {
            false => Some(spurious(reason, duplicate.frame)),
            true => open.then_some(MAY_BE_A_COPY),
        }
    }

    /// Returns whether an ACK that comes sooner than any round trip may answer the transmission at `index`
    /// all the same: all round trips that were seen may be longer than the shortest one of the path, which
    /// an idle LAN shows after a timeout only. A receiver that got both would have reported a duplicate, and an
    /// original that later data overtook is hardly late once more.
    fn is_unreported_and_near(&self, index: usize, answered: When, circumstances: &Circumstances) -> bool {
        let took = answered.nanos.saturating_sub(self.transmissions[index].nanos);
        let near = circumstances.would_report && (self.gap.is_some() || took >= circumstances.shortest / 2);
        self.duplicates.is_empty() && (near || circumstances.nearer || circumstances.shortest < SHORT_ROUND_TRIP)
    }

    /// Judges the transmission at `index` of a segment whose first transmission was not seen.
    fn judge_unseen(&self, index: usize, circumstances: &Circumstances) -> Judged {
        use Confidence::{Certain, Likely};
        if self.overtook_an_earlier_one(index) {
            return judged(Verdict::Spurious, Likely, "an earlier transmission passed after it", None);
        }
        let this = self.transmissions[index];
        let after =
            |other: &Transmission| this.precedes(other) || other.nanos.saturating_sub(this.nanos) > REORDERED_WITHIN;
        if !circumstances.at_sender && !self.transmissions[index + 1..].iter().all(after) {
            return MAY_BE_THE_ORIGINAL;
        }
        let lacks_since = self.transmissions[0].nanos;
        if circumstances.shown.midstream.is_some_and(|began| lacks_since.saturating_sub(began) < LONGEST_OUTSTANDING) {
            return MAY_BE_OLDER;
        }
        if circumstances.shown.place == Vantage::Sender {
            return MAY_BE_MISSED;
        }
        // The original may still be under way when the capture ends, if that is soon.
        let late = self.first.behind.map_or(0, |behind| this.nanos.saturating_sub(behind.nanos));
        let over = this.nanos + late.min(REORDERED_WITHIN) <= circumstances.shown.until;
        // The capture may have missed it as well as the receiver, unless that reports it as missing, and no duplicate.
        let missed = self.first.missed && self.duplicates.is_empty();
        let whole = circumstances.shown.midstream.is_none() && !circumstances.shown.lossy && missed;
        let certain = over && self.is_sent_after(&this) && whole;
        let confidence = if certain { Certain } else { Likely };
        let answer = self.answer.map(|answer| answer.when.frame);
        judged(Verdict::Needed, confidence, "the original never passed the capture point", answer)
    }

    /// Judges a repeated SYN or SYN-ACK, which is answered at once. Its answer comes a round trip after
    /// the repetition, unless the original was delayed by just as much as the sender waited.
    pub(crate) fn judge_syn(&self, index: usize, circumstances: &Circumstances) -> Judged {
        let judged = self.judge(index, circumstances);
        let shortest = circumstances.shortest;
        let (Some(answered), Some(sent)) = (self.answer, self.transmissions.get(index)) else { return judged };
        let took = answered.when.nanos.saturating_sub(sent.nanos);
        // Other round trips include a delay of the ACK.
        if judged.reason == SOONER && took >= shortest / 2 {
            return EITHER;
        }
        let one_trip = (shortest - shortest / 16..=shortest + shortest / 2).contains(&took);
        if judged.verdict != Verdict::Undecidable || !one_trip || self.transmissions.len() > index + 1 {
            return judged;
        }
        let evidence = Some(answered.when.frame);
        Judged { verdict: Verdict::Needed, confidence: Confidence::Likely, reason: IN_TIME, evidence }
    }

    /// Returns whether the segment had arrived before the gap below it was filled: the ACK of what filled it came too
    /// soon for the transmission at `index`. Of retransmissions that leave together, one ACK may answer all.
    fn was_behind(&self, index: usize, answered: When, circumstances: &Circumstances) -> bool {
        let sent = self.transmissions[index].nanos;
        self.arrived_before.is_some_and(|filled| {
            sent >= filled.sent + circumstances.shortest / 4 && sent + filled.takes > answered.nanos
        })
    }

    /// Returns whether, of the transmissions before those that filled the gap, another one arrived, and perhaps the
    /// original.
    fn has_another(&self, filled_by: &Candidates) -> bool {
        self.duplicates.len() >= self.transmissions.len() - filled_by.first
    }

    /// Returns whether an ACK without news may answer the original, which the transmission at `index`
    /// has overtaken. A receiver that reports duplicates would have reported it. And without SACK,
    /// where such an ACK says little, a path hardly delays an original until after a retransmission
    /// that the timer sent.
    fn may_answer_original(&self, index: usize, circumstances: &Circumstances) -> bool {
        let took = self.transmissions[index].nanos.saturating_sub(self.transmissions[0].nanos);
        let soon = took < SMALLEST_TIMEOUT || circumstances.sack || !circumstances.at_sender;
        let AcksWithoutNews { original, settled, doubted, .. } = self.without_news;
        let explained = !doubted && (settled || circumstances.order == PathOrder::Kept);
        original && !explained && !circumstances.reports && soon
    }

    /// Returns whether the marks of the transmissions up to `index` show that they left in this order.
    fn is_marked_in_order(&self, index: usize) -> bool {
        let earlier = &self.transmissions[..index.min(self.transmissions.len())];
        let this = self.transmissions.get(index);
        let in_order = this.is_some_and(|this| earlier.iter().all(|other| other.precedes(this)));
        self.original == Original::Seen && in_order
    }

    /// Returns whether the transmission at `index` is known to be a retransmission, and no copy that the
    /// network or the capture made: by its marks, or next to the sender by the time since the one before.
    pub(crate) fn is_sent_again(&self, index: usize, circumstances: &Circumstances) -> bool {
        let at = |index: usize| self.transmissions.get(index).map(|sent| sent.nanos).filter(|nanos| *nanos > 0);
        let waited = index.checked_sub(1).and_then(at).zip(at(index)).map(|(before, this)| this.saturating_sub(before));
        let least = circumstances.shortest.max(COPIED_WITHIN);
        self.is_marked_in_order(index) || circumstances.at_sender && waited.is_some_and(|waited| waited >= least)
    }

    /// Returns whether the timestamps show that a later transmission passed before this one.
    pub(crate) fn was_overtaken(&self, index: usize) -> bool {
        // The placeholder for an unseen original has no timestamp.
        let unseen = usize::from(self.original != Original::Seen);
        let mut earlier = self.transmissions.iter().take(index).skip(unseen);
        self.transmissions.get(index).is_some_and(|this| earlier.any(|other| this.precedes(other)))
    }

    /// Returns whether a transmission that passed after this one left before it.
    fn overtook_an_earlier_one(&self, index: usize) -> bool {
        let mut later = self.transmissions.iter().skip(index + 1);
        self.transmissions.get(index).is_some_and(|this| later.any(|other| other.precedes(this)))
    }

    /// Returns the ACK whose report of a duplicate shows that a transmission before `index`
    /// arrived. It is no proof, because a network may have made the duplicate.
    fn reported(&self, index: usize, shortest: u64) -> Option<When> {
        let from = self.transmissions.len() - index;
        // More copies arrived than there are transmissions from `index` on. So an earlier
        // transmission arrived too.
        if self.duplicates.len() >= from {
            return self.duplicates.get(from - 1).copied();
        }
        // A duplicate that is reported before this transmission can be answered belongs to an
        // earlier transmission.
        let soonest = self.transmissions[index].nanos.saturating_add(shortest);
        self.duplicates.iter().find(|when| when.nanos < soonest).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Answered, Filled};
    use eifel_base::units::Timestamp;
    use eifel_testkit::random::Random;
    use eifel_testkit::{digest, golden};
    use std::collections::BTreeMap;
    use std::fmt::Write;

    const SHORTEST: u64 = 64;

    /// Returns a time after `from`, at or near a limit of the verdicts.
    fn behind(random: &mut Random, from: u64) -> u64 {
        from + random.near(&[1, 1, SHORTEST / 4, SHORTEST / 2, SHORTEST - SHORTEST / 16, SHORTEST, REORDERED_WITHIN])
    }

    fn stamp(random: &mut Random) -> Option<Timestamp> {
        [None, Some(Timestamp(random.below(4) as u32))][usize::from(random.below(4) > 0)]
    }

    /// Returns drawn evidence about a segment that was sent two to four times.
    fn repeated(random: &mut Random) -> SegmentEvidence {
        let mut nanos = 1000;
        let mut transmissions = Vec::new();
        for _ in 0..2 + random.below(3) {
            transmissions.push(Transmission::new(0, 10, nanos, stamp(random)));
            nanos = behind(random, nanos);
        }
        let mut when = |frame| {
            let from = transmissions[random.below(transmissions.len() as u64) as usize].nanos;
            When { nanos: behind(random, from), frame }
        };
        let [answer, one, other, third] = [1, 3, 4, 5].map(&mut when);
        let mut duplicates = vec![one, other, third];
        duplicates.truncate(random.below(10).saturating_sub(6) as usize);
        let echo = stamp(random);
        let mut some = |frame: u64| (random.below(4) == 0).then_some(frame);
        let [gap, in_order, arrived_before] = [some(6), some(7), some(8)];
        let original = [Original::Seen, Original::Seen, Original::Unseen, Original::Late { frame: 9 }];
        let filled = random.one_of(&transmissions).nanos;
        let mut first = SegmentEvidence::new(10, Transmission::default()).first;
        first.behind = random.coin().then(|| Transmission::new(10, 10, 1000, Some(Timestamp(1))));
        first.may_be_refused = random.below(20) == 0;
        first.reported = (random.below(20) == 0).then_some(11);
        SegmentEvidence {
            end: 10,
            answer: (random.below(8) > 0).then_some(Answered { when: answer, echo, newest: 0, up_to: None }),
            duplicates,
            gap,
            in_order,
            arrived_before: arrived_before
                .map(|_| Filled { sent: random.near(&[filled]), takes: random.near(&[1, SHORTEST]) }),
            original: random.one_of(&original),
            first,
            filler: None,
            refused: random.below(4) == 0,
            without_news: AcksWithoutNews { original: random.below(4) == 0, ..AcksWithoutNews::default() },
            dropped: (random.below(6) == 0).then_some(10),
            transmissions,
        }
    }

    #[test]
    fn an_original_that_passed_with_an_old_timestamp_may_have_been_refused() {
        let sent = |nanos, stamp| Transmission::new(0, 10, nanos, Some(Timestamp(stamp)));
        let answer =
            Answered { when: When { nanos: 9000, frame: 3 }, echo: Some(Timestamp(9)), newest: 0, up_to: None };
        let mut one = SegmentEvidence::new(10, sent(1000, 5));
        one.transmissions.push(sent(8000, 9));
        (one.answer, one.refused) = (Some(answer), true);
        let judge = |at_sender, at_receiver| {
            one.judge(1, &Circumstances { at_sender, at_receiver, shortest: SHORTEST, ..Circumstances::default() })
        };
        assert_eq!(judge(false, false), MAY_BE_REFUSED);
        // Next to the sender it says nothing.
        assert_eq!(judge(true, false).reason, BY_ECHO);
        // At the receiver the original has arrived, but the receiver may have refused it too.
        assert_eq!(judge(false, true), MAY_BE_REFUSED);
        one.answer = Some(Answered { echo: None, ..answer });
        let at_receiver = Circumstances { at_receiver: true, shortest: SHORTEST, ..Circumstances::default() };
        assert_eq!(one.judge(1, &at_receiver).verdict, Verdict::Spurious);
    }

    #[test]
    fn what_filled_a_gap_late_may_have_been_overtaken() {
        let sent = |nanos| Transmission::new(0, 10, nanos, None);
        let circumstances = Circumstances { shortest: SHORTEST, at_sender: true, ..Circumstances::default() };
        let judge = |answered, takes| {
            let mut one = SegmentEvidence::new(10, sent(1000));
            one.transmissions.push(sent(8000));
            one.answer =
                Some(Answered { when: When { nanos: answered, frame: 3 }, echo: None, newest: 0, up_to: None });
            one.arrived_before = Some(Filled { sent: 7900, takes });
            one.judge(1, &circumstances).verdict
        };
        // The repair below it left 100 before it. The ACK comes too soon for what takes as long as the repair before that.
        assert_eq!([judge(8100, 200), judge(8199, 200)], [Verdict::Spurious; 2]);
        assert_eq!([judge(8200, 200), judge(9000, 200)], [Verdict::Undecidable; 2]);
    }

    #[test]
    fn one_of_several_earlier_transmissions_that_arrived_may_be_the_original() {
        let sent = |nanos, stamp| Transmission::new(0, 10, nanos, Some(Timestamp(stamp)));
        let mut one = SegmentEvidence::new(10, sent(1000, 1));
        [sent(2000, 2), sent(3000, 3), sent(4000, 4)].into_iter().for_each(|again| one.transmissions.push(again));
        let answer = When { nanos: 4100, frame: 3 };
        one.answer = Some(Answered { when: answer, echo: Some(Timestamp(4)), newest: 0, up_to: None });
        let circumstances =
            Circumstances { shortest: SHORTEST, reports: true, at_sender: true, ..Circumstances::default() };
        let judge = |one: &SegmentEvidence| [1, 2, 3].map(|index| one.judge(index, &circumstances).verdict);
        assert_eq!(judge(&one), [Verdict::Needed; 3]);
        // A report that comes later is of one of the first three.
        one.duplicates.push(When { nanos: 4900, frame: 4 });
        assert_eq!(judge(&one), [Verdict::Undecidable, Verdict::Undecidable, Verdict::Spurious]);
    }

    #[test]
    fn verdicts_on_drawn_evidence_match_the_golden() {
        let (mut random, mut text) = (Random(1), String::new());
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for group in 0..40 {
            let mut said = String::new();
            for _ in 0..1000 {
                let one = repeated(&mut random);
                let mut coin = || random.below(3) == 0;
                let circumstances = Circumstances {
                    at_receiver: coin(),
                    at_sender: coin(),
                    sack: coin(),
                    order: PathOrder::Unknown,
                    silent: coin(),
                    reports: coin(),
                    would_report: coin(),
                    copies: coin(),
                    nearer: coin(),
                    shortest: SHORTEST * u64::from(!coin()),
                    shown: Shown {
                        lossy: coin(),
                        until: random.one_of(&[1000, u64::MAX]),
                        midstream: None,
                        place: Vantage::Unknown,
                    },
                };
                let (may, now) = (one.is_open(), behind(&mut random, 1000));
                writeln!(said, "{may} {:?}", one.latest_that_arrived(now, circumstances.shortest)).unwrap();
                for index in 1..one.transmissions.len() {
                    let (in_order, overtaken) = (one.is_sent_again(index, &circumstances), one.was_overtaken(index));
                    let judged = one.judge(index, &circumstances);
                    writeln!(said, "{in_order} {overtaken} {judged:?}").unwrap();
                    *counts.entry(judged.reason).or_default() += 1;
                }
            }
            writeln!(text, "{group}: {}", digest(said)).unwrap();
        }
        counts.iter().for_each(|(reason, count)| writeln!(text, "{count} {reason}").unwrap());
        golden!("evidence.txt", text);
    }
}
