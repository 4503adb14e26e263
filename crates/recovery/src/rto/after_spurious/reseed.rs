//! *Looks at* the sample of the delayed segment.
//! *Decides* to restart SRTT and RTTVAR from that sample after a spurious timeout.
//! *Blind to* how fast the next samples make the timer forget it.
//! *From* "Responding to Spurious Timeouts in TCP", section III.C, option 1.

use super::{AfterSpurious, TimerChange};
use crate::detect::Outcome;
use crate::registry::{Entry, RESPONDING};
use eifel_base::time::Duration;

pub(super) const ENTRY: Entry = Entry {
    name: "reseed",
    summary: "SRTT and RTTVAR restart from the settling ACK's sample",
    source: RESPONDING,
    ..Entry::after_spurious(|_| Box::new(Reseed))
};

/// Re-seeds the timer.
#[derive(Clone, Debug)]
pub struct Reseed;

impl AfterSpurious for Reseed {
    fn on_verdict(&mut self, outcome: Outcome, sample: Option<Duration>, _: u32) -> TimerChange {
        match (outcome, sample) {
            (Outcome::Spurious, Some(sample)) => TimerChange::Reseed(sample),
            _ => TimerChange::Keep,
        }
    }
}
