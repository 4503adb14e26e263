//! *Looks at* the congestion window that was saved.
//! *Decides* to slow-start from the present cwnd back up to the old window: nothing is sent in a
//! burst.
//! *Blind to* a slow start that was in progress at the loss signal: it now ends at the old window.
//! *From* RFC 3708, section 1, and Blanton and Allman, "On Making TCP More Robust to Packet
//! Reordering".

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;
use crate::registry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "rfc3708",
    summary: "slow start back up to the old window",
    source: "RFC 3708",
    ..Entry::response(|_| Box::new(Rfc3708))
};

/// Slow start back to the old window.
#[derive(Clone, Debug)]
pub struct Rfc3708;

impl Response for Rfc3708 {
    fn respond(&mut self, _: &Verdict, saved: &Saved, now: &Window) -> Adjust {
        let ssthresh = now.ssthresh.max(saved.window.cwnd);
        Adjust::to(Window { cwnd: now.cwnd, ssthresh })
    }
}
