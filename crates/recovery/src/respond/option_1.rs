//! *Looks at* what was saved.
//! *Decides* on the window as it was: ssthresh and cwnd.
//! *Blind to* how long the path was silent, and to whether its capacity is still the same.
//! *From* "Responding to Spurious Timeouts in TCP", section III.B, option 1.

use super::{Adjust, Response, Verdict};
use crate::congest::Window;
use crate::episode::Saved;

/// Complete restoration.
#[derive(Clone, Debug)]
pub struct Option1;

impl Response for Option1 {
    fn respond(&mut self, _: &Verdict, saved: &Saved, _: &Window) -> Adjust {
        Adjust::to(saved.window)
    }
}
