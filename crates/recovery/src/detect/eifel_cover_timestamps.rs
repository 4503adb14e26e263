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

use super::cover::Cover;
use super::eifel_timestamps::{Proof, UNPROVEN};
use super::trials::Trials;
use super::{Detector, Judgement, MOST_CONTRADICTIONS, Outcome};
use crate::fact::{Acked, Echo, Fact};
use crate::registry::{Entry, Need, Parameter, Parameters};
use crate::view::View;
use eifel_base::units::Timestamp;

pub(super) const ENTRY: Entry = Entry {
    name: "eifel-cover-timestamps",
    summary: "the ACKs for all retransmissions echo their originals' timestamps, or the last any older than the first of them",
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
#[derive(Clone, Debug, Default)]
pub struct EifelCoverTimestamps {
    proof: Proof,
    /// RetransmitTS and the retransmissions of an episode that is not judged yet; `None` otherwise.
    waiting: Option<(Timestamp, Cover)>,
    /// Retransmissions of this episode that are not acknowledged. Always empty with
    /// [`Proof::Older`].
    trials: Trials,
    /// Whether the episode was judged spurious, and its later retransmissions are on trial.
    tries: bool,
    /// Number of echoes of timestamps that were never sent.
    forged: u32,
}

impl EifelCoverTimestamps {
    /// Creates the algorithm with this proof.
    pub fn new(proof: Proof) -> Self {
        Self { proof, ..Self::default() }
    }

    fn judge(&mut self, acked: &Acked<'_>) -> Judgement {
        let Some((retransmit_ts, cover)) = &mut self.waiting else { return Judgement::Undecided };
        let unproven = self.trials.end(acked);
        if !cover.covers(acked) && !unproven {
            return Judgement::Undecided;
        }
        let (outcome, reason) = match acked.echo {
            None | Some(Echo::Forged) => (Outcome::Genuine, "no timestamp echoed that was sent"),
            Some(Echo::Known { value, .. }) if !value.precedes(*retransmit_ts) => {
                (Outcome::Genuine, "echo of the retransmission")
            }
            Some(_) if unproven => (Outcome::Genuine, UNPROVEN),
            Some(_) if cover.acks_were_lost() => {
                (Outcome::Genuine, "all retransmissions are duplicates: ACKs were lost")
            }
            Some(_) => (Outcome::Spurious, "the cover ACK's echo is older than the first retransmission"),
        };
        self.waiting = None;
        self.tries = self.proof == Proof::Original && outcome == Outcome::Spurious;
        Judgement::Settled(outcome, reason)
    }

    /// Judges later retransmissions of an episode that was judged spurious.
    fn judge_trials(&mut self, acked: &Acked<'_>) -> Judgement {
        if !self.trials.end(acked) {
            return Judgement::Undecided;
        }
        self.tries = false;
        Judgement::LostBesides("a later retransmission is acknowledged without the original's timestamp")
    }

    /// Counts a forged echo.
    fn contradicted(&mut self) -> Judgement {
        self.forged += 1;
        if self.forged < MOST_CONTRADICTIONS {
            return Judgement::Undecided;
        }
        self.waiting = None;
        self.tries = false;
        Judgement::Distrusted("echoes of timestamps that were never sent")
    }

    fn on_retransmission(&mut self, fact: &Fact<'_>) {
        let Fact::Retransmitted { transmission, stamp, original, opens } = fact else { return };
        if *opens {
            self.trials.clear();
            self.tries = false;
            let trusted = stamp.filter(|_| self.forged < MOST_CONTRADICTIONS);
            self.waiting = trusted.map(|stamp| (stamp, Cover::begin(transmission)));
        } else if let Some((_, cover)) = &mut self.waiting {
            cover.add(transmission);
        }
        if self.proof == Proof::Original && (self.waiting.is_some() || self.tries) {
            self.trials.add(transmission.start, *original);
        }
    }
}

impl Detector for EifelCoverTimestamps {
    fn observe(&mut self, fact: &Fact<'_>, _: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { .. } => {
                self.on_retransmission(fact);
                Judgement::Undecided
            }
            Fact::Acked(acked) => {
                if acked.echo == Some(Echo::Forged)
                    && let distrusted @ Judgement::Distrusted(_) = self.contradicted()
                {
                    return distrusted;
                }
                if self.tries { self.judge_trials(acked) } else { self.judge(acked) }
            }
            Fact::NotProbed(_) => Judgement::Undecided,
        }
    }

    fn is_idle(&self) -> bool {
        self.waiting.is_none() && (!self.tries || self.trials.is_empty())
    }
}
