//! *Looks at* the timestamp that the first cover ACK echoes: one that acknowledges everything that was sent again.
//! *Decides* spurious when it is older than the first retransmission's; genuine also where a timeout's first ACK reports
//! all retransmissions as duplicates, because then the ACKs of the originals were lost.
//! *Blind to* peers without timestamps, and to originals that a retransmission on another path overtakes.
//! *From* "On making SCTP robust to spurious retransmissions", figure 6, part I.

use super::cover::Cover;
use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Echo, Fact};
use crate::registry::{Entry, Need};
use crate::view::View;
use eifel_base::units::Timestamp;

pub(super) const ENTRY: Entry = Entry {
    name: "eifel-cover-timestamps",
    summary: "the first ACK for all retransmissions echoes a timestamp older than the first of them",
    source: "On making SCTP robust to spurious retransmissions",
    needs: Some(Need::Timestamps),
    ..Entry::detector(|_| Box::new(EifelCoverTimestamps::default()))
};

/// The Eifel detection algorithm for SCTP with the timestamp chunk.
#[derive(Clone, Debug, Default)]
pub struct EifelCoverTimestamps {
    /// RetransmitTS, and what was sent again, while something is suspected.
    waiting: Option<(Timestamp, Cover)>,
}

impl EifelCoverTimestamps {
    fn judge(&mut self, acked: &Acked<'_>) -> Judgement {
        let Some((retransmit_ts, cover)) = &mut self.waiting else { return Judgement::Undecided };
        if !cover.covers(acked) {
            return Judgement::Undecided;
        }
        let (outcome, reason) = match acked.echo {
            None | Some(Echo::Forged) => (Outcome::Genuine, "no timestamp echoed that was sent"),
            Some(Echo::Known { value, .. }) if !value.precedes(*retransmit_ts) => {
                (Outcome::Genuine, "echo of the retransmission")
            }
            Some(_) if cover.acks_were_lost() => {
                (Outcome::Genuine, "all retransmissions are duplicates: ACKs were lost")
            }
            Some(_) => (Outcome::Spurious, "the cover ACK's echo is older than the first retransmission"),
        };
        self.waiting = None;
        Judgement::Settled(outcome, reason)
    }
}

impl Detector for EifelCoverTimestamps {
    fn observe(&mut self, fact: &Fact<'_>, _: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { transmission, stamp, opens: true, .. } => {
                self.waiting = stamp.map(|stamp| (stamp, Cover::begin(transmission)));
                Judgement::Undecided
            }
            Fact::Retransmitted { transmission, .. } => {
                if let Some((_, cover)) = &mut self.waiting {
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
