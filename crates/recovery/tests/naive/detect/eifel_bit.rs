//! Ludwig, chapter 5, section 5.2.1: as with timestamps, with a bit that says whether an original or a retransmission is
//! answered.

use eifel_recovery::fact::{Acked, Mark};
use eifel_recovery::registry::Choice;

use super::world::{Again, Seen};
use super::{Answer, Naive, compare};

#[derive(Default)]
struct Bit {
    /// The first retransmission of the episode, and the first position unsent then.
    asked: Option<(u64, u64)>,
    /// What was unsent when a retransmission left of which the peer said that its original had arrived, of every such one;
    /// and whether the peer has answered a retransmission before it acknowledged what was unsent.
    claims: Vec<(u64, Option<bool>)>,
}

impl Bit {
    /// Not the thesis's: three claims in a row that nothing bears out, and nothing is believed any more.
    fn is_liar(&self) -> bool {
        self.claims.len() >= 3 && self.claims[self.claims.len() - 3..].iter().all(|claim| claim.1 == Some(false))
    }
}

impl Naive for Bit {
    fn sent_again(&mut self, again: &Again, seen: &Seen) {
        if again.opens && !self.is_liar() {
            self.asked = Some((again.start(), seen.nxt));
        }
    }

    /// The first ACK that acknowledges the retransmission. Not the thesis's: one for data sent since, or that reports such data, tells of no
    /// original.
    fn acked(&mut self, acked: &Acked, _: &Seen) -> Answer {
        if self.is_liar() {
            return Answer::Undecided;
        }
        if let Some((nxt, answer @ None)) = self.claims.last_mut() {
            let answers = acked.mark == Some(Mark::Retransmission);
            if answers || acked.cumulative > *nxt {
                *answer = Some(answers);
            }
        }
        if self.is_liar() {
            self.asked = None;
            return Answer::Genuine;
        }
        let Some((_, nxt)) = self.asked.filter(|&(start, _)| acked.cumulative > start) else {
            return Answer::Undecided;
        };
        self.asked = None;
        let since = acked.cumulative > nxt || acked.sacked_up_to > nxt;
        if acked.mark != Some(Mark::Original) || since {
            return Answer::Genuine;
        }
        // A claim that is still open is forgotten for the newer one.
        self.claims.retain(|claim| claim.1.is_some());
        self.claims.push((nxt, None));
        Answer::Spurious
    }
}

#[test]
fn eifel_bit_is_the_thesis_s() {
    compare(&Choice::named("eifel-bit"), &|_| Box::new(Bit::default()));
}
