//! *Looks at* the timestamp that the first acceptable ACK after a retransmission echoes.
//! *Decides* spurious when the echo is older than the first retransmission's timestamp: the
//! original caused the ACK. The safe variant asks for the original's own timestamp, which a
//! receiver that lost the segment cannot know. It asks for it in the ACK of every retransmission of
//! the episode. After three echoes of timestamps that were never sent, it distrusts the peer.
//! *Blind to* peers without timestamps, and to a retransmission in the same clock tick as its
//! original. The safe variant is also blind to an original whose ACK was lost, or that arrived
//! after its retransmission. Nor can it prove an original that was sent in the same tick as a
//! neighbour.
//! *From* RFC 3522, sections 3.2 and 3.4; "Responding to Spurious Timeouts in TCP", section II.B.

use super::trials::Trials;
use super::{Detector, Judgement, MOST_CONTRADICTIONS, Outcome};
use crate::fact::{Acked, Echo, Fact};
use crate::registry::{Entry, Need, Parameter};
use crate::view::View;
use eifel_base::units::Timestamp;

pub(super) const ENTRY: Entry = Entry {
    name: "eifel-timestamps",
    summary: "the first ACK echoes the original's timestamp, or any older than the first retransmission's",
    source: "RFC 3522",
    parameters: &[Parameter::word(
        "proof",
        "which echo proves the original: any older than the retransmission's (section 3.2), which a receiver can forge, or \
         the original's own (section 3.4), which takes timestamps that are distinct",
        "original",
        &["older", "original"],
    )],
    needs: Some(Need::Timestamps),
    ..Entry::detector(|parameters| {
        let proof = parameters.word("proof", &[("older", Proof::Older), ("original", Proof::Original)]);
        Box::new(EifelTimestamps::new(proof))
    })
};

/// Which echoes prove the original.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Proof {
    /// Any echo that is older than the first retransmission's timestamp (section 3.2).
    Older,
    /// Only the original's timestamp (section 3.4).
    #[default]
    Original,
}

/// The Eifel detection algorithm with the timestamps option.
#[derive(Clone, Debug, Default)]
pub struct EifelTimestamps {
    proof: Proof,
    /// RFC 3522's SpuriousRecovery and RetransmitTS; `None` while nothing is suspected. [rfc3522:3.2.1]
    waiting: Option<Waiting>,
    /// Later retransmissions of the episode that are not acknowledged yet, by position. A verdict
    /// on the first retransmission says nothing about them. Always empty with [`Proof::Older`].
    trials: Trials,
    /// Whether the episode was judged spurious, and its later retransmissions are on trial.
    tries: bool,
    /// Whether the peer has ever sent a DSACK on this connection (step 5).
    dsack_seen: bool,
    /// Number of echoes of timestamps that were never sent.
    forged: u32,
}

/// The state of step 3, which waits for the first acceptable ACK.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    retransmit_ts: Timestamp,
    original: Option<Timestamp>,
    start: u64,
}

/// Reason of a verdict on an echo that is older than the retransmission, but not the original's.
pub(super) const UNPROVEN: &str = "the echo is not the original's timestamp";

impl EifelTimestamps {
    /// Creates the algorithm with this proof.
    pub fn new(proof: Proof) -> Self {
        Self { proof, ..Self::default() }
    }

    fn judge(&mut self, acked: &Acked) -> Judgement {
        // RFC 3522, section 3.2, step 3: the first acceptable ACK, which acknowledges the
        // retransmitted data. [rfc3522:3.2.3]
        let Some(waiting) = self.waiting.take_if(|waiting| acked.cumulative > waiting.start) else {
            return Judgement::Undecided;
        };
        let repaired_more = self.trials.end(acked);
        let Some(Echo::Known { value: echo, .. }) = acked.echo else {
            return Judgement::Settled(Outcome::Genuine, "no timestamp echoed");
        };
        // RFC 3522, section 3.2, step 4. [rfc3522:3.2.4]
        if !echo.precedes(waiting.retransmit_ts) {
            return Judgement::Settled(Outcome::Genuine, "echo of the retransmission");
        }
        if self.proof == Proof::Original && waiting.original != Some(echo) {
            return Judgement::Settled(Outcome::Genuine, UNPROVEN);
        }
        // RFC 3522, section 3.2, step 5: a DSACK says that the retransmission has arrived too. An ACK for everything
        // outstanding, from a peer that sends no DSACKs, may mean that only ACKs were lost. [rfc3522:3.2.5]
        if !acked.dsacks.is_empty() {
            return Judgement::Settled(Outcome::Genuine, "the first acceptable ACK carries a DSACK");
        }
        if acked.all && !self.dsack_seen {
            return Judgement::Settled(Outcome::Genuine, "all acknowledged at once: ACKs may have been lost");
        }
        if repaired_more {
            return Judgement::Settled(
                Outcome::Genuine,
                "the ACK covers another retransmission, which it does not prove spurious",
            );
        }
        self.tries = self.proof == Proof::Original;
        // Step 6; the engine knows whether a timeout opened the episode. [rfc3522:3.2.6]
        Judgement::Settled(Outcome::Spurious, "echo older than the first retransmission")
    }

    /// Judges later retransmissions of an episode that was judged spurious.
    fn judge_trials(&mut self, acked: &Acked) -> Judgement {
        if !self.trials.end(acked) {
            return Judgement::Undecided;
        }
        self.trials.clear();
        self.tries = false;
        Judgement::LostBesides("a later retransmission is acknowledged without the original's timestamp")
    }

    /// Counts a forged echo. RFC 4015, section 6, only warns of receivers that forge.
    fn contradicted(&mut self) -> Judgement {
        self.forged += 1;
        if self.forged < MOST_CONTRADICTIONS {
            return Judgement::Undecided;
        }
        self.waiting = None;
        self.tries = false;
        Judgement::Distrusted("echoes of timestamps that were never sent")
    }
}

impl Detector for EifelTimestamps {
    fn is_idle(&self) -> bool {
        self.waiting.is_none() && (!self.tries || self.trials.is_empty())
    }

    fn observe(&mut self, fact: &Fact<'_>, _: &View) -> Judgement {
        match fact {
            // RFC 3522, section 3.2, step 2: only for the retransmission that opens the loss
            // recovery, not for later ones. [rfc3522:3.2.a] [rfc3522:3.2.2]
            Fact::Retransmitted { transmission, stamp, original, opens: true } => {
                let (original, start) = (*original, transmission.start);
                self.trials.clear();
                self.tries = false;
                self.waiting = stamp.filter(|_| self.forged < MOST_CONTRADICTIONS).map(|retransmit_ts| Waiting {
                    retransmit_ts,
                    original,
                    start,
                });
                Judgement::Undecided
            }
            Fact::Retransmitted { transmission, original, .. } => {
                if self.proof == Proof::Original && (self.waiting.is_some() || self.tries) {
                    self.trials.add(transmission.start, *original);
                }
                Judgement::Undecided
            }
            Fact::Acked(acked) => {
                if acked.echo == Some(Echo::Forged)
                    && let distrusted @ Judgement::Distrusted(_) = self.contradicted()
                {
                    return distrusted;
                }
                let judgement = if self.tries { self.judge_trials(acked) } else { self.judge(acked) };
                self.dsack_seen |= !acked.dsacks.is_empty();
                judgement
            }
            Fact::NotProbed(_) => Judgement::Undecided,
        }
    }
}
