//! SRTT and RTTVAR in whole numbers, as early senders computed them: SRTT in eighths of a tick,
//! RTTVAR in quarters, both rounded down before a comparison (Jacobson 1988, appendix A; 4.4BSD;
//! ns-2).
//!
//! Rounding keeps RTTVAR at three quarters of a tick when round trips do not vary. While SRTT is a
//! fraction of a tick below the samples, each sample counts as a whole tick of deviation.

use crate::episode::Estimate;
use eifel_base::time::Duration;

/// Returns the estimate after a sample, which counts as a whole number of ticks, at least one.
pub(super) fn next(estimate: Option<Estimate>, rtt: Duration, tick: Duration) -> Estimate {
    let ticks = (rtt.as_nanos() / tick.as_nanos()).max(1);
    let Some(Estimate { srtt, rttvar }) = estimate else { return of(8 * ticks, 2 * ticks, tick) };
    let (srtt, rttvar) = (parts(srtt, 8, tick), parts(rttvar, 4, tick));
    let whole = srtt / 8;
    of((srtt + ticks - whole).max(1), (rttvar + ticks.abs_diff(whole) - rttvar / 4).max(1), tick)
}

/// Converts a time to parts of a tick, rounded to the nearest, because a seed may not be a whole
/// number of parts.
fn parts(time: Duration, of_a_tick: u64, tick: Duration) -> u64 {
    time.as_nanos().saturating_mul(of_a_tick).saturating_add(tick.as_nanos() / 2) / tick.as_nanos()
}

fn of(eighths: u64, quarters: u64, tick: Duration) -> Estimate {
    let time = |parts: u64, of_a_tick: u64| Duration::from_nanos(parts.saturating_mul(tick.as_nanos()) / of_a_tick);
    Estimate { srtt: time(eighths, 8), rttvar: time(quarters, 4) }
}
