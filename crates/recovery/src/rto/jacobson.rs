//! SRTT and RTTVAR with the classic gains, shared by the timers of RFC 6298, RFC 9260 and Lite.

use crate::episode::Estimate;
use eifel_base::time::Duration;

/// Returns the estimate after the first sample: RFC 6298, section 2.2. [rfc6298:2.2]
pub(super) fn first(rtt: Duration) -> Estimate {
    Estimate { srtt: rtt, rttvar: rtt / 2 }
}

/// Returns the estimate after a sample: RFC 6298, section 2.3, with alpha = 1/8 and beta = 1/4.
/// RTTVAR is computed before SRTT. [rfc6298:2.3.a] [rfc6298:2.3.b]
pub(super) fn next(estimate: Option<Estimate>, rtt: Duration) -> Estimate {
    let Some(Estimate { srtt, rttvar }) = estimate else { return first(rtt) };
    Estimate { rttvar: rttvar.towards(srtt.abs_diff(rtt), 2), srtt: srtt.towards(rtt, 3) }
}
