//! *Looks at* whether the first acceptable ACK after a retransmission says that it answers a retransmission.
//! *Decides* spurious when it says that it answers an original. Then the retransmission is to arrive as well, and its answer
//! to say so, before data sent after it are acknowledged; where three times in a row none does, the peer is believed no more.
//! *Blind to* peers that have not agreed on marks, and to which retransmission it was; where the ACK of the retransmission is
//! lost, an original that arrives later still would speak for it: hence an ACK of data that was unsent then does not count;
//! and to a peer that forges both answers: a bit proves no more.
//! *From* Ludwig, chapter 5, section 5.2.1 (one bit each way); as the retransmit bit in the proposal for SCTP, figure 6. What
//! contradicts it is this project's.

use super::{Detector, Judgement, MOST_CONTRADICTIONS, Outcome};
use crate::fact::{Acked, Fact, Mark};
use crate::view::View;

/// The Eifel detection algorithm with one bit.
#[derive(Clone, Debug, Default)]
pub struct EifelBit {
    stage: Stage,
    claim: Claim,
    /// Claims in a row that nothing has borne out.
    contradictions: u32,
}

#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Idle,
    /// The segment at `start` was sent again when everything below `nxt` had been sent.
    Waiting { start: u64, nxt: u64 },
}

/// What the peer has said last of originals that were sent again.
#[derive(Clone, Debug, Default)]
enum Claim {
    #[default]
    BorneOut,
    /// An original has arrived; an ACK beyond `nxt` answers what left after its retransmission.
    Open { nxt: u64 },
}

impl EifelBit {
    fn judge(&mut self, acked: &Acked) -> Judgement {
        let Stage::Waiting { start, nxt } = self.stage else { return Judgement::Undecided };
        if acked.cumulative <= start {
            return Judgement::Undecided;
        }
        self.stage = Stage::Idle;
        let (outcome, reason) = match acked.mark {
            None => (Outcome::Genuine, "no marks agreed on"),
            Some(Mark::Retransmission) => (Outcome::Genuine, "answers a retransmission"),
            Some(Mark::Original) if acked.cumulative > nxt => {
                (Outcome::Genuine, "acknowledges data sent since: the retransmission's ACK may have been lost")
            }
            Some(Mark::Original) => {
                self.claim = Claim::Open { nxt };
                (Outcome::Spurious, "answers an original")
            }
        };
        Judgement::Settled(outcome, reason)
    }

    /// Whether the last claim is borne out by this ACK, or contradicted once too often.
    fn check(&mut self, acked: &Acked) -> Option<Judgement> {
        let Claim::Open { nxt } = self.claim else { return None };
        if acked.mark == Some(Mark::Retransmission) {
            self.contradictions = 0;
        } else if acked.cumulative > nxt {
            self.contradictions += 1;
        } else {
            return None;
        }
        self.claim = Claim::BorneOut;
        if self.contradictions < MOST_CONTRADICTIONS {
            return None;
        }
        self.stage = Stage::Idle;
        Some(Judgement::Distrusted("no retransmission is ever answered"))
    }
}

impl Detector for EifelBit {
    fn is_idle(&self) -> bool {
        matches!((&self.stage, &self.claim), (Stage::Idle, Claim::BorneOut))
    }

    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { .. } if self.contradictions == MOST_CONTRADICTIONS => Judgement::Undecided,
            Fact::Retransmitted { transmission, opens: true, .. } => {
                self.stage = Stage::Waiting { start: transmission.start, nxt: view.nxt };
                Judgement::Undecided
            }
            Fact::Acked(acked) => self.check(acked).unwrap_or_else(|| self.judge(acked)),
            _ => Judgement::Undecided,
        }
    }
}
