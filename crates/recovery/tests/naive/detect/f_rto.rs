//! RFC 5682, section 2.1.

use eifel_recovery::fact::{Acked, Cause, Refusal};
use eifel_recovery::registry::Choice;

use super::world::{Again, Seen};
use super::{Answer, Naive, compare};

struct Basic {
    step: Step,
    /// The highest sequence number transmitted so far, at the time that the steps say.
    recover: Option<u64>,
}

enum Step {
    /// Outside of the algorithm: SpuriousRecovery does not change.
    Out,
    /// Waits for the first acknowledgment after the retransmission that ends at `end`.
    Two { end: u64 },
    /// Waits for the second one.
    Three,
}

impl Naive for Basic {
    /// Step 1.
    fn sent_again(&mut self, again: &Again, seen: &Seen) {
        if again.opens && again.cause == Cause::FastRetransmit {
            // Fast recovery lasts until everything sent is acknowledged. F-RTO must not be entered
            // before.
            self.recover = Some(seen.nxt - 1);
            // Loss recovery of another kind.
            self.step = Step::Out;
        }
        if !again.by_timer {
            return;
        }
        if self.recover.is_some_and(|recover| recover >= seen.una) {
            self.recover = Some(seen.nxt - 1);
            self.step = Step::Out;
        } else {
            self.step = Step::Two { end: again.end() };
        }
    }

    fn acked(&mut self, acked: &Acked, seen: &Seen) -> Answer {
        let advances = acked.bytes > 0;
        match self.step {
            Step::Out => Answer::Undecided,
            // Neither a duplicate nor an advance of the window: not the acknowledgment that step 2
            // waits for.
            Step::Two { .. } if !advances && !acked.duplicate => Answer::Undecided,
            Step::Two { end } => {
                let highest = seen.nxt - 1;
                self.recover = Some(highest);
                self.step = Step::Out;
                // 2a: a duplicate, an ACK of everything, or an ACK that does not cover the
                // retransmission.
                if acked.duplicate || acked.cumulative - 1 == highest || acked.cumulative < end {
                    return Answer::Genuine;
                }
                // 2b
                self.step = Step::Three;
                Answer::Probe
            }
            Step::Three if !advances && !acked.duplicate => Answer::Probe,
            Step::Three => {
                self.step = Step::Out;
                // 3a
                if acked.duplicate {
                    return Answer::Genuine;
                }
                // 3b. The RFC sets recover to SND.UNA, which keeps a later timeout that expires
                // twice from step 2. Here recover is cleared.
                self.recover = None;
                Answer::Spurious
            }
        }
    }

    /// 2b: without new data or room for it, step 3 is skipped.
    fn not_probed(&mut self, refusal: Refusal) -> Answer {
        self.step = Step::Out;
        if refusal == Refusal::NothingNew { Answer::Genuine } else { Answer::Undecided }
    }
}

#[test]
fn f_rto_agrees_with_a_model_of_rfc_5682() {
    compare(&Choice::named("f-rto"), &|_| Box::new(Basic { step: Step::Out, recover: None }));
}
