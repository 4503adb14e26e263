//! Real time, to measure costs.

use std::time::Instant;

/// The cost of each step of a piece of work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    /// Nanoseconds of wall-clock time for each step.
    nanos: Vec<u64>,
}

impl Costs {
    /// Does `work` and records its cost.
    #[expect(clippy::disallowed_methods, reason = "a cost is measured in real time")]
    pub(crate) fn step<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let given = work();
        self.nanos.push(start.elapsed().as_nanos() as u64);
        given
    }

    /// Returns the cost in microseconds that all but one step in a thousand stay within.
    pub(crate) fn most_micros(&mut self) -> f64 {
        self.nanos.sort_unstable();
        let last = self.nanos.len().saturating_sub(1);
        self.nanos.get(last.min(self.nanos.len() * 999 / 1000)).map_or(0.0, |&nanos| nanos as f64 / 1e3)
    }
}

/// Returns the nanoseconds that this thread has run. Unlike wall-clock time, it excludes time in
/// which another thread had the core. Where the system does not provide it, returns wall-clock
/// time.
#[expect(clippy::disallowed_methods, reason = "a cost is measured in real time")]
pub(crate) fn cpu_nanos<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let ran = || {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        told.split_whitespace().next()?.parse::<u64>().ok()
    };
    let (start, before) = (Instant::now(), ran());
    let given = work();
    let on_the_wall = start.elapsed().as_nanos() as u64;
    let cost = before.zip(ran()).map_or(on_the_wall, |(before, after)| after.saturating_sub(before));
    (cost.max(1), given)
}
