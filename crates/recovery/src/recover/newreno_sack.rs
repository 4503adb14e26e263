//! *Looks at* duplicate and partial ACKs and SACK blocks.
//! *Decides* as Reno-SACK does, and sends at least one retransmission on each partial ACK whatever pipe says.
//! *Blind to* which segments have left the network, but never silent while partial ACKs come.
//! *From* "Responding to Spurious Timeouts in TCP", section III.A: always, or only from a spurious timeout until its
//! recovery point is acknowledged.

use super::course::{Course, Rules, Signal};
use super::reno_sack::Pipe;
use super::{Decisions, HighRxt, Next, Recovery, Resume, Step, Timer};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;

/// When a partial ACK is worth a retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// Always.
    Always,
    /// From a spurious timeout until its recovery point is acknowledged: the paper's extra precaution.
    AfterSpurious,
}

/// Which partial ACKs restart the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restarts {
    /// The first of a recovery (RFC 6582, section 4, Impatient).
    First,
    /// Every one (Slow-but-Steady).
    Every,
}

/// NewReno and SACK combined.
#[derive(Clone, Debug)]
pub struct NewRenoSack {
    course: Course,
    pipe: Pipe,
    owed: Owed,
    when: When,
    restarts: Restarts,
    partials: u32,
    /// `nxt` at the last timeout, and, once it was judged spurious, the point below which the precaution applies.
    spurious: Spurious,
}

/// Whether a partial ACK's retransmission is owed now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owed {
    Nothing,
    NextHole,
}

/// The last timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spurious {
    None,
    Suspected { point: u64 },
    Until { point: u64 },
}

impl NewRenoSack {
    /// NewReno-SACK under these rules.
    pub fn new(rules: Rules, when: When, restarts: Restarts) -> Self {
        Self {
            course: Course::new(rules),
            pipe: Pipe::default(),
            owed: Owed::Nothing,
            when,
            restarts,
            partials: 0,
            spurious: Spurious::None,
        }
    }

    fn on_partial(&mut self, acked: &Acked, mss: u32) -> Decisions {
        self.pipe.on_partial(mss);
        let applies = match (self.when, self.spurious) {
            (When::Always, _) => true,
            (When::AfterSpurious, Spurious::Until { point }) => acked.cumulative < point,
            (When::AfterSpurious, _) => false,
        };
        if applies {
            self.owed = Owed::NextHole;
        }
        self.partials += 1;
        let timer = if self.restarts == Restarts::Every || self.partials == 1 { Timer::Restart } else { Timer::RunOn };
        Decisions { timer, ..Decisions::STAY }
    }
}

impl Recovery for NewRenoSack {
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View) -> Decisions {
        match self.course.on_ack(acked, view) {
            Signal::Quiet => Decisions::STAY,
            Signal::Progress => Decisions::GROW,
            Signal::Duplicate => {
                self.pipe.on_duplicate(view.mss);
                Decisions::STAY
            }
            Signal::Threshold => {
                self.pipe = Pipe::begin(board, self.course.duplicates(), view.mss);
                self.partials = 0;
                Decisions { step: self.course.enter(view.nxt), ..Decisions::STAY }
            }
            Signal::Partial => self.on_partial(acked, view.mss),
            Signal::Recovered => {
                self.owed = Owed::Nothing;
                Decisions { step: Step::Leave { cwnd_at_most: u64::MAX }, ..Decisions::STAY }
            }
        }
    }

    fn on_timeout(&mut self, view: &View) {
        self.course.on_timeout(view.nxt);
        self.owed = Owed::Nothing;
        self.spurious = Spurious::Suspected { point: view.nxt };
    }

    fn on_spurious(&mut self, cause: Cause) -> Resume {
        self.owed = Owed::Nothing;
        if let Spurious::Suspected { point } = self.spurious {
            self.spurious = Spurious::Until { point };
        }
        self.course.on_spurious(cause)
    }

    fn is_quiet(&self) -> bool {
        self.course.is_quiet()
    }

    fn on_sent(&mut self, sent: Block, kind: Kind) {
        if matches!(kind, Kind::Retransmission(_)) {
            self.owed = Owed::Nothing;
        }
        self.pipe.on_sent(sent);
        self.course.on_sent(sent, kind);
    }

    fn next(&self, board: &Scoreboard, window: &Window, view: &View, _: bool) -> Next {
        if !self.course.repairing() {
            return self.course.next(board, window, view);
        }
        if let Some(owed) = self.course.owed(board) {
            return owed;
        }
        // A partial ACK tells of a hole at `una` even where no block lies above it.
        let below = board.highest_sacked().max(board.una() + 1);
        let room = Course::room(self.pipe.room(window.cwnd), board, window, view);
        match (self.owed, board.first_hole(board.resent_below(), below)) {
            (Owed::NextHole, Some(at)) => Next::owed(at),
            (Owed::Nothing, Some(at)) if at < board.highest_sacked() => {
                Next::Retransmit { at, room, mark: HighRxt::Advance }
            }
            _ => Next::New { room },
        }
    }
}
