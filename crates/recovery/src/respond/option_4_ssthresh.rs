//! *Looks at* the window that was saved, and at whether the connection has ever detected a loss.
//! *Decides* as option 4, but also restores ssthresh while no loss has been seen: slow start
//! continues.
//! *Blind to* losses that have not been detected yet.
//! *From* "Responding to Spurious Timeouts in TCP", section III.B, the variation of option 4.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;
use crate::registry::{Entry, RESPONDING};

pub(super) const ENTRY: Entry = Entry {
    name: "option-4-ssthresh",
    summary: "option 4, but ssthresh is restored too while no loss has been seen",
    source: RESPONDING,
    ..Entry::response(|_| Box::new(Option4Ssthresh))
};

/// Option 4, with ssthresh restored while no loss has been seen.
#[derive(Clone, Debug)]
pub struct Option4Ssthresh;

impl Response for Option4Ssthresh {
    fn respond(&mut self, verdict: &Verdict, saved: &Saved, _: &Window) -> Adjust {
        let ssthresh = if verdict.loss_seen { saved.window.cwnd } else { saved.window.ssthresh };
        Adjust::to(Window { cwnd: saved.window.cwnd, ssthresh })
    }
}
