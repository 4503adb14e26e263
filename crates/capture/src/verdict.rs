//! Whether something that was sent again had been lost.
//!
//! A retransmission is spurious if every byte of it had an earlier sending that reached the receiver, also if that arrived
//! after the retransmission left.

use crate::attribute::{Answer, Sending, candidates};
use crate::flow::When;
use eifel_base::units::Timestamp;
use serde::Serialize;

/// Networks that reorder hold nothing back for longer than this, in nanoseconds.
pub(crate) const REORDERED_WITHIN: u64 = 300_000_000;

/// Needed or not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// An earlier sending has arrived.
    Spurious,
    /// No earlier sending has arrived.
    Needed,
    /// The capture does not say.
    Undecidable,
}

/// How sure a verdict is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Nothing that was captured lets it be otherwise, unless an end lies. Round trips, counts of duplicates and what a host does
    /// with what has passed here are no such proof.
    Certain,
    /// It rests on what nearly all networks and stacks do: packets mostly keep their order, duplicates are reported.
    Likely,
    /// Nothing contradicts it, and little speaks for it.
    Weak,
}

/// The stack's reaction to a retransmission, as the sender's flight shows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Noticed {
    /// As much was under way again as before, soon after the retransmission was known to be spurious.
    Undone,
    /// Less was, though the sender had more to send.
    NotUndone,
    /// The capture does not say: it was needed, nothing was under way besides, or there was too little to send.
    CannotBeTold,
}

/// A verdict with all that belongs to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Judged {
    /// Needed or not.
    pub verdict: Verdict,
    /// How sure that is.
    pub confidence: Confidence,
    /// Why.
    pub reason: &'static str,
    /// The frame that shows it.
    pub evidence: Option<u64>,
}

/// The evidence about one segment that was sent more than once.
#[derive(Clone, Debug)]
pub(crate) struct Repeated {
    pub(crate) end: u64,
    /// In the order in which they left. Where the first was never seen it holds its place alone.
    pub(crate) sendings: Vec<Sending>,
    /// The first sending, or the frame in which it came late.
    pub(crate) original: Original,
    pub(crate) answer: Option<Answered>,
    /// The ACKs that report it as a duplicate.
    pub(crate) duplicates: Vec<When>,
    /// An ACK that reported what was sent after it, and not it.
    pub(crate) gap: Option<u64>,
    /// An ACK that shows that what was sent after the first sending, and before the second, came behind what filled the gap.
    pub(crate) in_order: Option<u64>,
    /// It was covered together with a gap below it that a sending at this instant, in nanoseconds, or an earlier one had filled.
    pub(crate) there_before: Option<u64>,
    /// The number of the sending that filled the gap at the front with it, from 0.
    pub(crate) filler: Option<usize>,
    /// Its first sending came with a timestamp that the receiver had to refuse (RFC 7323, section 5).
    pub(crate) refused: bool,
    /// Soon after its answer came an ACK without news, which may answer the original.
    pub(crate) doubted: bool,
    /// When the data right before it were first acknowledged, if those were sent once.
    pub(crate) neighbour: Option<When>,
}

/// Whether the first sending was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Original {
    Seen,
    /// It never passed here.
    Unseen,
    /// It passed after it had been sent again.
    Late {
        /// In this frame.
        frame: u64,
    },
}

/// The first ACK that covers a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Answered {
    pub(crate) when: When,
    /// The timestamp that it echoes, if it fills the gap at the front.
    pub(crate) echo: Option<Timestamp>,
    /// How far it acknowledges, until the next ACK of new data.
    pub(crate) up_to: Option<u64>,
}

/// The circumstances of a verdict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    /// Whether a packet that passes the capture has arrived.
    pub(crate) at_receiver: bool,
    /// Whether a packet that passes the capture has just left.
    pub(crate) at_sender: bool,
    /// The receiver has answered duplicates without reporting them.
    pub(crate) silent: bool,
    /// The receiver reports duplicates, as far as is known.
    pub(crate) reports: bool,
    /// Smallest round trip to the receiver, in nanoseconds.
    pub(crate) shortest: u64,
}

const fn judged(verdict: Verdict, confidence: Confidence, reason: &'static str, evidence: Option<u64>) -> Judged {
    Judged { verdict, confidence, reason, evidence }
}

/// What left later has passed before it: whether what left earlier has arrived is not known.
pub(crate) const OVERTAKEN: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "what was sent after it passed before it", None);

/// The retransmission has arrived; whether the original came after it is not known.
pub(crate) const DOUBTED: Judged =
    judged(Verdict::Undecidable, Confidence::Weak, "an ACK without news may answer an original that came later", None);

