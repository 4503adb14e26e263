//! *Looks at* the first two ACKs after a timeout's retransmission. Up to two new segments are sent
//! between them.
//! *Decides* spurious when both ACKs advance: the second one acknowledges data that was not
//! retransmitted.
//! *Blind to* everything in fast retransmits, and when there is no new data or no room for it. It
//! is also blind when the first ACK is a duplicate (reordering) or covers all outstanding data. The
//! loss signal then stands.
//! *From* RFC 5682, section 2.1.

use super::rto_recovery::{RtoRecovery, Step1, without_probe};
use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Fact};
use crate::registry::Entry;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "f-rto",
    summary: "new data after the first ACK, and the second ACK advances",
    source: "RFC 5682, section 2",
    probes: true,
    ..Entry::detector(|_| Box::new(FRto::default()))
};

/// Forward RTO-Recovery, the basic algorithm.
#[derive(Clone, Debug, Default)]
pub struct FRto {
    step: Step,
    recovery: RtoRecovery,
}

#[derive(Clone, Debug, Default)]
enum Step {
    #[default]
    Idle,
    /// Step 2 waits for the first ACK after the retransmission, which ends at `end`.
    First { end: u64 },
    /// Step 3 has asked for new data.
    Second,
}

impl FRto {
    /// Step 2.
    fn on_first(&mut self, acked: &Acked, end: u64, view: &View) -> Judgement {
        if acked.bytes == 0 && !acked.duplicate {
            return Judgement::Undecided;
        }
        self.recovery.point = Some(view.nxt);
        self.step = Step::Idle;
        if acked.duplicate {
            return Judgement::Settled(Outcome::Genuine, "the first ACK after the timeout is a duplicate");
        }
        if acked.cumulative < end {
            return Judgement::Settled(Outcome::Genuine, "the first ACK covers a part of the retransmission");
        }
        if acked.all {
            return Judgement::Settled(Outcome::Genuine, "the first ACK covers everything outstanding");
        }
        self.step = Step::Second;
        Judgement::Probe
    }

    /// Step 3.
    fn on_second(&mut self, acked: &Acked) -> Judgement {
        if acked.bytes == 0 && !acked.duplicate {
            return Judgement::Probe;
        }
        self.step = Step::Idle;
        if acked.duplicate {
            return Judgement::Settled(Outcome::Genuine, "a duplicate ACK answers the new data");
        }
        self.recovery.point = None;
        Judgement::Settled(Outcome::Spurious, "the second ACK covers what was not sent again")
    }
}

impl Detector for FRto {
    fn is_idle(&self) -> bool {
        matches!(self.step, Step::Idle)
    }

    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match (fact, &self.step) {
            (Fact::Retransmitted { transmission, opens, .. }, _) => {
                match self.recovery.on_retransmission(transmission, *opens, view) {
                    Step1::Ignored => {}
                    Step1::Conventional => self.step = Step::Idle,
                    Step1::Enter => {
                        self.step = Step::First { end: transmission.positions().end };
                    }
                }
                Judgement::Undecided
            }
            (Fact::Acked(_), Step::Idle) => Judgement::Undecided,
            (Fact::Acked(acked), &Step::First { end }) => self.on_first(acked, end, view),
            (Fact::Acked(acked), Step::Second) => self.on_second(acked),
            (Fact::NotProbed(refusal), _) => {
                self.step = Step::Idle;
                without_probe(*refusal)
            }
        }
    }
}
