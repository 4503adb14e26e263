//! *Looks at* the first two ACKs after a timeout's retransmission. Up to two new segments are sent
//! between them.
//! *Decides* spurious when both ACKs advance: the second one acknowledges data that was not
//! retransmitted.
//! *Blind to* everything in fast retransmits, and when there is no new data or no room for it. It
//! is also blind when the first ACK is a duplicate (reordering) or covers all outstanding data. The
//! loss signal then stands.
//! *From* RFC 5682, section 2.1.

use super::rto_recovery::{Form, RtoRecovery};
use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Fact};
use crate::registry::Entry;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "f-rto",
    summary: "after new data, the second ACK advances too",
    source: "RFC 5682, section 2",
    probes: true,
    ..Entry::detector(|_| Box::new(FRto::default()))
};

/// Forward RTO-Recovery, the basic algorithm.
#[derive(Clone, Debug, Default)]
pub struct FRto {
    recovery: RtoRecovery,
}

impl Form for FRto {
    fn recovery(&mut self) -> &mut RtoRecovery {
        &mut self.recovery
    }

    fn on_first(&mut self, acked: &Acked<'_>, end: u64, view: &View) -> Judgement {
        if acked.bytes == 0 && !acked.duplicate {
            return Judgement::Undecided;
        }
        self.recovery.point = Some(view.nxt);
        if acked.duplicate {
            return Judgement::Settled(Outcome::Genuine, "the first ACK after the timeout is a duplicate");
        }
        if acked.cumulative < end {
            return Judgement::Settled(Outcome::Genuine, "the first ACK covers a part of the retransmission");
        }
        if acked.all {
            return Judgement::Settled(Outcome::Genuine, "the first ACK covers everything outstanding");
        }
        Judgement::Probe
    }

    fn on_second(&mut self, acked: &Acked<'_>, _: u64) -> Judgement {
        if acked.bytes == 0 && !acked.duplicate {
            return Judgement::Probe;
        }
        if acked.duplicate {
            return Judgement::Settled(Outcome::Genuine, "a duplicate ACK answers the new data");
        }
        self.recovery.point = None;
        Judgement::Settled(Outcome::Spurious, "the second ACK covers what was not sent again")
    }
}

impl Detector for FRto {
    fn is_idle(&self) -> bool {
        self.recovery.is_idle()
    }

    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        self.step(fact, view)
    }
}
