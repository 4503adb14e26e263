//! *Looks at* the first two ACKs after a timeout's retransmission, the second of them after up to two new segments.
//! *Decides* spurious when both advance: the second acknowledges what was not sent again.
//! *Blind to* everything when there is no new data or no room for it, when the first ACK is a duplicate (reordering), or
//! covers all that is outstanding; then, and in fast retransmits, it leaves the loss signal to stand.
//! *From* RFC 5682, section 2.1.

use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Cause, Fact, Kind, Refusal, Transmission};
use crate::view::View;

/// Forward RTO-Recovery, the basic algorithm.
#[derive(Clone, Debug, Default)]
pub struct FRto {
    stage: Stage,
    /// RFC 5682's recover, exclusive, as long as conventional recovery from a timeout may be under way.
    recover: Option<u64>,
    /// What the retransmission that opened the episode begins with: sent once more, its timer has expired again.
    first: u64,
}

#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Idle,
    /// Step 2: waits for the first ACK after the retransmission, which ends at `end`.
    First { end: u64 },
    /// Step 3: new data has been asked for.
    Second,
}

impl FRto {
    /// Step 1.
    fn on_retransmission(&mut self, transmission: &Transmission, opens: bool, view: &View) {
        if opens {
            (self.stage, self.first) = (Stage::Idle, transmission.start);
        } else if transmission.start != self.first {
            return;
        }
        if transmission.kind != Kind::Retransmission(Cause::Timeout) {
            return;
        }
        if self.recover.is_some_and(|recover| recover > view.una) {
            // Its ACKs could be those of the go-back-N that is under way.
            (self.stage, self.recover) = (Stage::Idle, Some(view.nxt));
        } else {
            self.stage = Stage::First { end: transmission.start + u64::from(transmission.len) };
        }
    }

    /// Step 2.
    fn on_first(&mut self, acked: &Acked, end: u64, view: &View) -> Judgement {
        if acked.bytes == 0 && !acked.duplicate {
            return Judgement::Undecided;
        }
        self.recover = Some(view.nxt);
        self.stage = Stage::Idle;
        if acked.duplicate {
            return Judgement::Settled(Outcome::Genuine, "the first ACK after the timeout is a duplicate");
        }
        if acked.cumulative < end {
            return Judgement::Settled(Outcome::Genuine, "the first ACK covers a part of the retransmission");
        }
        if acked.all {
            return Judgement::Settled(Outcome::Genuine, "the first ACK covers everything outstanding");
        }
        self.stage = Stage::Second;
        Judgement::Probe
    }

    /// Step 3.
    fn on_second(&mut self, acked: &Acked) -> Judgement {
        if acked.bytes == 0 && !acked.duplicate {
            return Judgement::Probe;
        }
        self.stage = Stage::Idle;
        if acked.duplicate {
            return Judgement::Settled(Outcome::Genuine, "a duplicate ACK answers the new data");
        }
        self.recover = None;
        Judgement::Settled(Outcome::Spurious, "the second ACK covers what was not sent again")
    }
}

impl Detector for FRto {
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
            (Fact::Acked(acked), &Stage::First { end }) => self.on_first(acked, end, view),
            (Fact::Acked(acked), Stage::Second) => self.on_second(acked),
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
