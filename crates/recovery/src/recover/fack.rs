//! *Looks at* the forward-most SACK block.
//! *Decides* that everything missing below it has left the network, and repairs it as cwnd allows.
//! *Blind to* reordering: it takes a segment that was overtaken for lost.
//! *From* Mathis and Mahdavi, "Forward Acknowledgement: Refining TCP Congestion Control", sections 3.1 and 3.2;
//! "Responding to Spurious Timeouts in TCP", section III.A.

use super::course::{Course, Signal};
use super::on_course::{OnCourse, Repair};
use super::rules::{RULES, Rules};
use super::{Decisions, HighRxt, Next, Step};
use crate::congest::Window;
use crate::fact::Acked;
use crate::registry::Entry;
use crate::scoreboard::Scoreboard;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "fack",
    summary: "everything below the forward-most block has left",
    source: "Mathis and Mahdavi 1996",
    parameters: RULES,
    ..Entry::recovery(|parameters| Box::new(OnCourse::new(Course::new(Rules::of(parameters)), Fack)))
};

/// Forward acknowledgement.
#[derive(Clone, Debug)]
pub struct Fack;

/// Returns whether snd.fack is more than DupThresh segments ahead of snd.una: the trigger of section 3.2.
fn far_ahead(course: &Course, board: &Scoreboard, view: &View) -> bool {
    let reordering = u64::from(course.rules().duplicate_threshold) * u64::from(view.mss);
    board.highest_sacked() - board.una() > reordering && course.permitted(board.una())
}

impl Repair for Fack {
    fn on_signal(
        &mut self,
        signal: Signal,
        course: &mut Course,
        _: &Acked,
        board: &Scoreboard,
        view: &View,
    ) -> Decisions {
        let step = match signal {
            Signal::Progress => return Decisions::GROW,
            Signal::Recovered => Step::Leave { cwnd_at_most: u64::MAX },
            Signal::Threshold => course.enter(view.nxt),
            Signal::Duplicate if far_ahead(course, board, view) => course.enter(view.nxt),
            Signal::Quiet | Signal::Duplicate | Signal::Partial => Step::Stay,
        };
        Decisions { step, lost_below: course.repairing().then(|| board.highest_sacked()), ..Decisions::STAY }
    }

    fn next(&mut self, _: &Course, board: &Scoreboard, window: &Window, _: &View, _: bool) -> Next {
        // awnd = snd.nxt - snd.fack + retran_data is the scoreboard's pipe with everything below snd.fack lost.
        let room = window.cwnd.saturating_sub(board.pipe());
        match board.first_hole(board.resent_below(), board.lost_below()) {
            Some(at) => Next::Retransmit { at, room, mark: HighRxt::Advance },
            None => Next::New { room },
        }
    }
}
