//! Measures costs in real time. In a transcribed attack each cost is made up, so that its numbers
//! never change.

use crate::transcript;
use std::time::Instant;

/// The made-up cost of a piece of work, in nanoseconds.
const MADE_UP: u64 = 1000;

/// The cost of each step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    /// Wall-clock nanoseconds of each step.
    nanos: Vec<u64>,
}

impl Costs {
    /// Does `work` and records its cost.
    #[expect(clippy::disallowed_methods, reason = "a cost is measured in real time")]
    pub(crate) fn step<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let given = work();
        let took = start.elapsed().as_nanos() as u64;
        let made_up = MADE_UP + self.nanos.len() as u64;
        self.nanos.push(if transcript::is_asked_for() { made_up } else { took });
        given
    }

    /// Returns the microseconds that 999 of 1000 steps stay within.
    pub(crate) fn most_micros(&mut self) -> f64 {
        self.nanos.sort_unstable();
        let last = self.nanos.len().saturating_sub(1);
        self.nanos.get(last.min(self.nanos.len() * 999 / 1000)).map_or(0.0, |&nanos| nanos as f64 / 1e3)
    }
}

/// Returns the CPU nanoseconds that this thread spent on `work`. Unlike wall-clock time, they
/// exclude time in which another thread had the core. Falls back to wall-clock time where the
/// system does not provide them.
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
    (if transcript::is_asked_for() { MADE_UP } else { cost.max(1) }, given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_bound_holds_for_999_of_1000_steps() {
        let most = |count: u64| {
            let nanos = (1..=count).rev().map(|micros| micros * 1000).collect();
            Costs { nanos }.most_micros()
        };
        assert_eq!([0, 1, 2, 999, 1000, 1001, 2000].map(most), [0.0, 1.0, 2.0, 999.0, 1000.0, 1000.0, 1999.0]);
    }

    #[test]
    fn a_fixed_cost_replaces_the_clock_only_in_a_transcription() {
        let (number, _) = transcript::of(|| {
            let mut costs = Costs::default();
            assert_eq!([costs.step(|| 1), costs.step(|| 2)], [1, 2]);
            assert_eq!((costs.nanos, cpu_nanos(|| 3)), (vec![1000, 1001], (1000, 3)));
        });
        assert_eq!(number, ());
        let (nanos, sum) = cpu_nanos(|| (0..1_000_000_u64).map(std::hint::black_box).sum::<u64>());
        assert_eq!(sum, 499_999_500_000);
        assert!(nanos > 0 && nanos != MADE_UP, "a million steps take {nanos} ns");
    }
}
