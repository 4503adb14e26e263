//! *Looks at* duplicate ACKs.
//! *Decides* on a fast retransmit of the oldest segment at the third, and on leaving fast recovery at the first ACK of
//! new data.
//! *Blind to* SACK, and to a second loss in the same window: each needs three duplicates of its own, or a timeout.
//! *From* RFC 5681, section 3.2; the bugfix setting is RFC 2582's, section 3 and its note on multiple fast retransmits.

use super::course::{Course, Phase, Rules, Signal};
use super::{Decisions, HighRxt, Next, Recovery, Resume, Step};
use crate::congest::Window;
use crate::fact::{Acked, Cause, Kind, Transmission};
use crate::scoreboard::Scoreboard;
use crate::view::View;

/// Fast retransmit and fast recovery.
#[derive(Debug)]
pub struct Reno {
    course: Course,
    first: First,
}

/// The retransmission that begins a fast recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum First {
    Owed,
    Sent,
}

impl Reno {
    /// Reno under these rules.
    pub fn new(rules: Rules) -> Self {
        Self { course: Course::new(rules), first: First::Sent }
    }
}

impl Recovery for Reno {
    fn on_ack(&mut self, acked: &Acked, _: &Scoreboard, view: &View<'_>) -> Decisions {
        match self.course.on_ack(acked) {
            Signal::Quiet | Signal::Duplicate => Decisions::STAY,
            Signal::Progress => Decisions::GROW,
            Signal::Threshold => {
                let step = Step::Enter { limited: self.course.limited() };
                self.course.enter(view.nxt);
                self.first = First::Owed;
                Decisions { step, ..Decisions::STAY }
            }
            // RFC 5681, section 3.2, step 6: any ACK of new data deflates the window and ends it.
            Signal::Partial | Signal::Recovered => {
                self.course.leave();
                Decisions { step: Step::Leave { cwnd_at_most: u64::MAX }, ..Decisions::STAY }
            }
        }
    }

    fn on_timeout(&mut self, view: &View<'_>) {
        self.course.on_timeout(view.nxt);
        self.first = First::Sent;
    }

    fn on_spurious(&mut self, cause: Cause) -> Resume {
        self.first = First::Sent;
        self.course.on_spurious(cause)
    }

    fn on_sent(&mut self, transmission: &Transmission) {
        if matches!(transmission.kind, Kind::Retransmission(_)) {
            self.first = First::Sent;
        }
        self.course.on_sent(transmission);
    }

    fn next(&self, board: &Scoreboard, window: &Window, view: &View<'_>, _: bool) -> Next {
        match (self.course.phase(), self.first) {
            (Phase::FastRecovery { .. }, First::Owed) => {
                Next::Retransmit { at: board.una(), room: u64::MAX, mark: HighRxt::Advance }
            }
            // RFC 5681, section 3.2, step 4: each duplicate says that a segment has left; there cannot be more of them
            // than were outstanding.
            (Phase::FastRecovery { .. }, First::Sent) => {
                let left = u64::from(self.course.duplicates()).min(board.segments() as u64);
                let inflated = window.cwnd + left * u64::from(view.mss);
                Next::New { room: inflated.saturating_sub(board.outstanding()) }
            }
            _ => self.course.next(board, window, view),
        }
    }
}
