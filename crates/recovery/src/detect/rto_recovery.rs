//! What all forms of F-RTO (RFC 5682) share: which retransmission begins it, and how it ends without a probe.

use super::{Judgement, Outcome};
use crate::fact::{Acked, Cause, Kind, Refusal, Transmission};
use crate::view::View;

/// Returns the judgement where the probe was refused. A detector that only watches does not know what it would have shown.
pub(super) fn without_probe(refusal: Refusal) -> Judgement {
    match refusal {
        Refusal::NothingNew => Judgement::Settled(Outcome::Genuine, "there is no new data to send"),
        Refusal::Watches => Judgement::Undecided,
    }
}

/// The meaning of a retransmission to F-RTO.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step1 {
    /// Nothing: it belongs to the recovery that is under way.
    Ignored,
    /// Conventional recovery repairs this loss.
    Conventional,
    /// The timer has expired for the oldest segment: step 2 follows.
    Enter,
}

/// The loss recovery that F-RTO must not disturb.
#[derive(Clone, Debug, Default)]
pub(super) struct RtoRecovery {
    /// RFC 5682's recover or RecoveryPoint, exclusive, while conventional recovery from a timeout, or fast recovery, may be
    /// under way.
    pub(super) point: Option<u64>,
    /// Where the episode's first retransmission begins: if it is sent once more, its timer has expired again.
    first: u64,
}

impl RtoRecovery {
    /// Takes a retransmission in.
    pub(super) fn on_retransmission(&mut self, transmission: &Transmission, opens: bool, view: &View) -> Step1 {
        if opens {
            self.first = transmission.start;
        } else if transmission.start != self.first {
            return Step1::Ignored;
        }
        if transmission.kind != Kind::Retransmission(Cause::Timeout) {
            if !opens {
                return Step1::Ignored;
            }
            // F-RTO is not entered "when earlier fast recovery is underway".
            self.point = Some(view.nxt);
            return Step1::Conventional;
        }
        if self.point.is_some_and(|point| point > view.una) {
            // The ACKs to come may answer the go-back-N that is under way.
            self.point = Some(view.nxt);
            return Step1::Conventional;
        }
        Step1::Enter
    }

    /// Takes the first ACK that advances, in step 2 of the form with SACK. It asks for new data, unless it covers everything.
    pub(super) fn on_first_advance(&mut self, acked: &Acked, view: &View) -> (SackStep, Judgement) {
        self.point = Some(view.nxt);
        if acked.all {
            let covered = "the first ACK covers everything outstanding";
            return (SackStep::Idle, Judgement::Settled(Outcome::Genuine, covered));
        }
        (SackStep::Second { recovery_point: view.nxt }, Judgement::Probe)
    }
}

/// The progress of the form with SACK, over segments or over chunks.
#[derive(Clone, Debug, Default)]
pub(super) enum SackStep {
    #[default]
    Idle,
    /// Step 2 waits for the first ACK that advances.
    First,
    /// Step 3 has asked for new data, from this position on.
    Second { recovery_point: u64 },
}
