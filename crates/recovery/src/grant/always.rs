//! *Looks at* nothing.
//! *Decides* that every spurious verdict is answered.
//! *Blind to* a receiver that forges the evidence.
//! *From* RFC 4015, which leaves the guard to the detector.

use super::Grant;
use eifel_base::time::{Duration, Instant};

/// No limit.
#[derive(Clone, Debug)]
pub struct Always;

impl Grant for Always {
    fn grants(&mut self, _: Instant, _: Instant, _: Option<Duration>) -> bool {
        true
    }
}
