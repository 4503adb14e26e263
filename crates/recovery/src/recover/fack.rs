//! *Looks at* the forward-most SACK block.
//! *Decides* that everything missing below it has left the network, and repairs it as cwnd allows.
//! *Blind to* reordering: a segment that was overtaken counts as lost.
//! *From* Mathis and Mahdavi, "Forward Acknowledgement: Refining TCP Congestion Control", sections 3.1 and 3.2;
//! "Responding to Spurious Timeouts in TCP", section III.A.

use super::course::{Course, Rules, Signal};
use super::{Decisions, HighRxt, Next, Recovery, Resume, Step};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;

/// Forward acknowledgement.
#[derive(Clone, Debug)]
pub struct Fack {
    course: Course,
}

impl Fack {
    /// FACK under these rules.
    pub fn new(rules: Rules) -> Self {
        Self { course: Course::new(rules) }
    }

    /// The trigger of section 3.2: snd.fack has gone more than DupThresh segments ahead of snd.una.
    fn far_ahead(&self, board: &Scoreboard, view: &View) -> bool {
        let reordering = u64::from(self.course.rules().duplicate_threshold) * u64::from(view.mss);
        board.highest_sacked() - board.una() > reordering && self.course.permitted(board.una())
    }
}

impl Recovery for Fack {
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View) -> Decisions {
        let signal = self.course.on_ack(acked, view);
        let step = match signal {
            Signal::Quiet => Step::Stay,
            Signal::Progress => return Decisions::GROW,
            Signal::Recovered => Step::Leave { cwnd_at_most: u64::MAX },
            Signal::Threshold | Signal::Duplicate if signal == Signal::Threshold || self.far_ahead(board, view) => {
                self.course.enter(view.nxt)
            }
            _ => Step::Stay,
        };
        let repairing = self.course.repairing();
        Decisions { step, lost_below: repairing.then(|| board.highest_sacked()), ..Decisions::STAY }
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
        if let Some(owed) = self.course.owed(board) {
            return owed;
        }
        // awnd = snd.nxt - snd.fack + retran_data is the scoreboard's pipe with everything below snd.fack lost.
        let room = window.cwnd.saturating_sub(board.pipe());
        match board.first_hole(board.resent_below(), board.lost_below()) {
            Some(at) => Next::Retransmit { at, room, mark: HighRxt::Advance },
            None => Next::New { room },
        }
    }
}
