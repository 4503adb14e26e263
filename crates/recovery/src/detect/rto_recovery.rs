//! The common parts of all forms of F-RTO (RFC 5682): which retransmission starts it, which ACK
//! each step waits for, and how it ends without a probe.

use super::{Judgement, Outcome};
use crate::fact::{Acked, Cause, Fact, Kind, Refusal, Transmission};
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
enum Step1 {
    /// Nothing: the retransmission belongs to the current recovery.
    Ignored,
    /// Conventional recovery repairs this loss.
    Conventional,
    /// The timer has expired for the oldest segment: step 2 follows.
    Enter,
}

/// One form of F-RTO: what its steps ask of an ACK.
pub(super) trait Form {
    fn recovery(&mut self) -> &mut RtoRecovery;
    /// Returns whether this form applies to a timeout now.
    fn begin(&mut self, _: &View) -> bool {
        true
    }
    /// Step 2: judges an ACK after the retransmission that ends at `end`.
    fn on_first(&mut self, acked: &Acked<'_>, end: u64, view: &View) -> Judgement;
    /// Step 3: judges an ACK after the new data, which begins at `recovery_point`.
    fn on_second(&mut self, acked: &Acked<'_>, recovery_point: u64) -> Judgement;

    /// Passes a fact to the current step. A judgement that settles ends the algorithm, and a probe
    /// leads to step 3.
    fn step(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        let step = self.recovery().step;
        let judgement = match (fact, step) {
            (Fact::Retransmitted { transmission, opens, .. }, _) => {
                self.recovery().step = match self.recovery().on_retransmission(transmission, *opens, view) {
                    Step1::Ignored => step,
                    Step1::Enter if self.begin(view) => Step::First { end: transmission.positions().end },
                    Step1::Enter | Step1::Conventional => Step::Idle,
                };
                return Judgement::Undecided;
            }
            (Fact::Acked(_), Step::Idle) => return Judgement::Undecided,
            (Fact::Acked(acked), Step::First { end }) => self.on_first(acked, end, view),
            (Fact::Acked(acked), Step::Second { recovery_point }) => self.on_second(acked, recovery_point),
            (Fact::NotProbed(refusal), _) => {
                self.recovery().step = Step::Idle;
                return without_probe(*refusal);
            }
        };
        self.recovery().step = match (judgement, step) {
            (Judgement::Settled(..), _) => Step::Idle,
            (Judgement::Probe, Step::First { .. }) => Step::Second { recovery_point: view.nxt },
            _ => step,
        };
        judgement
    }
}

/// The progress of F-RTO.
#[derive(Clone, Copy, Debug, Default)]
enum Step {
    #[default]
    Idle,
    /// Step 2 waits for the first ACK after the retransmission, which ends at `end`.
    First { end: u64 },
    /// Step 3 has asked for new data, from this position on.
    Second { recovery_point: u64 },
}

/// The current step, and the loss recovery that F-RTO must not disturb.
#[derive(Clone, Debug, Default)]
pub(super) struct RtoRecovery {
    step: Step,
    /// RFC 5682's recover or RecoveryPoint, exclusive; `None` unless conventional recovery from a
    /// timeout, or fast recovery, may be in progress.
    pub(super) point: Option<u64>,
    /// Start of the episode's first retransmission. If it is retransmitted once more, its timer has
    /// expired again.
    first: u64,
}

impl RtoRecovery {
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.step, Step::Idle)
    }

    /// Processes a retransmission, and returns its meaning.
    fn on_retransmission(&mut self, transmission: &Transmission, opens: bool, view: &View) -> Step1 {
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
    pub(super) fn on_first_advance(&mut self, acked: &Acked<'_>, view: &View) -> Judgement {
        self.point = Some(view.nxt);
        if acked.all {
            return Judgement::Settled(Outcome::Genuine, "the first ACK covers everything outstanding");
        }
        Judgement::Probe
    }
}
