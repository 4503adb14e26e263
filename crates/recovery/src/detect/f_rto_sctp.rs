//! *Looks at* the SACKs after a timeout's retransmission. After up to two packets of new chunks it
//! looks at the chunks that they newly acknowledge.
//! *Decides* spurious when a SACK after the new chunks newly acknowledges a chunk that was sent
//! once, before the timeout, and none of the new ones.
//! *Blind to* everything when there is no new data or no room for it, when new data takes another
//! path, and in fast retransmits. If the path has failed, the other retransmissions wait until the
//! timer of the new chunks expires.
//! *From* RFC 5682, section 3.1, which leaves SCTP open. A retransmission bundles several chunks,
//! so the detector checks each chunk on its own for a retransmission.

use super::rto_recovery::{Form, RtoRecovery};
use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Fact};
use crate::registry::Entry;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "f-rto-sctp",
    summary: "after new data, a SACK acknowledges chunks that were sent once, and none of the new ones",
    source: "RFC 5682, section 3, applied to SCTP",
    probes: true,
    ..Entry::detector(|_| Box::new(FRtoSctp::default()))
};

/// Forward RTO-Recovery over chunks.
#[derive(Clone, Debug, Default)]
pub struct FRtoSctp {
    recovery: RtoRecovery,
    /// The newest cumulative TSN.
    cumulative: u64,
}

impl FRtoSctp {
    /// Records the cumulative TSN of an ACK. Returns whether it advances.
    fn advances(&mut self, acked: &Acked<'_>) -> bool {
        core::mem::replace(&mut self.cumulative, acked.cumulative) < acked.cumulative
    }
}

impl Form for FRtoSctp {
    fn recovery(&mut self) -> &mut RtoRecovery {
        &mut self.recovery
    }

    fn begin(&mut self, view: &View) -> bool {
        // While idle, the detector may not have seen all SACKs.
        self.cumulative = view.una;
        true
    }

    fn on_first(&mut self, acked: &Acked<'_>, _: u64, view: &View) -> Judgement {
        if !self.advances(acked) {
            return Judgement::Undecided;
        }
        self.recovery.on_first_advance(acked, view)
    }

    fn on_second(&mut self, acked: &Acked<'_>, recovery_point: u64) -> Judgement {
        let advances = self.advances(acked);
        if acked.cumulative > recovery_point || acked.sacked_up_to > recovery_point {
            return Judgement::Settled(Outcome::Genuine, "the new data are reported before what was outstanding");
        }
        if acked.originals.is_some_and(|originals| originals > 0) {
            self.recovery.point = None;
            return Judgement::Settled(Outcome::Spurious, "what was outstanding arrives before the new data");
        }
        if !advances && !acked.dsacks.is_empty() {
            return Judgement::Settled(Outcome::Genuine, "a SACK without news answers the new data");
        }
        // The SACK reports nothing new, or only chunks of which two copies were sent.
        Judgement::Probe
    }
}

impl Detector for FRtoSctp {
    fn is_idle(&self) -> bool {
        self.recovery.is_idle()
    }

    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        self.step(fact, view)
    }
}
