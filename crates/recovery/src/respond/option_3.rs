//! *Looks at* the window that the loss signal left.
//! *Decides* to slow-start from one segment up to half the old window: nothing is restored.
//! *Blind to* the flight, as option 2.
//! *From* "Responding to Spurious Timeouts in TCP", section III.B, option 3.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;
use crate::registry::{Entry, RESPONDING};

pub(super) const ENTRY: Entry = Entry {
    name: "option-3",
    summary: "slow start from one segment: nothing is restored",
    source: RESPONDING,
    ..Entry::response(|_| Box::new(Option3))
};

/// One segment, then slow start.
#[derive(Clone, Debug)]
pub struct Option3;

impl Response for Option3 {
    fn respond(&mut self, verdict: &Verdict, saved: &Saved, _: &Window) -> Adjust {
        let cwnd = u64::from(verdict.mss);
        Adjust::to(Window { cwnd, ssthresh: saved.reduced.ssthresh })
    }
}
