//! The instant from which a restarted timer counts.

use crate::registry::{Parameter, Parameters};
use eifel_base::time::Instant;

/// How much time an ACK that restarts the timer grants to the segments that are still outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restart {
    /// A full RTO, whatever their age: the "REXMT-restart bug" (thesis, section 5.3.3), which RFC 6298, section 5.3,
    /// asks for.
    Full,
    /// The RTO less the age of the oldest (thesis, section 5.4.5).
    Age,
}

const fn restart(default: &'static str) -> Parameter {
    let summary =
        "what an ACK grants to what is still outstanding: a full RTO, or the RTO less the age of the oldest segment";
    Parameter::word("restart", summary, default, &["full", "age"])
}

pub(super) const RESTART_FULL: Parameter = restart("full");
pub(super) const RESTART_AGE: Parameter = restart("age");

impl Restart {
    pub(super) fn of(parameters: &Parameters) -> Self {
        parameters.word("restart", &[("full", Self::Full), ("age", Self::Age)])
    }

    /// Returns the instant from which the RTO counts.
    pub(super) fn begins(self, now: Instant, oldest: Instant) -> Instant {
        match self {
            Self::Full => now,
            Self::Age => oldest.min(now),
        }
    }
}
