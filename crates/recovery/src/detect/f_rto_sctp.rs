//! *Looks at* the SACKs after a timeout's retransmission. After up to two packets of new chunks it
//! looks at the chunks that they newly acknowledge.
//! *Decides* spurious when a SACK after the new chunks newly acknowledges a chunk that was sent
//! once, before the timeout, and none of the new ones.
//! *Blind to* everything when there is no new data or no room for it, when new data takes another
//! path, and in fast retransmits. If the path has failed, the other retransmissions wait until the
//! timer of the new chunks expires.
//! *From* RFC 5682, section 3.1, which leaves SCTP open. A retransmission bundles several chunks,
//! so the detector checks each chunk on its own for a retransmission.

use super::rto_recovery::{RtoRecovery, SackStep as Step, Step1, without_probe};
use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Fact};
use crate::registry::Entry;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "f-rto-sctp",
    summary: "new data after the first SACK that advances, and chunks that left once are acknowledged before them",
    source: "RFC 5682, section 3, applied to SCTP",
    probes: true,
    ..Entry::detector(|_| Box::new(FRtoSctp::default()))
};

/// Forward RTO-Recovery over chunks.
#[derive(Clone, Debug, Default)]
pub struct FRtoSctp {
    step: Step,
    recovery: RtoRecovery,
    /// The newest cumulative TSN.
    cumulative: u64,
}

impl FRtoSctp {
    /// Step 2.
    fn on_first(&mut self, acked: &Acked, advances: bool, view: &View) -> Judgement {
        if !advances {
            return Judgement::Undecided;
        }
        let judgement;
        (self.step, judgement) = self.recovery.on_first_advance(acked, view);
        judgement
    }

    /// Step 3.
    fn on_second(&mut self, acked: &Acked, advances: bool, recovery_point: u64) -> Judgement {
        let originals = acked.originals.unwrap_or(0);
        if acked.cumulative > recovery_point || acked.sacked_up_to > recovery_point {
            self.step = Step::Idle;
            return Judgement::Settled(Outcome::Genuine, "the new data are reported before what was outstanding");
        }
        if originals > 0 {
            self.step = Step::Idle;
            self.recovery.point = None;
            return Judgement::Settled(Outcome::Spurious, "what was outstanding arrives before the new data");
        }
        if !advances && !acked.dsacks.is_empty() {
            self.step = Step::Idle;
            return Judgement::Settled(Outcome::Genuine, "a SACK without news answers the new data");
        }
        // The SACK reports nothing new, or only chunks of which two copies were sent.
        Judgement::Probe
    }
}

impl Detector for FRtoSctp {
    fn is_idle(&self) -> bool {
        matches!(self.step, Step::Idle)
    }

    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { transmission, opens, .. } => {
                match self.recovery.on_retransmission(transmission, *opens, view) {
                    Step1::Ignored => {}
                    Step1::Enter => {
                        // While idle, the detector may not have seen all SACKs.
                        self.cumulative = view.una;
                        self.step = Step::First;
                    }
                    Step1::Conventional => self.step = Step::Idle,
                }
                Judgement::Undecided
            }
            Fact::Acked(acked) => {
                let advances = acked.cumulative > self.cumulative;
                self.cumulative = acked.cumulative;
                match self.step {
                    Step::Idle => Judgement::Undecided,
                    Step::First => self.on_first(acked, advances, view),
                    Step::Second { recovery_point } => self.on_second(acked, advances, recovery_point),
                }
            }
            Fact::NotProbed(refusal) => {
                self.step = Step::Idle;
                without_probe(*refusal)
            }
        }
    }
}
