//! *Looks at* the forward-most SACK block.
//! *Decides* that all segments missing below that block have left the network, and retransmits them
//! as cwnd allows.
//! *Blind to* reordering: it deems an overtaken segment lost.
//! *From* Mathis and Mahdavi, "Forward Acknowledgement: Refining TCP Congestion Control", sections 3.1 and 3.2;
//! "Responding to Spurious Timeouts in TCP", section III.A.

use super::course::{Course, Signal};
use super::on_course::{OnCourse, Repair};
use super::rules::{Follows, RULES, Rules};
use super::{Decisions, Next, Step};
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
    ..Entry::recovery(|parameters| {
        // ns-2's FACK has no Limited Transmit.
        let rules = Rules::of_either(parameters);
        let limited_transmit = rules.limited_transmit && rules.follows == Follows::Source;
        Box::new(OnCourse::new(Course::new(Rules { limited_transmit, ..rules }), Fack::default()))
    })
};

/// Forward acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fack {
    /// ns-2: the window of this recovery, in bytes. It begins with one segment and grows with each
    /// ACK.
    cwnd: u64,
    /// ns-2: ssthresh in bytes, as of the last call of `next`.
    ssthresh: u64,
}

/// Returns whether snd.fack is more than DupThresh segments ahead of snd.una: the trigger of section 3.2.
fn far_ahead(course: &Course, board: &Scoreboard, view: &View) -> bool {
    let reordering = u64::from(course.rules().duplicate_threshold) * u64::from(view.mss);
    board.highest_sacked() - board.una() > reordering
}

impl Fack {
    /// Decides as ns-2 does. Any ACK may begin fast recovery if SACK reports reach far enough
    /// ahead, even below the recovery point. Until fast recovery begins, nothing is sent while SACK
    /// reports are outstanding. It ends once the recovery point is acknowledged and no SACK report
    /// is outstanding.
    fn on_ns2(&mut self, signal: Signal, course: &mut Course, board: &Scoreboard, view: &View) -> Decisions {
        let mss = u64::from(view.mss);
        let reported = board.highest_sacked() > board.una();
        let repairing = course.repairing() || signal == Signal::Recovered;
        if repairing {
            self.cwnd += if self.cwnd < self.ssthresh { mss } else { mss * mss / self.cwnd };
        }
        let step = match signal {
            Signal::Recovered if !reported => Step::LeaveWith { cwnd: self.cwnd },
            Signal::Recovered => {
                course.go_on();
                Step::Stay
            }
            _ if !repairing && far_ahead(course, board, view) => {
                self.cwnd = mss;
                course.enter(view.nxt + 1)
            }
            _ => Step::Stay,
        };
        course.hold(reported && !course.repairing());
        let grows = signal == Signal::Progress && !reported;
        Decisions { step, lost_below: course.repairing().then(|| board.highest_sacked()), grows, ..Decisions::STAY }
    }
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
        if course.rules().follows == Follows::Ns2 {
            return self.on_ns2(signal, course, board, view);
        }
        let step = match signal {
            Signal::Progress => return Decisions::GROW,
            Signal::Recovered => Step::Leave { cwnd_at_most: u64::MAX },
            Signal::Threshold => course.enter(view.nxt),
            Signal::Duplicate if far_ahead(course, board, view) && course.permitted(board.una()) => {
                course.enter(view.nxt)
            }
            Signal::Quiet | Signal::Duplicate | Signal::Partial => Step::Stay,
        };
        Decisions { step, lost_below: course.repairing().then(|| board.highest_sacked()), ..Decisions::STAY }
    }

    fn next(&mut self, course: &Course, board: &Scoreboard, window: &Window, _: &View, _: bool) -> Next {
        self.ssthresh = window.ssthresh;
        let cwnd = match course.rules().follows {
            Follows::Source => window.cwnd,
            Follows::Ns2 => self.cwnd,
        };
        // awnd = snd.nxt - snd.fack + retran_data. This is the scoreboard's pipe, with everything
        // below snd.fack marked as lost.
        let room = cwnd.saturating_sub(board.pipe());
        Next::hole_or_new(board.first_hole(board.resent_below(), board.lost_below()), room)
    }
}
