//! *Looks at* whether the first acceptable ACK after a retransmission says that a retransmission
//! caused it.
//! *Decides* spurious when the ACK says that an original caused it. The retransmission should then
//! arrive too, and its ACK should say so before later data is acknowledged. After three claims in a
//! row without this ACK, the detector distrusts the peer.
//! *Blind to* peers that have not agreed on marks, and to which retransmission caused the ACK. It
//! is also blind to a peer that forges both ACKs, since a bit proves no more. If the
//! retransmission's ACK is lost, the ACK of a later original would look like proof. So an ACK does
//! not count if it acknowledges or reports data that was unsent at the retransmission.
//! *From* Ludwig, chapter 5, section 5.2.1 (one bit each way), and the retransmit bit in the
//! proposal for SCTP, figure 6. The check of contradictions is this project's.

use super::{Detector, Judgement, MOST_CONTRADICTIONS, Outcome};
use crate::fact::{Acked, Fact, Mark};
use crate::registry::{Entry, Need};
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "eifel-bit",
    summary: "the first ACK is marked as caused by an original; both ends mark retransmissions",
    source: "Ludwig, chapter 5, section 5.2.1",
    needs: Some(Need::Marks),
    ..Entry::detector(|_| Box::new(EifelBit::default()))
};

/// The Eifel detection algorithm with one bit.
#[derive(Clone, Debug, Default)]
pub struct EifelBit {
    waiting: Option<Waiting>,
    /// `nxt` at the retransmission of an original that the peer claims to have received. An ACK
    /// beyond it answers later data.
    claim: Option<u64>,
    /// Claims in a row that no ACK of a retransmission has confirmed.
    contradictions: u32,
}

/// The retransmission of the segment at `start`, sent when everything below `nxt` had been sent.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    start: u64,
    nxt: u64,
}

impl EifelBit {
    fn judge(&mut self, acked: &Acked) -> Judgement {
        let Some(Waiting { nxt, .. }) = self.waiting.take_if(|waiting| acked.cumulative > waiting.start) else {
            return Judgement::Undecided;
        };
        let (outcome, reason) = match acked.mark {
            None => (Outcome::Genuine, "no marks agreed on"),
            Some(Mark::Retransmission) => (Outcome::Genuine, "answers a retransmission"),
            // The retransmission may have arrived before that data, and its ACKs may be lost.
            Some(Mark::Original) if acked.cumulative.max(acked.sacked_up_to) > nxt => {
                (Outcome::Genuine, "answers data sent since: the retransmission's ACK may have been lost")
            }
            Some(Mark::Original) => {
                self.claim = Some(nxt);
                (Outcome::Spurious, "answers an original")
            }
        };
        Judgement::Settled(outcome, reason)
    }

    /// Checks the last claim against this ACK. Returns a judgement if claims were contradicted too
    /// often.
    fn check(&mut self, acked: &Acked) -> Option<Judgement> {
        let nxt = self.claim?;
        if acked.mark == Some(Mark::Retransmission) {
            self.contradictions = 0;
        } else if acked.cumulative > nxt {
            self.contradictions += 1;
        } else {
            return None;
        }
        self.claim = None;
        if self.contradictions < MOST_CONTRADICTIONS {
            return None;
        }
        self.waiting = None;
        Some(Judgement::Distrusted("no retransmission is ever answered"))
    }
}

impl Detector for EifelBit {
    fn is_idle(&self) -> bool {
        self.waiting.is_none() && self.claim.is_none()
    }

    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { .. } if self.contradictions == MOST_CONTRADICTIONS => Judgement::Undecided,
            Fact::Retransmitted { transmission, opens: true, .. } => {
                self.waiting = Some(Waiting { start: transmission.start, nxt: view.nxt });
                Judgement::Undecided
            }
            Fact::Acked(acked) => self.check(acked).unwrap_or_else(|| self.judge(acked)),
            _ => Judgement::Undecided,
        }
    }
}
