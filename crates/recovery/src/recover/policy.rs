//! Recovery along the common [`Course`]. The algorithms built on it differ in two ways: how they
//! react to a signal, and which segments they send during fast recovery.

use super::course::{Course, Signal};
use super::{Attention, Decisions, Next, Recovery, Resume};
use crate::congest::Window;
use crate::fact::{Acked, Block, Cause, Kind};
use crate::scoreboard::Scoreboard;
use crate::view::View;
use eifel_base::time::Instant;

/// The steps that an algorithm adds to the common course.
pub trait Repair: Clone + core::fmt::Debug + Send + 'static {
    /// Decides about an ACK that the course has classified as `signal`.
    fn on_signal(
        &mut self,
        signal: Signal,
        course: &mut Course,
        acked: &Acked,
        board: &Scoreboard,
        view: &View,
    ) -> Decisions;

    /// Returns the next segment to send during fast recovery. A retransmission that the course owes
    /// is sent first.
    fn next(&mut self, course: &Course, board: &Scoreboard, window: &Window, view: &View, unsent: bool) -> Next;

    /// Learns that the retransmission timer has expired.
    fn on_timeout(&mut self, _: &View) {}

    /// Learns that the last loss signal was spurious.
    fn on_spurious(&mut self) {}

    /// Learns that `sent` was sent.
    fn on_sent(&mut self, _sent: Block, _: Kind) {}
}

/// An algorithm and its course.
#[derive(Clone, Debug)]
pub struct OnCourse<A> {
    course: Course,
    repair: A,
}

impl<A: Repair> OnCourse<A> {
    /// Creates a recovery that has not seen a loss yet.
    pub fn new(course: Course, repair: A) -> Self {
        Self { course, repair }
    }
}

impl<A: Repair> Recovery for OnCourse<A> {
    fn on_ack(&mut self, acked: &Acked, board: &Scoreboard, view: &View) -> Decisions {
        let signal = self.course.on_ack(acked, view);
        self.repair.on_signal(signal, &mut self.course, acked, board, view)
    }

    fn on_timeout(&mut self, view: &View) {
        self.course.on_timeout(view.nxt);
        self.repair.on_timeout(view);
    }

    fn on_spurious(&mut self, cause: Cause) -> Resume {
        self.repair.on_spurious();
        self.course.on_spurious(cause)
    }

    fn on_sent(&mut self, _: Instant, sent: Block, kind: Kind) {
        self.repair.on_sent(sent, kind);
        self.course.on_sent(sent, kind);
    }

    fn attention(&self) -> Attention {
        if self.course.is_quiet() { Attention::Quiet } else { Attention::EachAck }
    }

    fn next(&mut self, board: &Scoreboard, window: &Window, view: &View, unsent: bool) -> Next {
        if !self.course.repairing() {
            return self.course.next(board, window, view);
        }
        let next = self.repair.next(&self.course, board, window, view, unsent);
        self.course.owed(board).unwrap_or(next)
    }
}
