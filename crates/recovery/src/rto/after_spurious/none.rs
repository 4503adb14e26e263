//! *Looks at* nothing.
//! *Decides* to leave the timer unchanged: with timestamps it has the delayed samples anyway.
//! *Blind to* the next delay spike.
//! *From* "Responding to Spurious Timeouts in TCP", table 4, "std".

use super::{AfterSpurious, TimerChange};
use crate::detect::Outcome;
use crate::registry::Entry;
use eifel_base::time::Duration;

pub(super) const ENTRY: Entry = Entry {
    name: "none",
    summary: "learns nothing",
    source: "table 4, std",
    ..Entry::after_spurious(|_| Box::new(None))
};

/// No adaptation.
#[derive(Clone, Debug)]
pub struct None;

impl AfterSpurious for None {
    fn on_verdict(&mut self, _: Outcome, _: Option<Duration>, _: u32) -> TimerChange {
        TimerChange::Keep
    }
}
