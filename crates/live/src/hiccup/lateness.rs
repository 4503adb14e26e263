//! How late packets leave the box: the time from their release by the links until the kernel has
//! them.

use eifel_base::time::Duration;

/// Counts of delays, in steps of a microsecond.
#[derive(Clone, Debug)]
pub struct Lateness {
    steps: Vec<u64>,
    count: u64,
    longest: Duration,
}

/// The largest lateness with a step of its own, in microseconds.
const STEPS: usize = 100_000;

impl Default for Lateness {
    fn default() -> Self {
        Self { steps: vec![0; STEPS + 1], count: 0, longest: Duration::ZERO }
    }
}

impl Lateness {
    /// Counts a packet that left `late` after its time.
    pub fn note(&mut self, late: Duration) {
        let step = (late.as_nanos() / 1000).min(STEPS as u64);
        self.steps[step as usize] += 1;
        self.count += 1;
        self.longest = self.longest.max(late);
    }

    /// Returns the number of packets noted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the longest lateness.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// Returns the lateness that a share of packets, 0 to 1, does not exceed, rounded up to a
    /// microsecond. It is at most 100 001 µs, and zero without packets.
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (step, count) in self.steps.iter().enumerate() {
            seen += count;
            if seen >= wanted.max(1) {
                return Duration::from_micros(step as u64 + 1);
            }
        }
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_equal_those_of_the_sorted_samples() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.5), Duration::ZERO);
        lateness.note(Duration::from_micros(7));
        assert_eq!([0.0, 0.5, 1.0].map(|share| lateness.quantile(share)), [Duration::from_micros(8); 3]);
        let mut lateness = Lateness::default();
        (1..=100).for_each(|us| lateness.note(Duration::from_micros(us) - Duration::from_nanos(1)));
        assert_eq!(lateness.quantile(0.5), Duration::from_micros(50));
        assert_eq!(lateness.quantile(0.99), Duration::from_micros(99));
        assert_eq!((lateness.count(), lateness.longest().as_nanos()), (100, 99_999));
        lateness.note(Duration::from_secs(9));
        assert_eq!(lateness.quantile(1.0), Duration::from_micros(100_001));
    }
}
