//! *Looks at* the ACKs after a timeout's retransmission. After up to two new segments it looks at
//! their SACK blocks.
//! *Decides* spurious when an ACK after the new data reports data below the recovery point for the
//! first time, and no data above it.
//! *Blind to* everything without SACK, in fast retransmits, and when there is no new data or no
//! room for it. It is also blind when new data overtakes the delayed data. The loss signal then
//! stands.
//! *From* RFC 5682, section 3.1.

use super::rto_recovery::{Form, RtoRecovery};
use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Fact};
use crate::registry::{Entry, Need};
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "f-rto-sack",
    summary: "after new data, SACK reports data that was outstanding, and none of the new data",
    source: "RFC 5682, section 3",
    needs: Some(Need::Sack),
    probes: true,
    ..Entry::detector(|_| Box::new(FRtoSack::default()))
};

/// Forward RTO-Recovery with SACK.
#[derive(Clone, Debug, Default)]
pub struct FRtoSack {
    recovery: RtoRecovery,
}

impl Form for FRtoSack {
    fn recovery(&mut self) -> &mut RtoRecovery {
        &mut self.recovery
    }

    fn begin(&mut self, view: &View) -> bool {
        view.sack
    }

    /// Duplicate ACKs only update the scoreboard.
    fn on_first(&mut self, acked: &Acked<'_>, _: u64, view: &View) -> Judgement {
        if acked.bytes == 0 {
            return Judgement::Undecided;
        }
        self.recovery.on_first_advance(acked, view)
    }

    fn on_second(&mut self, acked: &Acked<'_>, recovery_point: u64) -> Judgement {
        let news = acked.bytes > 0 || acked.sacked > 0;
        if !news && !acked.duplicate && acked.dsacks.is_empty() {
            return Judgement::Probe;
        }
        if acked.cumulative > recovery_point || acked.sacked_up_to > recovery_point {
            return Judgement::Settled(Outcome::Genuine, "the new data are reported before what was outstanding");
        }
        // The timeout emptied the scoreboard. So next to a DSACK, old blocks look new.
        if !news || acked.bytes == 0 && !acked.dsacks.is_empty() {
            return Judgement::Settled(Outcome::Genuine, "a duplicate ACK without news answers the new data");
        }
        self.recovery.point = None;
        Judgement::Settled(Outcome::Spurious, "what was outstanding arrives before the new data")
    }
}

impl Detector for FRtoSack {
    fn is_idle(&self) -> bool {
        self.recovery.is_idle()
    }

    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        self.step(fact, view)
    }
}
