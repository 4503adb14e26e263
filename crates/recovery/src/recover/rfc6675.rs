//! *Looks at* SACK blocks: how many, and how many bytes of them, lie above each hole.
//! *Decides* that a hole with DupThresh blocks, or more than DupThresh - 1 segments' bytes, above it is lost, and keeps
//! pipe below cwnd.
//! *Blind to* the loss of a retransmission, but for one rescue at the end of the window.
//! *From* RFC 6675, sections 4 and 5.

use super::course::{Course, Rules, Signal};
use super::prr::{Prr, Reduction};
use super::{Decisions, HighRxt, Next, Recovery, Resume, Step};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;

/// Conservative loss recovery with SACK.
#[derive(Clone, Debug)]
pub struct Rfc6675 {
    course: Course,
    prr: Prr,
    /// RescueRxt, as the first position beyond it: only beyond that is a rescue retransmission worth its while.
    rescue_rxt: u64,
}

impl Rfc6675 {
    /// RFC 6675 under these rules, with or without PRR.
    pub fn new(rules: Rules, reduction: Reduction) -> Self {
        Self { course: Course::by_sack(rules), prr: Prr::new(reduction), rescue_rxt: 0 }
    }

    /// IsLost (section 4): the position below which every hole is lost.
    fn lost_below(&self, board: &Scoreboard, mss: u32) -> u64 {
        let threshold = self.course.rules().duplicate_threshold;
        let enough = u64::from(threshold - 1) * u64::from(mss);
        let (mut blocks, mut bytes) = (0, 0);
        for block in board.sacked().descending() {
            blocks += 1;
            bytes += block.end - block.start;
            if blocks >= threshold || bytes > enough {
                return block.start;
            }
        }
        board.una()
    }

    fn rescue(&self, board: &Scoreboard) -> Option<u64> {
        if board.una() > self.rescue_rxt { board.last_hole() } else { None }
    }
}

impl Recovery for Rfc6675 {
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View) -> Decisions {
        let signal = self.course.on_ack(acked, view);
        self.prr.on_ack(acked, board);
        let lost_below = self.lost_below(board, view.mss);
        // Section 5, steps (1) and (2): DupAcks >= DupThresh or IsLost (HighACK + 1).
        let duplicate = matches!(signal, Signal::Duplicate | Signal::Progress) && self.course.duplicates() > 0;
        let begins =
            signal == Signal::Threshold || duplicate && lost_below > board.una() && self.course.permitted(board.una());
        let step = match signal {
            _ if begins => {
                // Section 5, step (4.3): what is sent again at once is not what has to be rescued.
                self.rescue_rxt = board.segment_at(board.una()).map_or(view.nxt, |oldest| oldest.end);
                self.prr.begin(board);
                self.course.enter(view.nxt)
            }
            Signal::Progress => return Decisions::GROW,
            Signal::Recovered => Step::Leave { cwnd_at_most: u64::MAX },
            _ => Step::Stay,
        };
        if lost_below > board.lost_below() {
            self.prr.on_loss();
        }
        let repairing = self.course.repairing();
        Decisions { step, lost_below: repairing.then_some(lost_below), ..Decisions::STAY }
    }

    fn on_timeout(&mut self, view: &View) {
        self.course.on_timeout(view.nxt);
        self.prr.on_timeout(view.una);
    }

    fn on_spurious(&mut self, cause: Cause) -> Resume {
        self.course.on_spurious(cause)
    }

    fn is_quiet(&self) -> bool {
        self.course.is_quiet()
    }

    fn on_sent(&mut self, sent: Block, kind: Kind) {
        self.course.on_sent(sent, kind);
        self.prr.on_sent(sent);
    }

    fn on_rescue(&mut self) {
        // RecoveryPoint, or anything else that is not acknowledged before the recovery is over.
        self.rescue_rxt = u64::MAX;
    }

    fn next(&self, board: &Scoreboard, window: &Window, view: &View, unsent: bool) -> Next {
        if !self.course.repairing() {
            return self.course.next(board, window, view);
        }
        let room = self.prr.room(board.pipe(), window, view.mss);
        if let Some(owed) = self.course.owed(board) {
            return owed;
        }
        let from = board.resent_below();
        // NextSeg (section 4), rules 1 to 4.
        if let Some(at) = board.first_hole(from, board.lost_below()) {
            return Next::Retransmit { at, room, mark: HighRxt::Advance };
        }
        if unsent {
            return Next::New { room };
        }
        if let Some(at) = board.first_hole(from, board.highest_sacked()) {
            return Next::Retransmit { at, room, mark: HighRxt::Advance };
        }
        match self.rescue(board) {
            Some(at) => Next::Retransmit { at, room, mark: HighRxt::Leave },
            None => Next::New { room },
        }
    }
}
