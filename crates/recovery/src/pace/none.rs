//! *Looks at* nothing.
//! *Decides* that everything that the window allows leaves at once.
//! *Blind to* bursts.
//! *From* RFC 5681.

use super::{Pace, Permit};
use crate::congest::Window;
use eifel_base::time::{Duration, Instant};

/// No limit.
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
