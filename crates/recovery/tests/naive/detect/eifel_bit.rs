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
    /// One entry for each claim of the peer that an original had arrived. It has the first position
    /// that was unsent at the retransmission, and whether the peer answered a retransmission before
    /// it acknowledged that position.
    claims: Vec<(u64, Option<bool>)>,
}

impl Bit {
    /// Returns whether three claims in a row were never confirmed, so the peer is no longer
    /// trusted. Not in the thesis.
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

    /// Judges the first ACK that acknowledges the retransmission. Not in the thesis: an ACK that
    /// acknowledges or reports data sent since is no evidence of an original.
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
        // The newer claim replaces a claim that is still open.
        self.claims.retain(|claim| claim.1.is_some());
        self.claims.push((nxt, None));
        Answer::Spurious
    }
}

#[test]
fn eifel_bit_agrees_with_a_model_of_the_thesis() {
    compare(&Choice::named("eifel-bit"), &|_| Box::new(Bit::default()));
}