/// Why a retransmission was needed whose own timestamp comes back.
pub(crate) const BY_ECHO: &str = "the ACK echoes this sending's timestamp or a later one's";
/// Why one was not whose duplicate is answered and not reported.
pub(crate) const ANSWERED: &str = "answered as a duplicate";

impl Repeated {
    /// Whether an ACK can still tell something new of it, besides duplicates.
    pub(crate) fn may_tell_more(&self) -> bool {
        self.answer.is_none_or(|answer| answer.up_to.is_some())
    }

    /// The number of the last sending, from 0, that an ACK which comes now can answer.
    pub(crate) fn latest_that_arrived(&self, now: u64, shortest: u64) -> Option<usize> {
        self.sendings.iter().rposition(|sending| sending.nanos.saturating_add(shortest) <= now)
    }

    /// Judges sending number `index`, from 1, which is the first that was sent again.
    pub(crate) fn judge(&self, index: usize, circumstances: &Circumstances) -> Judged {
        use Confidence::{Certain, Likely, Weak};
        use Verdict::{Needed, Spurious, Undecidable};
        let answer = self.answer.map(|answer| answer.when.frame);
        if let Original::Late { frame } = self.original {
            return judged(Spurious, Likely, "the original came later than what was sent again", Some(frame));
        }
        let certain = if self.passed_in_order(index, circumstances) { Certain } else { Likely };
        let seen_before = self.original == Original::Seen || index > 1;
        if self.was_overtaken(index) {
            return OVERTAKEN;
        }
        // Not certain: what passes may still be dropped by the host, or refused as out of the window.
        if circumstances.at_receiver && seen_before && !(self.refused && index == 1) {
            let reason = "an earlier sending reached the receiver, where the capture was made";
            return judged(Spurious, Likely, reason, answer);
        }
        if !seen_before {
            let this = self.sendings[index];
            let after = |other: &Sending| {
                matches!((this.stamp, other.stamp), (Some(this), Some(other)) if this.precedes(other))
                    || other.nanos.saturating_sub(this.nanos) > REORDERED_WITHIN
            };
            if !circumstances.at_sender && !self.sendings[index + 1..].iter().all(after) {
                return judged(Undecidable, Weak, "a copy that passed after it may be the original", None);
            }
            return judged(Needed, Certain, "the original never passed the place of the capture", answer);
        }
        let Some(Answered { when, echo, .. }) = self.answer else {
            return judged(Undecidable, Weak, "no acknowledgement covers it in the capture", None);
        };
        let candidates = candidates(&self.sendings, Answer { nanos: when.nanos, echo }, circumstances.shortest);
        if candidates.last < index {
            // The round trips that were seen may all have been longer than the shortest there is.
            let (confidence, reason) = if candidates.by_echo {
                (certain, "the ACK echoes an earlier sending's timestamp")
            } else {
                (Likely, "the ACK comes sooner than any round trip")
            };
            return judged(Spurious, confidence, reason, Some(when.frame));
        }
        if let Some(duplicate) = self.reported(index, circumstances.shortest) {
            let reason = if circumstances.silent { ANSWERED } else { "reported as a duplicate" };
            return judged(Spurious, Likely, reason, Some(duplicate.frame));
        }
        if self.there_before.is_some_and(|filled| self.sendings[index].nanos >= filled) {
            return judged(Spurious, Likely, "it was there before the gap below it was filled", Some(when.frame));
        }
        // Where a duplicate is reported, the original would have been reported as one.
        let doubted = self.doubted && !circumstances.reports;
        if candidates.first >= index {
            return if doubted { DOUBTED } else { judged(Needed, Likely, BY_ECHO, answer) };
        }
        let would_be_reported = circumstances.reports && self.gap.is_some();
        if let Some(frame) = self.in_order.filter(|_| index == 1 && !would_be_reported) {
            return judged(Spurious, Likely, "what was sent before it, and only once, arrived after it", Some(frame));
        }
        if let Some(frame) = self.late_with_its_neighbour(index, when, circumstances.shortest) {
            return judged(
                Spurious,
                Likely,
                "what was sent before it was late too, and nothing is missing",
                Some(frame),
            );
        }
        match (circumstances.reports, self.gap) {
            // Not certain: the ACK that reported the duplicate may have been lost.
            (true, Some(_)) => {
                judged(Needed, Likely, "later data arrived before it, and no duplicate is reported", answer)
            }
            (false, Some(_)) if doubted => DOUBTED,
            (false, Some(_)) => judged(Needed, Likely, "later data arrived before it", answer),
            // That no duplicate is reported says little where nothing else does: nothing was missing, so something was late.
            (_, None) => judged(Undecidable, Weak, "either sending can have caused the ACK", answer),
        }
    }

