//! From when a restarted timer counts.

use eifel_base::time::Instant;

/// What an ACK that restarts the timer grants to the segments that are still outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restart {
    /// A full RTO, whatever their age: the "REXMT-restart bug" (thesis, section 5.3.3), which RFC 6298, section 5.3,
    /// asks for.
    Full,
    /// The RTO less the age of the oldest (thesis, section 5.4.5).
    Age,
}

impl Restart {
    /// The instant from which the RTO counts.
    pub(super) fn begins(self, now: Instant, oldest: Instant) -> Instant {
        match self {
            Self::Full => now,
            Self::Age => oldest.min(now),
        }
    }
}
