//! *Looks at* nothing.
//! *Decides* to send at once everything that the window allows.
//! *Blind to* bursts.
//! *From* RFC 5681.

use super::{Pace, Permit};
use crate::congest::Window;
use crate::registry::Entry;
use eifel_base::time::{Duration, Instant};

pub(super) const ENTRY: Entry = Entry {
    name: "none",
    summary: "sends everything that the window allows at once",
    source: "RFC 5681",
    ..Entry::pace(|_| Box::new(None))
};

/// Holds nothing back.
#[derive(Clone, Debug)]
pub struct None;

impl Pace for None {
    fn on_input(&mut self) {}

    fn permit(&self, _: Instant) -> Permit {
        Permit::Now
    }

    fn on_sent(&mut self, _: Instant, _: u32, _: &Window, _: Option<Duration>) {}

    fn holds_back(&self) -> bool {
        false
    }
}
