//! *Looks at* what the loss signal left.
//! *Decides* on slow start from one segment up to half the old window: nothing is restored.
//! *Blind to* the flight, as option 2 is.
//! *From* "Responding to Spurious Timeouts in TCP", section III.B, option 3.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;

/// One segment, then slow start.
#[derive(Clone, Debug)]
pub struct Option3;

impl Response for Option3 {
    fn respond(&mut self, verdict: &Verdict, saved: &Saved, _: &Window) -> Adjust {
        let cwnd = u64::from(verdict.mss);
        Adjust::to(Window { cwnd, ssthresh: saved.reduced.ssthresh })
    }
}
