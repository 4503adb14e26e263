//! *Looks at* duplicate and partial ACKs.
//! *Decides* on one retransmission a round trip: a partial ACK says that the next segment is lost too.
//! *Blind to* SACK: with several losses it needs a round trip for each.
//! *From* RFC 6582, section 3.2, the Impatient variant of section 4: only the first partial ACK restarts the timer.

use super::course::{Course, Rules, Signal};
use super::{Decisions, Next, Recovery, Resume, Step, Timer};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;

/// NewReno.
#[derive(Clone, Debug)]
pub struct NewReno {
    course: Course,
    partials: Partials,
    /// What duplicates have added to cwnd and partial ACKs have taken from it, in bytes.
    inflation: i64,
}

/// Partial ACKs of this recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Partials {
    None,
    Some,
}

impl NewReno {
    /// NewReno under these rules.
    pub fn new(rules: Rules) -> Self {
        Self { course: Course::new(rules), partials: Partials::None, inflation: 0 }
    }

    /// Step 3, partial acknowledgements.
    fn on_partial(&mut self, acked: &Acked, mss: i64) -> Decisions {
        self.course.owe_oldest();
        self.inflation -= acked.bytes as i64;
        if acked.bytes as i64 >= mss {
            self.inflation += mss;
        }
        let timer = match self.partials {
            Partials::None => Timer::Restart,
            Partials::Some => Timer::RunOn,
        };
        self.partials = Partials::Some;
        Decisions { timer, ..Decisions::STAY }
    }
}

impl Recovery for NewReno {
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View) -> Decisions {
        let mss = i64::from(view.mss);
        match self.course.on_ack(acked, view) {
            Signal::Quiet => Decisions::STAY,
            Signal::Progress => Decisions::GROW,
            Signal::Duplicate => {
                if self.course.repairing() {
                    // No more segments can have left than were outstanding.
                    self.inflation = (self.inflation + mss).min(mss * board.segments() as i64);
                }
                Decisions::STAY
            }
            Signal::Threshold => {
                self.inflation = mss * i64::from(self.course.duplicates());
                self.partials = Partials::None;
                Decisions { step: self.course.enter(view.nxt), ..Decisions::STAY }
            }
            Signal::Partial => self.on_partial(acked, mss),
            // Step 3, full acknowledgements, option 1: no burst at the end.
            Signal::Recovered => {
                let flight = board.outstanding().max(u64::from(view.mss));
                Decisions { step: Step::Leave { cwnd_at_most: flight + u64::from(view.mss) }, ..Decisions::STAY }
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
        let inflated = window.cwnd.saturating_add_signed(self.inflation);
        let room = Course::room(inflated.saturating_sub(board.outstanding()), board, window, view);
        self.course.owed(board).unwrap_or(Next::New { room })
    }
}
