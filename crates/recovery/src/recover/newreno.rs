//! *Looks at* duplicate and partial ACKs.
//! *Decides* on one retransmission a round trip: a partial ACK says that the next segment is lost too.
//! *Blind to* SACK: with several losses it needs a round trip for each.
//! *From* RFC 6582, section 3.2, the Impatient variant of section 4: only the first partial ACK restarts the timer.

use super::course::{Course, Phase, Rules, Signal};
use super::{Decisions, HighRxt, Next, Recovery, Resume, Step, Timer};
use crate::congest::Window;
use crate::fact::{Acked, Cause, Kind, Transmission};
use crate::scoreboard::Scoreboard;
use crate::view::View;

/// NewReno.
#[derive(Debug)]
pub struct NewReno {
    course: Course,
    owed: Owed,
    partials: Partials,
    /// What duplicates have added to cwnd and partial ACKs have taken from it, in bytes.
    inflation: i64,
}

/// Whether the oldest segment is to be sent again now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owed {
    Nothing,
    Oldest,
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
        Self { course: Course::new(rules), owed: Owed::Nothing, partials: Partials::None, inflation: 0 }
    }

    /// Step 3, partial acknowledgements.
    fn on_partial(&mut self, acked: &Acked, mss: i64) -> Decisions {
        self.owed = Owed::Oldest;
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
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View<'_>) -> Decisions {
        let mss = i64::from(view.mss);
        match self.course.on_ack(acked) {
            Signal::Quiet => Decisions::STAY,
            Signal::Progress => Decisions::GROW,
            Signal::Duplicate => {
                if matches!(self.course.phase(), Phase::FastRecovery { .. }) {
                    // No more segments can have left than were outstanding.
                    self.inflation = (self.inflation + mss).min(mss * board.segments() as i64);
                }
                Decisions::STAY
            }
            Signal::Threshold => {
                let step = Step::Enter { limited: self.course.limited() };
                self.inflation = mss * i64::from(self.course.duplicates());
                self.course.enter(view.nxt);
                self.owed = Owed::Oldest;
                self.partials = Partials::None;
                Decisions { step, ..Decisions::STAY }
            }
            Signal::Partial => self.on_partial(acked, mss),
            // Step 3, full acknowledgements, option 1: no burst at the end.
            Signal::Recovered => {
                let flight = board.outstanding().max(u64::from(view.mss));
                Decisions { step: Step::Leave { cwnd_at_most: flight + u64::from(view.mss) }, ..Decisions::STAY }
            }
        }
    }

    fn on_timeout(&mut self, view: &View<'_>) {
        self.course.on_timeout(view.nxt);
        self.owed = Owed::Nothing;
    }

    fn on_spurious(&mut self, cause: Cause) -> Resume {
        self.owed = Owed::Nothing;
        self.course.on_spurious(cause)
    }

    fn on_sent(&mut self, transmission: &Transmission) {
        if matches!(transmission.kind, Kind::Retransmission(_)) {
            self.owed = Owed::Nothing;
        }
        self.course.on_sent(transmission);
    }

    fn next(&self, board: &Scoreboard, window: &Window, view: &View<'_>, _: bool) -> Next {
        match (self.course.phase(), self.owed) {
            (Phase::FastRecovery { .. }, Owed::Oldest) => {
                Next::Retransmit { at: board.una(), room: u64::MAX, mark: HighRxt::Advance }
            }
            (Phase::FastRecovery { .. }, Owed::Nothing) => {
                let inflated = window.cwnd.saturating_add_signed(self.inflation);
                Next::New { room: inflated.saturating_sub(board.outstanding()) }
            }
            _ => self.course.next(board, window, view),
        }
    }
}
