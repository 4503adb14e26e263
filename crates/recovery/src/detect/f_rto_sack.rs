//! *Looks at* the ACKs after a timeout's retransmission, and after up to two new segments at their SACK blocks.
//! *Decides* spurious when, after the new data, something below the recovery point is reported for the first time and
//! nothing above it.
//! *Blind to* everything when there is no new data or no room for it, and where the new data overtake the delayed ones;
//! then, without SACK, and in fast retransmits, it leaves the loss signal to stand.
//! *From* RFC 5682, section 3.1.

use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Cause, Fact, Kind, Refusal, Transmission};
use crate::view::View;

/// Forward RTO-Recovery with SACK.
#[derive(Clone, Debug, Default)]
pub struct FRtoSack {
    stage: Stage,
    /// RFC 5682's RecoveryPoint, exclusive, as long as conventional recovery from a timeout may be under way.
    recovery_point: Option<u64>,
    /// What the retransmission that opened the episode begins with: sent once more, its timer has expired again.
    first: u64,
}

#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Idle,
    /// Step 2: waits for the first ACK that advances.
    First,
    /// Step 3: new data, from this position on, has been asked for.
    Second { recovery_point: u64 },
}

impl FRtoSack {
    /// Step 1.
    fn on_retransmission(&mut self, transmission: &Transmission, opens: bool, view: &View) {
        if opens {
            (self.stage, self.first) = (Stage::Idle, transmission.start);
        } else if transmission.start != self.first {
            return;
        }
        if transmission.kind != Kind::Retransmission(Cause::Timeout) || !view.sack {
            return;
        }
        if self.recovery_point.is_some_and(|point| point > view.una) {
            // Its ACKs could be those of the go-back-N that is under way.
            (self.stage, self.recovery_point) = (Stage::Idle, Some(view.nxt));
        } else {
            self.stage = Stage::First;
        }
    }

    /// Step 2; duplicate ACKs only tell the scoreboard.
    fn on_first(&mut self, acked: &Acked, view: &View) -> Judgement {
        if acked.bytes == 0 {
            return Judgement::Undecided;
        }
        self.recovery_point = Some(view.nxt);
        if acked.all {
            self.stage = Stage::Idle;
            return Judgement::Settled(Outcome::Genuine, "the first ACK covers everything outstanding");
        }
        self.stage = Stage::Second { recovery_point: view.nxt };
        Judgement::Probe
    }

    /// Step 3.
    fn on_second(&mut self, acked: &Acked, recovery_point: u64) -> Judgement {
        let news = acked.bytes > 0 || acked.sacked > 0;
        if !news && !acked.duplicate && acked.dsacks.is_empty() {
            return Judgement::Probe;
        }
        self.stage = Stage::Idle;
        if acked.cumulative > recovery_point || acked.sacked_up_to > recovery_point {
            return Judgement::Settled(Outcome::Genuine, "the new data are reported before what was outstanding");
        }
        // After the timeout the scoreboard forgot what had been reported: beside a DSACK old blocks look new.
        if !news || acked.bytes == 0 && !acked.dsacks.is_empty() {
            return Judgement::Settled(Outcome::Genuine, "a duplicate ACK without news answers the new data");
        }
        self.recovery_point = None;
        Judgement::Settled(Outcome::Spurious, "what was outstanding arrives before the new data")
    }
}

impl Detector for FRtoSack {
    fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Idle)
    }

    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match (fact, &self.stage) {
            (Fact::Retransmitted { transmission, opens, .. }, _) => {
                self.on_retransmission(transmission, *opens, view);
                Judgement::Undecided
            }
            (Fact::ForgedEcho, _) | (Fact::Acked(_), Stage::Idle) => Judgement::Undecided,
            (Fact::Acked(acked), Stage::First) => self.on_first(acked, view),
            (Fact::Acked(acked), &Stage::Second { recovery_point }) => self.on_second(acked, recovery_point),
            (Fact::NotProbed(refusal), _) => {
                self.stage = Stage::Idle;
                match refusal {
                    Refusal::NothingNew => Judgement::Settled(Outcome::Genuine, "there is no new data to send"),
                    Refusal::Watches => Judgement::Undecided,
                }
            }
        }
    }
}
