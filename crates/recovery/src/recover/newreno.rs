//! *Looks at* duplicate and partial ACKs.
//! *Decides* to retransmit one segment a round trip: a partial ACK says that the next segment is lost too.
//! *Blind to* SACK: several losses take a round trip each.
//! *From* RFC 6582, section 3.2, the Impatient variant of section 4: only the first partial ACK restarts the timer.

use super::course::{Course, Signal};
use super::late_fast_retransmit::LATE;
use super::on_course::{OnCourse, Repair};
use super::rules::{BELOW_SPURIOUS_POINT, BUGFIX, DUPLICATE_THRESHOLD, LIMITED_TRANSMIT, RESUME, Rules};
use super::{Decisions, Next, Step, late_fast_retransmit};
use crate::congest::Window;
use crate::fact::Acked;
use crate::registry::Entry;
use crate::scoreboard::Scoreboard;
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "newreno",
    summary: "a retransmission for each partial ACK",
    source: "RFC 6582",
    parameters: &[DUPLICATE_THRESHOLD, LIMITED_TRANSMIT, BUGFIX, BELOW_SPURIOUS_POINT, RESUME, LATE],
    ..Entry::recovery(|parameters| {
        let newreno = OnCourse::new(Course::new(Rules::of(parameters)), NewReno::default());
        late_fast_retransmit::around(newreno, parameters)
    })
};

/// NewReno.
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    /// Whether this recovery has seen a partial ACK.
    partial_seen: bool,
    /// The bytes that duplicates have added to cwnd, less those that partial ACKs have taken from it.
    inflation: i64,
}

impl NewReno {
    /// Step 3, partial acknowledgements.
    fn on_partial(&mut self, course: &mut Course, acked: &Acked, mss: i64) -> Decisions {
        course.owe_oldest();
        self.inflation -= acked.bytes as i64;
        if acked.bytes as i64 >= mss {
            self.inflation += mss;
        }
        let restarts_timer = !self.partial_seen;
        self.partial_seen = true;
        Decisions { restarts_timer, ..Decisions::STAY }
    }
}

impl Repair for NewReno {
    fn on_signal(
        &mut self,
        signal: Signal,
        course: &mut Course,
        acked: &Acked,
        board: &Scoreboard,
        view: &View,
    ) -> Decisions {
        let mss = i64::from(view.mss);
        match signal {
            Signal::Quiet => Decisions::STAY,
            Signal::Progress => Decisions::GROW,
            Signal::Duplicate => {
                if course.repairing() {
                    // No more segments can have left than were outstanding.
                    self.inflation = (self.inflation + mss).min(mss * board.segments() as i64);
                }
                Decisions::STAY
            }
            Signal::Threshold => {
                self.inflation = mss * i64::from(course.duplicates());
                self.partial_seen = false;
                Decisions { step: course.enter(view.nxt), ..Decisions::STAY }
            }
            Signal::Partial => self.on_partial(course, acked, mss),
            // Step 3, full acknowledgements, option 1: no burst at the end.
            Signal::Recovered => {
                let flight = board.outstanding().max(u64::from(view.mss));
                Decisions { step: Step::Leave { cwnd_at_most: flight + u64::from(view.mss) }, ..Decisions::STAY }
            }
        }
    }

    fn next(&mut self, _: &Course, board: &Scoreboard, window: &Window, view: &View, _: bool) -> Next {
        let inflated = window.cwnd.saturating_add_signed(self.inflation);
        Next::New { room: Course::room(inflated.saturating_sub(board.outstanding()), board, window, view) }
    }
}
