//! *Looks at* what the loss signal left.
//! *Decides* on congestion avoidance from half the old window: ssthresh stays halved, and cwnd is set to it.
//! *Blind to* the flight, which is still the old window: nothing can be sent until half of it has been acknowledged.
//! *From* "Responding to Spurious Timeouts in TCP", section III.B, option 2.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;

/// Half the old window.
#[derive(Clone, Debug)]
pub struct Option2;

impl Response for Option2 {
    fn respond(&mut self, _: &Verdict, saved: &Saved, _: &Window) -> Adjust {
        let ssthresh = saved.reduced.ssthresh;
        Adjust::to(Window { cwnd: ssthresh, ssthresh })
    }
}
