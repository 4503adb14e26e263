//! *Looks at* the congestion window that was saved.
//! *Decides* on slow start from where cwnd is back up to the old window: nothing leaves in a burst.
//! *Blind to* slow start that was under way at the loss signal: it ends at the old window.
//! *From* RFC 3708, section 1, and Blanton and Allman, "On Making TCP More Robust to Packet Reordering".

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;

/// Slow start back to the old window.
#[derive(Clone, Debug)]
pub struct Rfc3708;

impl Response for Rfc3708 {
    fn respond(&mut self, _: &Verdict, saved: &Saved, now: &Window) -> Adjust {
        let ssthresh = now.ssthresh.max(saved.window.cwnd);
        Adjust::to(Window { cwnd: now.cwnd, ssthresh })
    }
}
