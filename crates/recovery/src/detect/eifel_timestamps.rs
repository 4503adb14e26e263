//! *Looks at* the timestamp that the first acceptable ACK after a retransmission echoes.
//! *Decides* spurious when it is older than the first retransmission's timestamp: the original caused the ACK. The safe
//! variant asks for the original's own timestamp, which a receiver that has lost the segment cannot know. A peer that three
//! times echoes what was never sent is not believed any more.
//! *Blind to* peers without timestamps, and to a retransmission in the same tick of the clock as its original; the safe
//! variant also to an original whose ACK was lost, or that left in the same tick as one of its neighbours.
//! *From* RFC 3522, sections 3.2 and 3.4; "Responding to Spurious Timeouts in TCP", section II.B.

use super::{Detector, Judgement, MOST_CONTRADICTIONS, Outcome};
use crate::fact::{Acked, Block, Fact};
use crate::view::View;
use eifel_base::units::Timestamp;

/// Which echoes prove the original.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Proof {
    /// Any that is older than the first retransmission's timestamp (section 3.2).
    Older,
    /// Only that of the original's timestamp (section 3.4).
    #[default]
    Original,
}

/// The Eifel detection algorithm with the timestamps option.
#[derive(Clone, Debug, Default)]
pub struct EifelTimestamps {
    proof: Proof,
    stage: Stage,
    dsack: DsackSeen,
    /// Echoes of timestamps that were never sent.
    forged: u32,
}

/// RFC 3522's SpuriousRecovery and RetransmitTS.
#[derive(Clone, Debug, Default)]
enum Stage {
    /// Nothing is suspected. [rfc3522:3.2.1]
    #[default]
    Idle,
    /// Step 3: waits for the first acceptable ACK.
    Waiting { retransmit_ts: Timestamp, original: Option<Timestamp>, start: u64 },
}

/// Whether the connection's peer ever sent a DSACK (step 5).
#[derive(Clone, Debug, Default, PartialEq)]
enum DsackSeen {
    #[default]
    No,
    Yes,
}

impl EifelTimestamps {
    /// The algorithm with this proof.
    pub fn new(proof: Proof) -> Self {
        Self { proof, ..Self::default() }
    }

    fn judge(&mut self, acked: &Acked) -> Judgement {
        let Stage::Waiting { retransmit_ts, original, start } = self.stage else { return Judgement::Undecided };
        // RFC 3522, section 3.2, step 3: the first acceptable ACK, one that acknowledges what was retransmitted.
        // [rfc3522:3.2.3]
        if acked.cumulative <= start {
            return Judgement::Undecided;
        }
        self.stage = Stage::Idle;
        let Some(echo) = acked.echo else {
            return Judgement::Settled(Outcome::Genuine, "no timestamp echoed");
        };
        // RFC 3522, section 3.2, step 4. [rfc3522:3.2.4]
        if !echo.value.precedes(retransmit_ts) {
            return Judgement::Settled(Outcome::Genuine, "echo of the retransmission");
        }
        if self.proof == Proof::Original && original != Some(echo.value) {
            return Judgement::Settled(Outcome::Genuine, "the echo is not the original's timestamp");
        }
        // RFC 3522, section 3.2, step 5: a DSACK says that the retransmission has arrived too, and an ACK for everything
        // outstanding from a peer that sends no DSACKs may mean that only ACKs were lost. [rfc3522:3.2.5]
        if !acked.dsacks.is_empty() {
            return Judgement::Settled(Outcome::Genuine, "the first acceptable ACK carries a DSACK");
        }
        if acked.all && self.dsack == DsackSeen::No {
            return Judgement::Settled(Outcome::Genuine, "all acknowledged at once: ACKs may have been lost");
        }
        // Step 6; the engine knows whether a timeout began it. [rfc3522:3.2.6]
        Judgement::Settled(Outcome::Spurious, "echo older than the first retransmission")
    }

    /// RFC 4015, section 6, leaves it at a warning of receivers that forge.
    fn contradicted(&mut self) -> Judgement {
        self.forged += 1;
        if self.forged < MOST_CONTRADICTIONS {
            return Judgement::Undecided;
        }
        self.stage = Stage::Idle;
        Judgement::Distrusted("echoes of timestamps that were never sent")
    }

    fn note(&mut self, dsacks: &[Block]) {
        if !dsacks.is_empty() {
            self.dsack = DsackSeen::Yes;
        }
    }
}

impl Detector for EifelTimestamps {
    fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Idle)
    }

    fn observe(&mut self, fact: &Fact<'_>, _: &View) -> Judgement {
        match fact {
            // RFC 3522, section 3.2, step 2: of the retransmission that opens the loss recovery, and of no later one.
            // [rfc3522:3.2.a] [rfc3522:3.2.2]
            Fact::Retransmitted { transmission, stamp, original, opens, .. } => {
                if *opens {
                    self.stage = match stamp {
                        _ if self.forged >= MOST_CONTRADICTIONS => Stage::Idle,
                        Some(stamp) => {
                            Stage::Waiting { retransmit_ts: *stamp, original: *original, start: transmission.start }
                        }
                        None => Stage::Idle,
                    };
                }
                Judgement::Undecided
            }
            Fact::Acked(acked) => {
                let judgement = self.judge(acked);
                self.note(acked.dsacks);
                judgement
            }
            Fact::ForgedEcho => self.contradicted(),
            Fact::NotProbed(_) => Judgement::Undecided,
        }
    }
}
