//! *Looks at* the window that was saved.
//! *Decides* to restore the saved ssthresh and cwnd.
//! *Blind to* how long the path was silent, and to a change of its capacity.
//! *From* "Responding to Spurious Timeouts in TCP", section III.B, option 1.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;
use crate::registry::{Entry, RESPONDING};

pub(super) const ENTRY: Entry = Entry {
    name: "option-1",
    summary: "restores ssthresh and cwnd",
    source: RESPONDING,
    ..Entry::response(|_| Box::new(Option1))
};

/// Complete restoration.
#[derive(Clone, Debug)]
pub struct Option1;

impl Response for Option1 {
    fn respond(&mut self, _: &Verdict, saved: &Saved, _: &Window) -> Adjust {
        Adjust::to(saved.window)
    }
}
