//! *Looks at* duplicate ACKs and SACK blocks.
//! *Decides* on repairing the holes below the highest block while a count of segments under way, pipe, is below cwnd.
//! *Blind to* which segments have left the network: what the receiver misses counts as still under way, so large holes
//! leave nothing to send and end in a timeout.
//! *From* Fall and Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", section 3, and ns-2's Sack1;
//! "Responding to Spurious Timeouts in TCP", section III.A.

use super::course::{Course, Rules, Signal};
use super::{Decisions, HighRxt, Next, Recovery, Resume, Step};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;

/// Reno with SACK.
#[derive(Clone, Debug)]
pub struct RenoSack {
    course: Course,
    pipe: Pipe,
}

/// Bytes believed to be under way, by counting ACKs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Pipe(u64);

impl Pipe {
    /// Fast recovery begins: what is outstanding, less what the duplicates say has left.
    pub(super) fn begin(board: &Scoreboard, duplicates: u32, mss: u32) -> Self {
        Self(board.outstanding().saturating_sub(u64::from(duplicates) * u64::from(mss)))
    }

    /// A duplicate says that one segment has left.
    pub(super) fn on_duplicate(&mut self, mss: u32) {
        self.0 = self.0.saturating_sub(u64::from(mss));
    }

    /// A partial ACK says that the original and its retransmission have left.
    pub(super) fn on_partial(&mut self, mss: u32) {
        self.0 = self.0.saturating_sub(2 * u64::from(mss));
    }

    /// This was sent.
    pub(super) fn on_sent(&mut self, sent: Block) {
        self.0 += sent.end - sent.start;
    }

    /// What may be sent under `cwnd`.
    pub(super) fn room(self, cwnd: u64) -> u64 {
        cwnd.saturating_sub(self.0)
    }
}

impl RenoSack {
    /// Reno with SACK under these rules.
    pub fn new(rules: Rules) -> Self {
        Self { course: Course::new(rules), pipe: Pipe::default() }
    }
}

impl Recovery for RenoSack {
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
                Decisions { step: self.course.enter(view.nxt), ..Decisions::STAY }
            }
            Signal::Partial => {
                self.pipe.on_partial(view.mss);
                Decisions::STAY
            }
            Signal::Recovered => Decisions { step: Step::Leave { cwnd_at_most: u64::MAX }, ..Decisions::STAY },
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
        let room = Course::room(self.pipe.room(window.cwnd), board, window, view);
        match board.first_hole(board.resent_below(), board.highest_sacked()) {
            Some(at) => Next::Retransmit { at, room, mark: HighRxt::Advance },
            None => Next::New { room },
        }
    }
}
