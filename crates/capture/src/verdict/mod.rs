//! Reports each retransmitted segment with its verdict once the connection is over.

use super::When;
use super::again::Trouble;
use super::connection::Cost;
use super::half::Setting;
use super::trip::Vantage;
use crate::report::{End, Number, Retransmission};
use crate::sender::{Cause, Explained};
use crate::verdict::{ANSWERED, BY_ECHO, Circumstances, Confidence, DOUBTED, Judged, OVERTAKEN, Verdict};
use eifel_base::ranges::Block;
use eifel_packet::seq::{Seq, wrap};

/// One retransmitted segment.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) when: When,
    pub(super) block: Block,
    pub(super) payload: u32,
    pub(super) copy: usize,
    /// The cause, if it is known without a model.
    pub(super) known: Option<Cause>,
    /// The loss episode that it belongs to.
    pub(super) episode: Option<u32>,
    /// The start positions of the segments that it repeats, each with the number of this sending.
    pub(super) parts: Vec<(u64, usize)>,
    /// The frame of the last ACK of new data, if all of the segment was acknowledged before it
    /// passed.
    pub(super) acknowledged: Option<u64>,
}

/// A path reorders if at least this percentage of its fast retransmissions is spurious.
const REORDERS: usize = 20;

impl Trouble {
    /// Withdraws verdicts on fast retransmissions of a connection without SACK, where ACKs do not
    /// name the data that arrived. One more duplicate ACK does not show that a retransmission was
    /// needless. On a path that reorders, an echo does not show that it was needed.
    fn doubt(verdicts: &mut [Judged], causes: &[Explained]) {
        let count = |wanted: Verdict| {
            let both = verdicts.iter().zip(causes).filter(|(_, one)| one.cause == Cause::Fast);
            both.filter(|(judged, _)| judged.verdict == wanted && judged.reason != ANSWERED).count()
        };
        let (needless, needed) = (count(Verdict::Spurious), count(Verdict::Needed));
        let reorders = needless * 100 >= (needless + needed) * REORDERS;
        for (judged, _) in verdicts.iter_mut().zip(causes).filter(|(_, one)| one.cause == Cause::Fast) {
            if judged.reason == ANSWERED || reorders && judged.reason == BY_ECHO {
                *judged = DOUBTED;
            }
        }
    }

    /// Adds the retransmissions with their verdicts to the report. Returns the name of the model
    /// that explains them best.
    pub(super) fn finish(
        &mut self,
        setting: &Setting,
        (connection, sender, initial): (u64, End, Seq),
        (into, cost): (&mut Vec<Retransmission>, &mut Cost),
    ) -> Option<&'static str> {
        self.replica.finish();
        let (model, named) = self.replica.explained();
        let mut named = named.into_iter();
        let explain = |row: &Row| {
            let known = row.known.map(|cause| Explained { cause, other: None });
            known.or_else(|| named.next()).unwrap_or(Explained { cause: Cause::Unknown, other: None })
        };
        let explained: Vec<_> = self.rows.iter().map(explain).collect();
        let circumstances = Circumstances {
            at_receiver: setting.vantage() == Vantage::Receiver && !self.lost_behind,
            at_sender: setting.is_known_next_to_sender(),
            silent: self.implied.silent,
            reports: self.reports || setting.sack && !self.implied.silent,
            shortest: setting.receiver().unwrap_or(0),
        };
        let mut verdicts: Vec<_> = self.rows.iter().map(|row| self.judge(row, &circumstances)).collect();
        if !setting.sack {
            Self::doubt(&mut verdicts, &explained);
        }
        let needless: Vec<_> = verdicts.iter().map(|judged| judged.verdict == Verdict::Spurious).collect();
        let reactions = self.flight.reactions(&needless, cost);
        let judged = verdicts.iter().zip(explained);
        for ((row, (judged, explained)), (reaction, needless)) in
            self.rows.iter().zip(judged).zip(reactions.iter().zip(needless))
        {
            cost.bytes_needless += if needless { u64::from(row.payload) } else { 0 };
            into.push(Retransmission {
                capture: 0,
                frame: row.when.frame,
                time_s: row.when.nanos as f64 / 1e9,
                connection,
                sender,
                number: Number::Seq(wrap(row.block.start, initial).0),
                bytes: row.payload,
                copy: row.copy,
                cause: explained.cause,
                other_cause: explained.other,
                verdict: judged.verdict,
                confidence: judged.confidence,
                reason: judged.reason,
                evidence_frame: judged.evidence,
                stack_noticed: reaction.noticed,
                window_lost_bytes: reaction.window_lost,
                flight_back_ms: reaction.back_ms,
                first_told: row.episode.map(|episode| self.replica.told(episode)).unwrap_or_default(),
            });
        }
        (!self.rows.is_empty()).then_some(model)
    }

    /// Judges a row. A segment is spurious if all its parts are.
    fn judge(&self, row: &Row, circumstances: &Circumstances) -> Judged {
        if let Some(frame) = row.acknowledged {
            let overtaken =
                |(start, index): &(u64, usize)| self.repeated.get(start).is_some_and(|one| one.was_overtaken(*index));
            if row.parts.iter().any(overtaken) {
                return OVERTAKEN;
            }
            let in_order = |(start, index): &(u64, usize)| {
                self.repeated.get(start).is_some_and(|one| one.passed_in_order(*index, circumstances))
            };
            let certain = circumstances.at_sender || row.parts.iter().all(in_order);
            return Judged {
                verdict: Verdict::Spurious,
                confidence: if certain { Confidence::Certain } else { Confidence::Likely },
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many of `counts` verdicts stay: needless, needed, and answered as duplicates.
    fn kept(cause: Cause, counts: [usize; 3]) -> [usize; 3] {
        let judged = |verdict, reason| Judged { verdict, confidence: Confidence::Likely, reason, evidence: None };
        let kinds =
            [judged(Verdict::Spurious, "late"), judged(Verdict::Needed, BY_ECHO), judged(Verdict::Spurious, ANSWERED)];
        let mut verdicts: Vec<_> = kinds.iter().zip(counts).flat_map(|(kind, count)| vec![*kind; count]).collect();
        let causes = vec![Explained { cause, other: None }; verdicts.len()];
        Trouble::doubt(&mut verdicts, &causes);
        assert!(verdicts.iter().all(|judged| *judged == DOUBTED || kinds.contains(judged)));
        kinds.map(|kind| verdicts.iter().filter(|judged| **judged == kind).count())
    }

    #[test]
    fn where_a_path_reorders_an_echo_decides_nothing() {
        assert_eq!(kept(Cause::Fast, [1, 4, 2]), [1, 0, 0]);
        assert_eq!(kept(Cause::Fast, [1, 5, 9]), [1, 5, 0]);
        assert_eq!(kept(Cause::Fast, [0, 1, 1]), [0, 1, 0]);
        assert_eq!(kept(Cause::Rto, [1, 4, 2]), [1, 4, 2]);
    }
}
