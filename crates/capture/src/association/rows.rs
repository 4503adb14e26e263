//! Reports each retransmitted chunk with its verdict once the association is over.

use super::chunks::{Chunks, Place};
use crate::flow::{Cost, Vantage, When};
use crate::report::{End, Number, Retransmission};
use crate::sender::Cause;
use crate::verdict::{Circumstances, Confidence, Judged, Verdict};
use eifel_packet::seq::wrap;

/// One chunk of a packet that was sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) when: When,
    pub(super) position: u64,
    pub(super) len: u16,
    /// The number of this sending: 1 is the first retransmission.
    pub(super) index: usize,
    pub(super) cause: Cause,
    /// The loss episode that it belongs to.
    pub(super) episode: Option<u32>,
    pub(super) acknowledged: Option<u64>,
}

impl Chunks {
    /// Adds the retransmissions with their verdicts to `into`. Returns their cost.
    pub(super) fn finish(
        &mut self,
        place: &Place,
        (connection, sender): (u64, End),
        into: &mut Vec<Retransmission>,
    ) -> Cost {
        let mut cost = Cost::default();
        let vantage = Vantage::find(place.sender, place.receiver);
        let circumstances = Circumstances {
            at_receiver: vantage == Vantage::Receiver,
            at_sender: vantage == Vantage::Sender,
            silent: false,
            reports: true,
            shortest: place.receiver.unwrap_or(0),
        };
        let initial = self.initial.unwrap_or_default();
        self.witness.finish();
        let verdicts: Vec<_> = self.rows.iter().map(|row| self.judge(row, &circumstances)).collect();
        let needless: Vec<_> = verdicts.iter().map(|judged| judged.verdict == Verdict::Spurious).collect();
        let reactions = self.flight.reactions(&needless, &mut cost);
        for ((row, judged), (reaction, needless)) in self.rows.iter().zip(verdicts).zip(reactions.iter().zip(needless))
        {
            cost.bytes_needless += if needless { u64::from(row.len) } else { 0 };
            into.push(Retransmission {
                capture: 0,
                frame: row.when.frame,
                time_s: row.when.nanos as f64 / 1e9,
                connection,
                sender,
                number: Number::Tsn(wrap(row.position, initial).0),
                bytes: u32::from(row.len),
                copy: row.index + 1,
                cause: row.cause,
                other_cause: None,
                verdict: judged.verdict,
                confidence: judged.confidence,
                reason: judged.reason,
                evidence_frame: judged.evidence,
                stack_noticed: reaction.noticed,
                window_lost_bytes: reaction.window_lost,
                flight_back_ms: reaction.back_ms,
                first_told: row.episode.map(|episode| self.witness.told(episode)).unwrap_or_default(),
            });
        }
        cost
    }

    fn judge(&self, row: &Row, circumstances: &Circumstances) -> Judged {
        let one = self.repeated.get(&row.position).filter(|one| row.index < one.sendings.len());
        match (row.acknowledged, one) {
            (Some(frame), one) => {
                let certain =
                    circumstances.at_sender || one.is_some_and(|one| one.passed_in_order(row.index, circumstances));
                Judged {
                    verdict: Verdict::Spurious,
                    confidence: if certain { Confidence::Certain } else { Confidence::Likely },
                    reason: "it was acknowledged before it passed",
                    evidence: Some(frame),
                }
            }
            (None, Some(one)) => one.judge(row.index, circumstances),
            (None, None) => Judged {
                verdict: Verdict::Undecidable,
                confidence: Confidence::Weak,
                reason: "too much was sent again to remember it all",
                evidence: None,
            },
        }
    }
}
