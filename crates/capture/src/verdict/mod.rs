//! Judges each retransmitted segment: spurious, needed or undecidable, with confidence and reason.

mod judge;

pub(crate) use judge::{Circumstances, Judged, Shown};

use crate::evidence::{Arrived, Evidence, Part, PathOrder, SegmentEvidence};
use crate::order::Original;
use crate::result::{Cause, Confidence, Timing, Verdict, When};
use eifel_base::ranges::Block;
use judge::{
    ANSWERED, BY_ECHO, EITHER, IN_ORDER, LATE_ORIGINAL, MAY_BE_LOST, MAY_MISS_REPORT, NO_REPORT, OVERDUE, OVERTAKEN,
};

/// One retransmitted segment, or one chunk.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) when: When,
    pub(crate) block: Block,
    pub(crate) payload: u32,
    /// The cause, if it is known without a model.
    pub(crate) known: Option<Cause>,
    /// The loss episode that it belongs to.
    pub(crate) episode: Option<u32>,
    /// The segments that it repeats, each with the index of this transmission.
    pub(crate) parts: Vec<Part>,
    /// What shows the arrival of all of the segment before it passed, if anything does.
    pub(crate) arrived: Option<Arrived>,
}

/// A path reorders if at least this percentage of its fast retransmissions is spurious. Fitted to 180
/// recordings of Linux by `eifel truth record`, and judged on 40 others.
const REORDERS: usize = 5;

/// The capture may have the ACK too early.
const MAY_BE_ITS_ACK: Judged = Judged {
    verdict: Verdict::Undecidable,
    confidence: Confidence::Weak,
    reason: "the ACK that passed just before it may be its own, recorded too early",
    evidence: None,
};

/// The receiver has the byte that a keep-alive repeats. Its answer is what the sender needs.
const KEEP_ALIVE: Judged = Judged {
    verdict: Verdict::Needed,
    confidence: Confidence::Likely,
    reason: "a keep-alive asks an idle peer whether it still exists",
    evidence: None,
};

/// The ACK that carries a FIN again is needed; the FIN was not sent for its own sake.
const REPEATED_FIN: Judged = Judged { reason: "it acknowledges new data, and carries the FIN again", ..KEEP_ALIVE };

impl Row {
    /// Returns the times of its first part, which is the one that the sender missed.
    pub(crate) fn timing(&self, evidence: &Evidence) -> Timing {
        let part = self.parts.first().and_then(|(start, _)| evidence.segments.get(start));
        // A first transmission that was not seen has no time.
        let Some(one) = part.filter(|one| one.original == Original::Seen && one.transmissions[0].nanos > 0) else {
            return Timing::default();
        };
        let since = |nanos: u64| nanos.saturating_sub(one.transmissions[0].nanos) as f64 / 1e6;
        let reported = one.duplicates.first().map(|when| when.frame);
        Timing {
            since_first_ms: Some(since(self.when.nanos)),
            answered_ms: one.answer.map(|answer| since(answer.when.nanos)),
            answered_as_duplicate: evidence.reports
                && one.answer.is_some_and(|answer| reported == Some(answer.when.frame)),
            trigger: None,
        }
    }

    /// Returns the number of this transmission; 2 is the first retransmission.
    pub(crate) fn copy(&self) -> usize {
        self.parts.iter().map(|(_, index)| index + 1).max().unwrap_or(1)
    }

    /// Judges the retransmission. It is spurious if all its parts are.
    /// `reported` are the [reported duplicates](Evidence::reported_duplicates).
    pub(crate) fn judge(&self, evidence: &Evidence, circumstances: &Circumstances, reported: &[(u64, u64)]) -> Judged {
        let part = |(start, index): &Part| evidence.segments.get(start).map(|one| (&**one, *index));
        let shows = |holds: fn(&SegmentEvidence, usize, &Circumstances) -> bool| {
            move |one: &Part| part(one).is_some_and(|(one, index)| holds(one, index, circumstances))
        };
        match self.known {
            Some(Cause::KeepAlive) => return KEEP_ALIVE,
            Some(Cause::RepeatedFin) => return REPEATED_FIN,
            _ => {}
        }
        if let Some(arrived) = self.arrived {
            if self.parts.iter().any(shows(|one, index, _| one.was_overtaken(index))) {
                return OVERTAKEN;
            }
            let unseen =
                |one: &SegmentEvidence, index, _: &Circumstances| index == 1 && one.original == Original::Unseen;
            if arrived.may_be_later && (arrived.unseen || self.parts.iter().any(shows(unseen))) {
                return MAY_BE_ITS_ACK;
            }
            let certain = arrived.in_order
                && !arrived.may_be_later
                && self.parts.iter().all(shows(SegmentEvidence::is_sent_again));
            let reason = match arrived.by_sack {
                false => "it was acknowledged before it passed",
                true => "SACK had reported it before it passed",
            };
            return Judged {
                verdict: Verdict::Spurious,
                confidence: if certain { Confidence::Certain } else { Confidence::Likely },
                reason,
                evidence: Some(arrived.when.frame),
            };
        }
        let known = self.parts.iter().filter_map(part).filter(|(one, index)| *index < one.transmissions.len());
        let rank = |judged: &Judged| match judged.verdict {
            Verdict::Spurious => 0,
            Verdict::Undecidable => 1,
            Verdict::Needed => 2,
        };
        let is_syn = self.known == Some(Cause::Syn);
        let judge = if is_syn { SegmentEvidence::judge_syn } else { SegmentEvidence::judge };
        let all = known.map(|(one, index)| match judge(one, index, circumstances) {
            Judged { reason: NO_REPORT, .. }
                if evidence.receiver_reports.hidden.may_miss_report(one, index, circumstances.shortest) =>
            {
                MAY_MISS_REPORT
            }
            Judged { reason: NO_REPORT, .. } if may_be_lost(one, index, reported) => MAY_BE_LOST,
            judged => judged,
        });
        all.max_by_key(|judged| (rank(judged), judged.confidence)).unwrap_or(Judged {
            verdict: Verdict::Undecidable,
            confidence: Confidence::Weak,
            reason: "too many retransmissions to remember them all",
            evidence: None,
        })
    }
}

