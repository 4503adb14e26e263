//! *Looks at* the timestamps that ACKs echo, up to the first cover ACK: one that acknowledges
//! everything that was retransmitted.
//! *Decides* spurious when the cover ACK's echo is older than the first retransmission's timestamp.
//! It decides genuine if a timeout's first ACK reports all retransmissions as duplicates, because
//! then the ACKs of the originals were lost. The safe variant, which the paper does not have, asks
//! for the original's own timestamp in the ACK of each retransmission (RFC 3522, section 3.4).
//! After three echoes of timestamps that were never sent, it distrusts the peer.
//! *Blind to* peers without timestamps, and to originals that a retransmission on another path
//! overtakes. The safe variant is also blind where one ACK covers the retransmissions of two
//! packets, and to timestamps that several packets share.
//! *From* "On making SCTP robust to spurious retransmissions", figure 6, part I; RFC 3522, section
//! 3.4.

use super::by_timestamps::{ByTimestamps, Proof, UNPROVEN};
use super::cover::Cover;
use super::unproven::Unproven;
use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Echo, Fact};
use crate::registry::{Entry, Need, Parameter, Parameters};
use crate::view::View;
use eifel_base::units::Timestamp;

pub(super) const ENTRY: Entry = Entry {
    name: "eifel-cover-timestamps",
    summary: "all ACKs of retransmissions echo their originals' timestamps, or the cover ACK an older one than theirs",
    source: "On making SCTP robust to spurious retransmissions",
    parameters: &[PROOF],
    needs: Some(Need::Timestamps),
    ..Entry::detector(|parameters| Box::new(EifelCoverTimestamps::new(proof(parameters))))
};

/// The parameter that says which echoes prove the originals.
pub(super) const PROOF: Parameter = Parameter::word(
    "proof",
    "which echo proves an original: any older than the first retransmission's (the paper), which a receiver can forge, or \
     each original's own (RFC 3522, section 3.4), which takes timestamps that are distinct",
    "original",
    &["older", "original"],
);

pub(super) fn proof(parameters: &Parameters) -> Proof {
    parameters.word("proof", &[("older", Proof::Older), ("original", Proof::Original)])
}

/// The Eifel detection algorithm for SCTP with the timestamp chunk.
#[derive(Clone, Debug)]
pub struct EifelCoverTimestamps(ByTimestamps<Suspected>);

/// An episode that waits for its cover ACK.
#[derive(Clone, Debug)]
struct Suspected {
    retransmit_ts: Timestamp,
    cover: Cover,
}

impl Suspected {
    fn judge(&mut self, acked: &Acked<'_>, unproven: &mut Unproven) -> Judgement {
        let repaired_more = unproven.remove_acked(acked);
        if !self.cover.covers(acked) && !repaired_more {
            return Judgement::Undecided;
        }
        let (outcome, reason) = match acked.echo {
            None | Some(Echo::Forged) => (Outcome::Genuine, "no timestamp echoed that was sent"),
            Some(Echo::Known { value, .. }) if !value.precedes(self.retransmit_ts) => {
                (Outcome::Genuine, "echo of the retransmission")
            }
            Some(_) if repaired_more => (Outcome::Genuine, UNPROVEN),
            Some(_) if self.cover.acks_were_lost() => {
                (Outcome::Genuine, "all retransmissions are duplicates: ACKs were lost")
            }
            Some(_) => (Outcome::Spurious, "the cover ACK's echo is older than the first retransmission"),
        };
        Judgement::Settled(outcome, reason)
    }
}

impl EifelCoverTimestamps {
    /// Creates the algorithm with this proof.
    pub fn new(proof: Proof) -> Self {
        Self(ByTimestamps::new(proof))
    }
}

impl Detector for EifelCoverTimestamps {
    fn observe(&mut self, fact: &Fact<'_>, _: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { transmission, stamp, original, opens } => {
                if *opens {
                    self.0.begin(stamp.map(|retransmit_ts| {
                        let cover = Cover::begin(transmission);
                        Suspected { retransmit_ts, cover }
                    }));
                } else if let Some(suspected) = self.0.suspected() {
                    suspected.cover.add(transmission);
                }
                self.0.add(transmission, *original);
                Judgement::Undecided
            }
            Fact::Acked(acked) => self.0.on_ack(acked, |suspected, unproven| suspected.judge(acked, unproven)),
            Fact::NotProbed(_) => Judgement::Undecided,
        }
    }

    fn is_idle(&self) -> bool {
        self.0.is_idle()
    }
}
