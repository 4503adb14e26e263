//! SRTT and RTTVAR with the classic gains, shared by the timers of RFC 6298, RFC 9260 and Lite.

use super::back_off::Seed;
use crate::episode::Estimate;
use eifel_base::time::Duration;

/// Returns the estimate after the first sample: RFC 6298, section 2.2. [rfc6298:2.2]
fn first(rtt: Duration) -> Estimate {
    Estimate { srtt: rtt, rttvar: rtt / 2 }
}

/// Returns the estimate after a sample: RFC 6298, section 2.3, with alpha = 1/8 and beta = 1/4.
/// RTTVAR is computed before SRTT. [rfc6298:2.3.a] [rfc6298:2.3.b]
pub(super) fn next(estimate: Option<Estimate>, rtt: Duration) -> Estimate {
    let Some(Estimate { srtt, rttvar }) = estimate else { return first(rtt) };
    Estimate { rttvar: rttvar.towards(srtt.abs_diff(rtt), 2), srtt: srtt.towards(rtt, 3) }
}

/// Returns the estimate that a seed restarts: RFC 4015, section 3.1, step 11. Step 0 adds twice the
/// granularity to the SRTT before the timeout.
pub(super) fn seeded(seed: Seed, granularity: Duration) -> Estimate {
    match seed {
        Seed::First(sample) => first(sample),
        Seed::Inherited(estimate) => estimate,
        Seed::AtLeast { sample, before } => {
            Estimate { srtt: sample.max(before.srtt + granularity * 2), rttvar: before.rttvar.max(sample / 2) }
        }
    }
}