/// Returns whether the transmission at `index` may have been lost, so that an earlier retransmission caused the ACK and
/// no duplicate could be reported. Paths keep the order of most packets, and the first of the `reported` duplicates
/// after the ACK left before it.
fn may_be_lost(one: &SegmentEvidence, index: usize, reported: &[(u64, u64)]) -> bool {
    let Some((answered, sent)) = one.answer.zip(one.transmissions.get(index)) else { return false };
    let next = reported.partition_point(|(when, _)| *when <= answered.when.nanos);
    index > 1 && reported.get(next).is_some_and(|(_, left)| *left < sent.nanos)
}

/// Withdraws verdicts that do not hold for the cause of their retransmission:
///
/// - that data sent before it arrived after it, as in F-RTO (RFC 5682), beside other retransmissions of
///   its episode, which may have filled the gap;
/// - that one more ACK without news shows a duplicate that is not reported, where go-back-N did not send
///   it or the path reorders: the ACK may answer other data that arrived late;
/// - that no ACK without news followed, but for a fast retransmission: a path that held packets long enough
///   for a timeout may hold the duplicate too, and go-back-N repeats data that the receiver holds above a gap;
/// - that an echo, a gap or the lack of such an ACK shows that a fast retransmission was needed, or without SACK any, where duplicates are
///   not reported and the path reorders: the original may have arrived after it.
pub(crate) fn withdraw(verdicts: &mut [Judged], causes: &[Cause], circumstances: &Circumstances) {
    let &Circumstances { sack, reports, .. } = circumstances;
    let count = |wanted: Verdict| {
        let both = verdicts.iter().zip(causes).filter(|(_, cause)| **cause == Cause::Fast);
        both.filter(|(judged, _)| judged.verdict == wanted && (sack || judged.reason != ANSWERED)).count()
    };
    let (needless, needed) = (count(Verdict::Spurious), count(Verdict::Needed));
    let often = needless * 100 >= (needless + needed) * REORDERS;
    let reorders = match circumstances.order {
        PathOrder::Unknown => (!sack || !reports) && needless > 0 && often,
        PathOrder::Kept => false,
        PathOrder::Unsure => needless > 0,
        PathOrder::Changed => true,
    };
    for (judged, cause) in verdicts.iter_mut().zip(causes) {
        match judged.reason {
            IN_ORDER if matches!(cause, Cause::Fast | Cause::Loss) => *judged = EITHER,
            ANSWERED if matches!(cause, Cause::Fast | Cause::Rto) || reorders => *judged = LATE_ORIGINAL,
            BY_ECHO | OVERDUE if (*cause == Cause::Fast || !sack) && reorders => *judged = LATE_ORIGINAL,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Answered;
    use crate::order::Transmission;

    /// Returns how many of `counts` verdicts stay: needless, needed, answered as duplicates, and by F-RTO.
    fn kept(cause: Cause, (sack, reports): (bool, bool), counts: [usize; 4]) -> [usize; 4] {
        let judged = |verdict, reason| Judged { verdict, confidence: Confidence::Likely, reason, evidence: None };
        let kinds = [
            judged(Verdict::Spurious, "late"),
            judged(Verdict::Needed, if sack && !reports { OVERDUE } else { BY_ECHO }),
            judged(Verdict::Spurious, ANSWERED),
            judged(Verdict::Spurious, IN_ORDER),
        ];
        let mut verdicts: Vec<_> = kinds.iter().zip(counts).flat_map(|(kind, count)| vec![*kind; count]).collect();
        let causes = vec![cause; verdicts.len()];
        withdraw(&mut verdicts, &causes, &Circumstances { sack, reports, ..Circumstances::default() });
        let known = |judged: &Judged| [LATE_ORIGINAL, EITHER].contains(judged) || kinds.contains(judged);
        assert!(verdicts.iter().all(known));
        kinds.map(|kind| verdicts.iter().filter(|judged| **judged == kind).count())
    }

    #[test]
    fn on_a_reordering_path_an_echo_does_not_prove_a_loss() {
        assert_eq!(kept(Cause::Fast, (false, false), [1, 19, 2, 0]), [1, 0, 0, 0]);
        assert_eq!(kept(Cause::Fast, (false, false), [1, 20, 9, 0]), [1, 20, 0, 0]);
        assert_eq!(kept(Cause::Fast, (false, false), [0, 1, 1, 0]), [0, 1, 0, 0]);
        assert_eq!(kept(Cause::Rto, (false, false), [1, 4, 0, 0]), [1, 4, 0, 0]);
        assert_eq!(kept(Cause::Fast, (false, false), [0, 0, 1, 0]), [0, 0, 0, 0]);
        // With SACK an ACK without news names its segment, so that one counts too.
        assert_eq!(kept(Cause::Fast, (true, false), [0, 19, 1, 0]), [0, 0, 0, 0]);
        assert_eq!(kept(Cause::Fast, (true, false), [0, 20, 1, 0]), [0, 20, 0, 0]);
        // A receiver that reports duplicates would have reported a late original.
        assert_eq!(kept(Cause::Fast, (true, true), [1, 1, 0, 0]), [1, 1, 0, 0]);
    }

    #[test]
    fn an_ack_without_news_shows_no_duplicate_of_what_reports_or_the_timer_made_leave() {
        let stay = [Cause::Loss, Cause::Rto, Cause::Fast].map(|cause| kept(cause, (false, false), [0, 0, 3, 0])[2]);
        assert_eq!(stay, [3, 0, 0]);
    }

    #[test]
    fn without_sack_a_reordering_path_leaves_what_followed_a_timeout_open() {
        let judged = |verdict, reason| Judged { verdict, confidence: Confidence::Likely, reason, evidence: None };
        let of_loss = [judged(Verdict::Spurious, ANSWERED), judged(Verdict::Needed, BY_ECHO)];
        let after = |fast: Verdict, sack| {
            let mut verdicts = vec![of_loss[0], of_loss[1], judged(fast, "by its marks")];
            let circumstances = Circumstances { sack, ..Circumstances::default() };
            withdraw(&mut verdicts, &[Cause::Loss, Cause::Loss, Cause::Fast], &circumstances);
            [verdicts[0], verdicts[1]]
        };
        assert_eq!(after(Verdict::Spurious, false), [LATE_ORIGINAL, LATE_ORIGINAL]);
        assert_eq!(after(Verdict::Spurious, true), [LATE_ORIGINAL, of_loss[1]]);
        assert_eq!(after(Verdict::Needed, false), of_loss);
    }

    #[test]
    fn without_sack_the_order_of_the_path_decides_what_an_echo_shows() {
        let judged = |verdict, reason| Judged { verdict, confidence: Confidence::Likely, reason, evidence: None };
        let needed = judged(Verdict::Needed, BY_ECHO);
        let after = |order, needless: usize| {
            let fast = vec![judged(Verdict::Spurious, "late"); needless];
            let mut verdicts: Vec<_> = std::iter::repeat_n(needed, 40).chain(fast).collect();
            let causes = vec![Cause::Fast; verdicts.len()];
            withdraw(&mut verdicts, &causes, &Circumstances { order, ..Circumstances::default() });
            verdicts[0]
        };
        use PathOrder::{Changed, Kept, Unknown, Unsure};
        assert_eq!([Unknown, Kept, Unsure].map(|order| after(order, 0)), [needed; 3]);
        assert_eq!([Unknown, Kept].map(|order| after(order, 1)), [needed; 2]);
        assert_eq!([after(Unsure, 1), after(Changed, 0), after(Unknown, 9)], [LATE_ORIGINAL; 3]);
        assert_eq!(after(Kept, 9), needed);
    }

    #[test]
    fn a_duplicate_that_left_before_and_arrived_after_a_repeated_repair_leaves_it_open() {
        let mut one = SegmentEvidence::new(10, Transmission::new(0, 10, 1000, None));
        [2000, 3000].iter().for_each(|sent| one.transmissions.push(Transmission::new(0, 10, *sent, None)));
        one.answer = Some(Answered { when: When { nanos: 3500, frame: 1 }, echo: None, newest: 0, up_to: None });
        let lost = |reported: &[(u64, u64)]| [1, 2].map(|index| may_be_lost(&one, index, reported));
        assert_eq!(lost(&[(3400, 2500), (3501, 2999), (3600, 3100)]), [false, true]);
        // What comes first after the ACK decides.
        assert_eq!(lost(&[(3500, 2500), (3501, 3000), (3600, 2500)]), [false, false]);
        assert_eq!(lost(&[(3500, 2500)]), [false, false]);
    }

    #[test]
    fn f_rto_judges_what_the_timer_sends_first() {
        let stay = [Cause::Loss, Cause::Rto, Cause::Fast].map(|cause| kept(cause, (true, true), [0, 0, 0, 3])[3]);
        assert_eq!(stay, [0, 3, 0]);
    }
}
