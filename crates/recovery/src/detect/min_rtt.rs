//! *Looks at* the time from a timeout's retransmission to the ACK that covers it.
//! *Decides* spurious when that time is less than any round trip: the ACK was already on its way.
//! *Blind to* fast retransmits, and to a path that has become faster. It also misses an original
//! that arrives more than a round trip after its retransmission, as with a second or further
//! expiry.
//! *From* "Responding to Spurious Timeouts in TCP", section II.C (the minimum RTT); 4.4BSD's
//! descendants (SRTT / 2).

use super::{Detector, Judgement, Outcome};
use crate::fact::{Acked, Cause, Fact, Kind};
use crate::registry::{Entry, Parameter, RESPONDING, Weakness};
use crate::view::View;
use eifel_base::time::Instant;

pub(super) const ENTRY: Entry = Entry {
    name: "min-rtt",
    summary: "the ACK follows the retransmission sooner than a round trip",
    source: RESPONDING,
    parameters: &[Parameter::word(
        "limit",
        "the limit that the ACK must beat: the smallest round trip, or half of SRTT as in the BSDs",
        "minimum",
        &["minimum", "half-srtt"],
    )],
    // If round trips become shorter, it judges genuine timeouts spurious. Then sending continues
    // with new data, and each lost segment waits for a timeout of its own.
    weakness: Some(Weakness::ATimeoutASegment),
    ..Entry::detector(|parameters| {
        Box::new(MinRtt::new(parameters.word("limit", &[("minimum", Limit::Minimum), ("half-srtt", Limit::HalfSrtt)])))
    })
};

/// The time within which an ACK counts as caused by the original.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The smallest round trip measured so far.
    Minimum,
    /// Half of SRTT at the timeout, like t_badrxtwin.
    HalfSrtt,
}

/// Detection by an ACK that arrives too soon.
#[derive(Clone, Debug)]
pub struct MinRtt {
    limit: Limit,
    waiting: Option<Waiting>,
}

/// An ACK for `start` before this instant was caused by the original.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    start: u64,
    before: Instant,
}

impl MinRtt {
    /// Creates a detector that compares with this limit.
    pub fn new(limit: Limit) -> Self {
        Self { limit, waiting: None }
    }

    fn judge(&mut self, acked: &Acked, now: Instant) -> Judgement {
        let Some(Waiting { before, .. }) = self.waiting.take_if(|waiting| acked.cumulative > waiting.start) else {
            return Judgement::Undecided;
        };
        if now < before {
            Judgement::Settled(Outcome::Spurious, "the ACK comes sooner than a round trip")
        } else {
            Judgement::Settled(Outcome::Genuine, "the ACK comes as late as the retransmission's can")
        }
    }
}

impl Detector for MinRtt {
    fn is_idle(&self) -> bool {
        self.waiting.is_none()
    }

    #[inline]
    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        match fact {
            Fact::Retransmitted { transmission, opens, .. } => {
                let limit = match self.limit {
                    Limit::Minimum => view.round_trips.minimum(),
                    Limit::HalfSrtt => view.round_trips.smoothed().map(|srtt| srtt / 2),
                };
                // After a further retransmission, the ACK may answer the first one.
                let begins = *opens && transmission.kind == Kind::Retransmission(Cause::Timeout);
                let waiting = limit.map(|limit| Waiting { start: transmission.start, before: view.now + limit });
                self.waiting = waiting.filter(|_| begins);
                Judgement::Undecided
            }
            Fact::Acked(acked) => self.judge(acked, view.now),
            Fact::NotProbed(_) => Judgement::Undecided,
        }
    }
}
