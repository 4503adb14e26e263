//! "Responding to Spurious Timeouts in TCP", section II.C: the time from a timeout's retransmission
//! to the ACK for it, against the smallest round trip; or against half of SRTT, as in 4.4BSD's
//! descendants.

use eifel_recovery::fact::{Acked, Cause};
use eifel_recovery::registry::{Choice, Value};

use super::world::{Again, Seen};
use super::{Answer, Naive, compare};

struct TooSoon {
    half_srtt: bool,
    /// The measured retransmission: its start, its send time, and the limit below which an ACK is
    /// too soon.
    measured: Option<(u64, u64, u64)>,
}

impl Naive for TooSoon {
    fn sent_again(&mut self, again: &Again, seen: &Seen) {
        self.measured = None;
        // If a segment is retransmitted twice, its ACK does not show which retransmission it
        // answers.
        if again.opens && again.cause == Cause::Timeout {
            let limit = if self.half_srtt { seen.srtt.map(|srtt| srtt / 2) } else { seen.minimum };
            self.measured = limit.map(|limit| (again.start(), seen.now, limit));
        }
    }

    fn acked(&mut self, acked: &Acked, seen: &Seen) -> Answer {
        let Some((_, sent_at, limit)) = self.measured.filter(|&(start, ..)| acked.cumulative > start) else {
            return Answer::Undecided;
        };
        self.measured = None;
        let t = seen.now - sent_at;
        if t < limit { Answer::Spurious } else { Answer::Genuine }
    }
}

#[test]
fn min_rtt_agrees_with_a_model_of_the_paper() {
    for (word, half_srtt) in [("minimum", false), ("half-srtt", true)] {
        let choice = Choice::named("min-rtt").with("limit", Value::Word(word.into()));
        compare(&choice, &|_| Box::new(TooSoon { half_srtt, measured: None }));
    }
}