    /// Whether the sendings up to `index` are known to have left in the order in which they passed.
    pub(crate) fn passed_in_order(&self, index: usize, circumstances: &Circumstances) -> bool {
        let this = self.sendings.get(index).and_then(|sending| sending.stamp);
        let before = |other: &Sending| matches!((other.stamp, this), (Some(other), Some(this)) if other.precedes(this));
        let earlier = &self.sendings[..index.min(self.sendings.len())];
        circumstances.at_sender || self.original == Original::Seen && earlier.iter().all(before)
    }

    /// Whether one that left later than this sending has passed before it, by their timestamps.
    pub(crate) fn was_overtaken(&self, index: usize) -> bool {
        let this = self.sendings.get(index).and_then(|sending| sending.stamp);
        let after = |other: &Sending| matches!((other.stamp, this), (Some(other), Some(this)) if this.precedes(other));
        // An original that never passed has the place of the first, and no timestamp of its own.
        let unseen = usize::from(self.original != Original::Seen);
        self.sendings[..index.min(self.sendings.len())].iter().skip(unseen).any(after)
    }

    /// The ACK of the data right before it, where that came after this sending left, and this segment's with it: then it was a
    /// delay that was taken for a loss.
    fn late_with_its_neighbour(&self, index: usize, answered: When, shortest: u64) -> Option<u64> {
        let neighbour = self.neighbour.filter(|_| self.gap.is_none())?;
        let together = answered.nanos.saturating_sub(neighbour.nanos) < shortest / 4;
        (neighbour.nanos > self.sendings[index].nanos && together).then_some(neighbour.frame)
    }

    /// The ACK that shows by its report of a duplicate that a sending before `index` has arrived. It is not certain: a network
    /// may have made a copy.
    fn reported(&self, index: usize, shortest: u64) -> Option<When> {
        let from = self.sendings.len() - index;
        // One of these duplicates at least is neither of this sending nor of a later one.
        if self.duplicates.len() >= from {
            return self.duplicates.get(from - 1).copied();
        }
        // One that is reported sooner than this sending can be answered is of an earlier one.
        let soonest = self.sendings[index].nanos.saturating_add(shortest);
        self.duplicates.iter().find(|when| when.nanos < soonest).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_golden::drawn::Random;
    use eifel_golden::{digest, golden};
    use std::collections::BTreeMap;
    use std::fmt::Write;

    const SHORTEST: u64 = 64;

    /// A time at or beside one of those that decide, behind `from`.
    fn behind(random: &mut Random, from: u64) -> u64 {
        from + random.near(&[1, 1, SHORTEST / 4, SHORTEST / 2, SHORTEST - SHORTEST / 16, SHORTEST, REORDERED_WITHIN])
    }

    fn stamp(random: &mut Random) -> Option<Timestamp> {
        [None, Some(Timestamp(random.below(4) as u32))][usize::from(random.below(4) > 0)]
    }

    /// A segment that was sent two to four times, with drawn evidence.
    fn repeated(random: &mut Random) -> Repeated {
        let mut nanos = 1000;
        let mut sendings = Vec::new();
        for _ in 0..2 + random.below(3) {
            sendings.push(Sending { nanos, stamp: stamp(random) });
            nanos = behind(random, nanos);
        }
        let mut when = |frame| {
            let from = sendings[random.below(sendings.len() as u64) as usize].nanos;
            When { nanos: behind(random, from), frame }
        };
        let [answer, neighbour, one, other, third] = [1, 2, 3, 4, 5].map(&mut when);
        let mut duplicates = vec![one, other, third];
        duplicates.truncate(random.below(10).saturating_sub(6) as usize);
        let echo = stamp(random);
        let mut some = |frame: u64| (random.below(4) == 0).then_some(frame);
        let [gap, in_order, there_before] = [some(6), some(7), some(8)];
        let original = [Original::Seen, Original::Seen, Original::Unseen, Original::Late { frame: 9 }];
        let filled = random.one_of(&sendings).nanos;
        Repeated {
            end: 10,
            answer: (random.below(8) > 0).then_some(Answered { when: answer, echo, up_to: None }),
            duplicates,
            gap,
            in_order,
            there_before: there_before.map(|_| random.near(&[filled])),
            original: random.one_of(&original),
            filler: None,
            refused: random.below(4) == 0,
            doubted: random.below(4) == 0,
            neighbour: random.coin().then_some(neighbour),
            sendings,
        }
    }

    #[test]
    fn drawn_evidence_is_judged_as_before() {
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
                    silent: coin(),
                    reports: coin(),
                    shortest: SHORTEST * u64::from(!coin()),
                };
                let (may, now) = (one.may_tell_more(), behind(&mut random, 1000));
                writeln!(said, "{may} {:?}", one.latest_that_arrived(now, circumstances.shortest)).unwrap();
                for index in 1..one.sendings.len() {
                    let (in_order, overtaken) = (one.passed_in_order(index, &circumstances), one.was_overtaken(index));
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
