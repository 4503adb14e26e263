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

use super::by_timestamps::{ByTimestamps, UNPROVEN};
use super::unproven::Unproven;
use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Echo, Fact};
use crate::registry::{Entry, Need, Parameter};
use crate::view::View;
use eifel_base::units::Timestamp;

pub use super::by_timestamps::Proof;

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

/// Reason of a verdict on an echo that is not older than the retransmission.
pub(super) const RETRANSMISSION_ECHOED: &str = "echo of the retransmission";

/// The Eifel detection algorithm with the timestamps option.
#[derive(Clone, Debug)]
pub struct EifelTimestamps {
    state: ByTimestamps<Suspected>,
    /// Whether the peer has ever sent a DSACK on this connection (step 5).
    dsack_seen: bool,
}

/// An episode in step 3, which waits for the first acceptable ACK. RFC 3522's SpuriousRecovery and
/// RetransmitTS. [rfc3522:3.2.1]
#[derive(Clone, Copy, Debug)]
struct Suspected {
    retransmit_ts: Timestamp,
    original: Option<Timestamp>,
    start: u64,
}

impl Suspected {
    fn judge(&self, acked: &Acked<'_>, unproven: &mut Unproven, proof: Proof, dsack_seen: bool) -> Judgement {
        // RFC 3522, section 3.2, step 3: the first acceptable ACK, which acknowledges the
        // retransmitted data. [rfc3522:3.2.3]
        if acked.cumulative <= self.start {
            return Judgement::Undecided;
        }
        let repaired_more = unproven.remove_acked(acked);
        let Some(Echo::Known { value: echo, .. }) = acked.echo else {
            return Judgement::Settled(Outcome::Genuine, "no timestamp echoed");
        };
        // RFC 3522, section 3.2, step 4. [rfc3522:3.2.4]
        if !echo.precedes(self.retransmit_ts) {
            return Judgement::Settled(Outcome::Genuine, RETRANSMISSION_ECHOED);
        }
        if proof == Proof::Original && self.original != Some(echo) {
            return Judgement::Settled(Outcome::Genuine, UNPROVEN);
        }
        // RFC 3522, section 3.2, step 5: a DSACK says that the retransmission has arrived too. An ACK for everything
        // outstanding, from a peer that sends no DSACKs, may mean that only ACKs were lost. [rfc3522:3.2.5]
        if !acked.dsacks.is_empty() {
            return Judgement::Settled(Outcome::Genuine, "the first acceptable ACK carries a DSACK");
        }
        if acked.all && !dsack_seen {
            return Judgement::Settled(Outcome::Genuine, "all acknowledged at once: ACKs may have been lost");
        }
        if repaired_more {
            return Judgement::Settled(
                Outcome::Genuine,
                "the ACK covers another retransmission, which it does not prove spurious",
            );
        }
        // Step 6; the engine knows whether a timeout opened the episode. [rfc3522:3.2.6]
        Judgement::Settled(Outcome::Spurious, "echo older than the first retransmission")
    }
}

impl EifelTimestamps {
    /// Creates the algorithm with this proof.
    pub fn new(proof: Proof) -> Self {
        Self { state: ByTimestamps::new(proof), dsack_seen: false }
    }
}

impl Detector for EifelTimestamps {
    fn is_idle(&self) -> bool {
        self.state.is_idle()
    }

    fn observe(&mut self, fact: &Fact<'_>, _: &View) -> Judgement {
        match fact {
            // RFC 3522, section 3.2, step 2: only for the retransmission that opens the loss
            // recovery, not for later ones. [rfc3522:3.2.a] [rfc3522:3.2.2]
            Fact::Retransmitted { transmission, stamp, original, opens: true } => {
                let (original, start) = (*original, transmission.start);
                self.state.begin(stamp.map(|retransmit_ts| Suspected { retransmit_ts, original, start }));
                Judgement::Undecided
            }
            Fact::Retransmitted { transmission, original, .. } => {
                self.state.add(transmission, *original);
                Judgement::Undecided
            }
            Fact::Acked(acked) => {
                let (proof, dsack_seen) = (self.state.proof, self.dsack_seen);
                self.dsack_seen |= !acked.dsacks.is_empty();
                self.state.on_ack(acked, |suspected, unproven| suspected.judge(acked, unproven, proof, dsack_seen))
            }
            Fact::NotProbed(_) => Judgement::Undecided,
        }
    }
}
