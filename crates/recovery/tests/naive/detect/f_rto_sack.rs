//! RFC 5682, section 3.1.

use eifel_recovery::fact::{Acked, Cause, Refusal};
use eifel_recovery::registry::Choice;

use super::world::{Again, Seen};
use super::{Answer, Naive, compare};

#[derive(Default)]
pub(super) struct Sack {
    step: Step,
    recovery_point: Option<u64>,
}

#[derive(Default)]
enum Step {
    #[default]
    Out,
    Two,
    Three,
}

impl Sack {
    pub(super) fn is_in_progress(&self) -> bool {
        !matches!(self.step, Step::Out)
    }
}

impl Naive for Sack {
    /// Step 1.
    fn sent_again(&mut self, again: &Again, seen: &Seen) {
        if again.opens && again.cause == Cause::FastRetransmit {
            // Fast recovery lasts until everything sent is acknowledged. F-RTO must not be entered
            // before.
            self.recovery_point = Some(seen.nxt - 1);
            self.step = Step::Out;
        }
        if !again.by_timer || !seen.sack {
            return;
        }
        if self.recovery_point.is_some_and(|point| point >= seen.una) {
            self.recovery_point = Some(seen.nxt - 1);
            self.step = Step::Out;
        } else {
            self.step = Step::Two;
        }
    }

    fn acked(&mut self, acked: &Acked, seen: &Seen) -> Answer {
        match self.step {
            Step::Out => Answer::Undecided,
            // Duplicates only update the scoreboard.
            Step::Two if acked.bytes == 0 => Answer::Undecided,
            Step::Two => {
                let point = seen.nxt - 1;
                self.recovery_point = Some(point);
                // 2a: the ACK covers RecoveryPoint.
                if acked.cumulative > point {
                    self.step = Step::Out;
                    return Answer::Genuine;
                }
                // 2b
                self.step = Step::Three;
                Answer::Probe
            }
            Step::Three => {
                let news = acked.bytes > 0 || acked.sacked > 0;
                // A duplicate ACK, a new ACK, or one that only has a DSACK, which is no news
                // either. Other ACKs are ignored.
                if !news && !acked.duplicate && acked.dsacks.is_empty() {
                    return Answer::Probe;
                }
                self.step = Step::Out;
                let point = self.recovery_point.unwrap_or(0);
                // 3a: more than RecoveryPoint is covered, or there is nothing new.
                if acked.cumulative - 1 > point || acked.sacked_up_to > point + 1 || !news {
                    return Answer::Genuine;
                }
                // Not in the RFC: the timeout has reset the scoreboard, so old blocks next to a
                // DSACK look new.
                if acked.bytes == 0 && !acked.dsacks.is_empty() {
                    return Answer::Genuine;
                }
                // 3b. Clearing RecoveryPoint here is the basic algorithm's rule.
                self.recovery_point = None;
                Answer::Spurious
            }
        }
    }

    fn not_probed(&mut self, refusal: Refusal) -> Answer {
        self.step = Step::Out;
        if refusal == Refusal::NothingNew { Answer::Genuine } else { Answer::Undecided }
    }
}

#[test]
fn f_rto_sack_agrees_with_a_model_of_rfc_5682() {
    compare(&Choice::named("f-rto-sack"), &|_| Box::new(Sack::default()));
}
