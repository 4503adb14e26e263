//! SRTT and RTTVAR with the classic gains: what RFC 6298 and the Lite timer have in common.

use crate::episode::Estimate;
use eifel_base::time::Duration;

/// RFC 6298, section 2.2: from the first sample. [rfc6298:2.2]
pub(super) fn first(rtt: Duration) -> Estimate {
    Estimate { srtt: rtt, rttvar: rtt / 2 }
}

/// RFC 6298, section 2.3, with alpha = 1/8 and beta = 1/4; RTTVAR before SRTT. [rfc6298:2.3.a] [rfc6298:2.3.b]
pub(super) fn next(estimate: Option<Estimate>, rtt: Duration) -> Estimate {
    let Some(Estimate { srtt, rttvar }) = estimate else { return first(rtt) };
    Estimate { rttvar: rttvar.towards(srtt.abs_diff(rtt), 2), srtt: srtt.towards(rtt, 3) }
}

/// RFC 4015, section 3.1, step 11; step 0 adds twice the granularity to what was before.
pub(super) fn at_least(sample: Duration, before: Estimate, granularity: Duration) -> Estimate {
    Estimate { srtt: sample.max(before.srtt + granularity * 2), rttvar: before.rttvar.max(sample / 2) }
}
