//! What a connection leaves to the next one to its destination: the sharing of control blocks in time,
//! which RFC 9040 describes, and which Gurtov and Ludwig suggest for adapted timers.

use crate::episode::Estimate;
use eifel_base::time::Duration;

/// What a sender's timer has learnt of the path to a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Learnt {
    /// SRTT and RTTVAR; `None` without a sample.
    pub estimate: Option<Estimate>,
    /// The minimum RTO, which spurious timeouts may have raised.
    pub minimum: Duration,
    /// Expiries that samples do not forget, since a spurious timeout; 0 if the next sample forgets
    /// them.
    pub held_expiries: u32,
}
