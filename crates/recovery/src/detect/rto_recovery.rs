//! The common parts of all forms of F-RTO (RFC 5682): which retransmission starts it, and how it
//! ends without a probe.

use super::{Judgement, Outcome};
use crate::fact::{Acked, Cause, Kind, Refusal, Transmission};
use crate::view::View;

/// Returns the judgement after the probe was refused. A detector that only watches does not know
/// the result that the probe would have had.
pub(super) fn without_probe(refusal: Refusal) -> Judgement {
    match refusal {
        Refusal::NothingNew => Judgement::Settled(Outcome::Genuine, "there is no new data to send"),
        Refusal::Watches => Judgement::Undecided,
    }
}

/// The meaning of a retransmission to F-RTO.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step1 {
    /// Nothing: the retransmission belongs to the current recovery.
    Ignored,
    /// Conventional recovery repairs this loss.
    Conventional,
    /// The timer has expired for the oldest segment: step 2 follows.
    Enter,
}

/// The loss recovery that F-RTO must not disturb.
#[derive(Clone, Debug, Default)]
pub(super) struct RtoRecovery {
    /// RFC 5682's recover or RecoveryPoint, exclusive; `None` unless conventional recovery from a
    /// timeout, or fast recovery, may be in progress.
    pub(super) point: Option<u64>,
    /// Start of the episode's first retransmission. If it is retransmitted once more, its timer has
    /// expired again.
    first: u64,
}

impl RtoRecovery {
    /// Processes a retransmission, and returns its meaning.
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
            // The next ACKs may answer the go-back-N that is in progress.
            self.point = Some(view.nxt);
            return Step1::Conventional;
        }
        Step1::Enter
    }

    /// Processes the first ACK that advances, in step 2 of the SACK-based form. Asks for new data,
    /// unless the ACK covers everything.
    pub(super) fn on_first_advance(&mut self, acked: &Acked, view: &View) -> (SackStep, Judgement) {
        self.point = Some(view.nxt);
        if acked.all {
            let covered = "the first ACK covers everything outstanding";
            return (SackStep::Idle, Judgement::Settled(Outcome::Genuine, covered));
        }
        (SackStep::Second { recovery_point: view.nxt }, Judgement::Probe)
    }
}

/// Progress of the SACK-based form, over segments or over chunks.
#[derive(Clone, Debug, Default)]
pub(super) enum SackStep {
    #[default]
    Idle,
    /// Step 2 waits for the first ACK that advances.
    First,
    /// Step 3 has asked for new data, from this position on.
    Second { recovery_point: u64 },
}
