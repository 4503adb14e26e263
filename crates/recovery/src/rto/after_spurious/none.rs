//! *Looks at* nothing.
//! *Decides* to leave the timer alone: it has the delayed samples anyway where timestamps are in use.
//! *Blind to* the next spike.
//! *From* "Responding to Spurious Timeouts in TCP", table 4, "std".

use super::{AfterSpurious, TimerChange};
use crate::detect::Outcome;
use eifel_base::time::Duration;

/// No adaptation.
#[derive(Clone, Debug)]
pub struct None;

impl AfterSpurious for None {
    fn settled(&mut self, _: Outcome, _: Option<Duration>, _: u32) -> TimerChange {
        TimerChange::Keep
    }
}
