//! *Looks at* the retransmit bit of ACKs, up to the first cover ACK: one that acknowledges
//! everything that was retransmitted.
//! *Decides* spurious when none of these ACKs has the bit: originals caused all of them. A
//! retransmission caused an ACK that has it.
//! *Blind to* peers that have not agreed on the bit, and to originals that a retransmission on
//! another path overtakes.
//! *From* "On making SCTP robust to spurious retransmissions", figure 6, part II.

use super::cover::Cover;
use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Fact, Mark};
use crate::registry::{Entry, Need};
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "eifel-cover-bit",
    summary: "no ACK up to the cover ACK was caused by a retransmission",
    source: "On making SCTP robust to spurious retransmissions",
    needs: Some(Need::Marks),
    ..Entry::detector(|_| Box::new(EifelCoverBit::default()))
};

/// The Eifel detection algorithm for SCTP with the retransmit bit.
#[derive(Clone, Debug, Default)]
pub struct EifelCoverBit {
    /// The retransmissions of an episode that is not judged yet; `None` otherwise.
    waiting: Option<Cover>,
}

impl EifelCoverBit {
    fn judge(&mut self, acked: &Acked<'_>) -> Judgement {
        let Some(cover) = &mut self.waiting else { return Judgement::Undecided };
        let covers = cover.covers(acked);
        let (outcome, reason) = match acked.mark {
            None => (Outcome::Genuine, "no retransmit bit agreed on"),
            Some(Mark::Retransmission) => (Outcome::Genuine, "answers a retransmission"),
            Some(Mark::Original) if covers => (Outcome::Spurious, "the cover ACK answers an original"),
            Some(Mark::Original) => return Judgement::Undecided,
        };
        self.waiting = None;
        Judgement::Settled(outcome, reason)
    }
}

impl Detector for EifelCoverBit {
    fn observe(&mut self, fact: &Fact<'_>, _: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { transmission, opens: true, .. } => {
                self.waiting = Some(Cover::begin(transmission));
                Judgement::Undecided
            }
            Fact::Retransmitted { transmission, .. } => {
                if let Some(cover) = &mut self.waiting {
                    cover.add(transmission);
                }
                Judgement::Undecided
            }
            Fact::Acked(acked) => self.judge(acked),
            Fact::NotProbed(_) => Judgement::Undecided,
        }
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_none()
    }
}
