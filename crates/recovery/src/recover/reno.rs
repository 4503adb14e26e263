//! *Looks at* duplicate ACKs.
//! *Decides* on a fast retransmit of the oldest segment at the third, and on leaving fast recovery at the first ACK of
//! new data.
//! *Blind to* SACK, and to a second loss in the same window: each needs three duplicates of its own, or a timeout.
//! *From* RFC 5681, section 3.2; the bugfix setting is RFC 2582's, section 3 and its note on multiple fast retransmits.

use super::course::{Course, Rules, Signal};
use super::{Decisions, Next, Recovery, Resume, Step};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;

/// Fast retransmit and fast recovery.
#[derive(Clone, Debug)]
pub struct Reno {
    course: Course,
}

impl Reno {
    /// Reno under these rules.
    pub fn new(rules: Rules) -> Self {
        Self { course: Course::new(rules) }
    }
}

impl Recovery for Reno {
    fn on_ack(&mut self, acked: &Acked, _: &Scoreboard, view: &View) -> Decisions {
        match self.course.on_ack(acked, view) {
            Signal::Quiet | Signal::Duplicate => Decisions::STAY,
            Signal::Progress => Decisions::GROW,
            Signal::Threshold => Decisions { step: self.course.enter(view.nxt), ..Decisions::STAY },
            // RFC 5681, section 3.2, step 6: any ACK of new data deflates the window and ends it.
            Signal::Partial | Signal::Recovered => {
                self.course.leave();
                Decisions { step: Step::Leave { cwnd_at_most: u64::MAX }, ..Decisions::STAY }
            }
        }
    }

    fn on_timeout(&mut self, view: &View) {
        self.course.on_timeout(view.nxt);
    }

    fn on_spurious(&mut self, cause: Cause) -> Resume {
        self.course.on_spurious(cause)
    }

    fn is_quiet(&self) -> bool {
        self.course.is_quiet()
    }

    fn on_sent(&mut self, sent: Block, kind: Kind) {
        self.course.on_sent(sent, kind);
    }

    fn next(&self, board: &Scoreboard, window: &Window, view: &View, _: bool) -> Next {
        if !self.course.repairing() {
            return self.course.next(board, window, view);
        }
        // RFC 5681, section 3.2, step 4: each duplicate says that a segment has left; there cannot be more of them than
        // were outstanding.
        let left = u64::from(self.course.duplicates()).min(board.segments() as u64);
        let inflated = window.cwnd + left * u64::from(view.mss);
        let room = Course::room(inflated.saturating_sub(board.outstanding()), board, window, view);
        self.course.owed(board).unwrap_or(Next::New { room })
    }
}
