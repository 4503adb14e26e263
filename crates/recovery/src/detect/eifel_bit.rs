//! *Looks at* whether the first acceptable ACK after a retransmission says that it answers a retransmission.
//! *Decides* spurious when it says that it answers an original.
//! *Blind to* peers that have not agreed on marks, and to which retransmission it was; where the ACK of the retransmission is
//! lost, an original that arrives later still would speak for it: hence an ACK of data that was unsent then does not count.
//! *From* Ludwig, chapter 5, section 5.2.1 (one bit each way); as the retransmit bit in the proposal for SCTP, figure 6.

use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Fact, Mark};
use crate::view::View;

/// The Eifel detection algorithm with one bit.
#[derive(Clone, Debug, Default)]
pub struct EifelBit {
    stage: Stage,
}

#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Idle,
    /// The segment at `start` was sent again when everything below `nxt` had been sent.
    Waiting { start: u64, nxt: u64 },
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
            Some(Mark::Original) => (Outcome::Spurious, "answers an original"),
        };
        Judgement::Settled(outcome, reason)
    }
}

impl Detector for EifelBit {
    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { transmission, opens: true, .. } => {
                self.stage = Stage::Waiting { start: transmission.start, nxt: view.nxt };
                Judgement::Undecided
            }
            Fact::Acked(acked) => self.judge(acked),
            _ => Judgement::Undecided,
        }
    }
}
