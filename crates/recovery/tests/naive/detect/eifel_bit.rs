//! Ludwig, chapter 5, section 5.2.1: as with timestamps, with a bit that says whether an original or a retransmission is
//! answered.

use eifel_recovery::fact::{Acked, Mark};
use eifel_recovery::registry::Choice;

use super::world::{Again, Seen};
use super::{Answer, Naive, compare};

/// The first retransmission of the episode, and the first position unsent then.
struct Bit(Option<(u64, u64)>);

impl Naive for Bit {
    fn sent_again(&mut self, again: &Again, seen: &Seen) {
        if again.opens {
            self.0 = Some((again.start(), seen.nxt));
        }
    }

    /// The first ACK that acknowledges the retransmission. Not the thesis's: one for data sent since tells of no original.
    fn acked(&mut self, acked: &Acked, _: &Seen) -> Answer {
        let Some((_, nxt)) = self.0.filter(|&(start, _)| acked.cumulative > start) else { return Answer::Undecided };
        self.0 = None;
        if acked.mark == Some(Mark::Original) && acked.cumulative <= nxt { Answer::Spurious } else { Answer::Genuine }
    }
}

#[test]
fn eifel_bit_is_the_thesis_s() {
    compare(&Choice::named("eifel-bit"), &|_| Box::new(Bit(None)));
}
