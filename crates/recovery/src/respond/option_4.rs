//! *Looks at* the congestion window that was saved.
//! *Decides* on congestion avoidance from the old window: cwnd and ssthresh are both set to it.
//! *Blind to* slow start being cut short on a path of large delay-bandwidth product.
//! *From* "Responding to Spurious Timeouts in TCP", section III.B, option 4.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;

/// The old window, but no more slow start.
#[derive(Clone, Debug)]
pub struct Option4;

impl Response for Option4 {
    fn respond(&mut self, _: &Verdict, saved: &Saved, _: &Window) -> Adjust {
        let cwnd = saved.window.cwnd;
        Adjust::to(Window { cwnd, ssthresh: cwnd })
    }
}
