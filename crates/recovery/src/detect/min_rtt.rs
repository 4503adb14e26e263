//! *Looks at* the time from a timeout's retransmission to the ACK that covers it.
//! *Decides* spurious when that is less than the round trip can be: the ACK was under way already.
//! *Blind to* an original that arrives later than that after its retransmission, as the second and further expiries make
//! it; to a path that has become faster; and to fast retransmits.
//! *From* "Responding to Spurious Timeouts in TCP", section II.C (the minimum RTT); 4.4BSD's descendants (SRTT / 2).

use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Cause, Fact, Kind};
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// What an ACK has to be sooner than.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The smallest round trip measured so far.
    Minimum,
    /// Half of SRTT at the timeout, as t_badrxtwin has it.
    HalfSrtt,
}

/// Detection by an ACK that comes too soon.
#[derive(Clone, Debug)]
pub struct MinRtt {
    limit: Limit,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    Idle,
    /// An ACK for `start` before this instant was caused by the original.
    Waiting {
        start: u64,
        before: Instant,
    },
}

impl MinRtt {
    /// Compares with this limit.
    pub fn new(limit: Limit) -> Self {
        Self { limit, stage: Stage::Idle }
    }

    fn judge(&mut self, acked: &Acked, now: Instant) -> Judgement {
        let Stage::Waiting { start, before } = self.stage else { return Judgement::Undecided };
        if acked.cumulative <= start {
            return Judgement::Undecided;
        }
        self.stage = Stage::Idle;
        if now < before {
            Judgement::Settled(Outcome::Spurious, "the ACK comes sooner than a round trip")
        } else {
            Judgement::Settled(Outcome::Genuine, "the ACK comes as late as the retransmission's can")
        }
    }
}

impl Detector for MinRtt {
    fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Idle)
    }

    #[inline]
    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { transmission, opens, .. } => {
                let limit: Option<Duration> = match self.limit {
                    Limit::Minimum => view.round_trips.minimum(),
                    Limit::HalfSrtt => view.round_trips.smoothed().map(|srtt| srtt / 2),
                };
                let asks = *opens && transmission.kind == Kind::Retransmission(Cause::Timeout);
                self.stage = match limit {
                    Some(limit) if asks => Stage::Waiting { start: transmission.start, before: view.now + limit },
                    // Sent once more: the ACK may be the first retransmission's.
                    _ => Stage::Idle,
                };
                Judgement::Undecided
            }
            Fact::Acked(acked) => self.judge(acked, view.now),
            Fact::NotProbed(_) | Fact::ForgedEcho => Judgement::Undecided,
        }
    }
}
