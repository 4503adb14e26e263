//! *Looks at* the congestion window that was saved.
//! *Decides* to continue in congestion avoidance from the old window: cwnd and ssthresh are both
//! set to it.
//! *Blind to* paths with a large delay-bandwidth product, where it cuts slow start short.
//! *From* "Responding to Spurious Timeouts in TCP", section III.B, option 4.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;
use crate::registry::{Entry, RESPONDING};

pub(super) const ENTRY: Entry = Entry {
    name: "option-4",
    summary: "cwnd and ssthresh are set to the old cwnd",
    source: RESPONDING,
    ..Entry::response(|_| Box::new(Option4))
};

/// The old window, but no more slow start.
#[derive(Clone, Debug)]
pub struct Option4;

impl Response for Option4 {
    fn respond(&mut self, _: &Verdict, saved: &Saved, _: &Window) -> Adjust {
        let cwnd = saved.window.cwnd;
        Adjust::to(Window { cwnd, ssthresh: cwnd })
    }
}
