//! *Looks at* the window that the loss signal left.
//! *Decides* to continue in congestion avoidance from half the old window: ssthresh stays halved,
//! and cwnd is set to it.
//! *Blind to* the flight, which still fills the old window: nothing can be sent until half of it
//! has been acknowledged.
//! *From* "Responding to Spurious Timeouts in TCP", section III.B, option 2.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;
use crate::registry::{Entry, RESPONDING};

pub(super) const ENTRY: Entry = Entry {
    name: "option-2",
    summary: "ssthresh stays halved, cwnd is set to it",
    source: RESPONDING,
    ..Entry::response(|_| Box::new(Option2))
};

/// Half the old window.
#[derive(Clone, Debug)]
pub struct Option2;

impl Response for Option2 {
    fn respond(&mut self, _: &Verdict, saved: &Saved, _: &Window) -> Adjust {
        let ssthresh = saved.reduced.ssthresh;
        Adjust::to(Window { cwnd: ssthresh, ssthresh })
    }
}
