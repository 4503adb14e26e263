//! Real time, for what a thing costs.

use std::time::Instant;

/// Runs `work`; returns nanoseconds, and what it gave.
#[expect(clippy::disallowed_methods, reason = "a cost is measured in real time")]
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let start = Instant::now();
    let given = work();
    (start.elapsed().as_nanos() as u64, given)
}
