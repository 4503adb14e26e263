//! Datagrams at a constant rate.

use eifel_base::time::Duration;
use eifel_base::units::Rate;
use eifel_path::stream::Stream;

/// A source with a constant rate. A jitter of 0.5 gives the intervals of ns-2's `random_`.
pub struct Cbr {
    shortest: Duration,
    /// Nanoseconds from the shortest interval to the longest; 0 if all are equal.
    spread: u64,
    pub(super) packet_bytes: u32,
    stream: Stream,
}

impl Cbr {
    /// Creates a source of `packet_bytes` (headers included) at `rate`. Each interval is drawn
    /// uniformly, in whole nanoseconds, within plus or minus `jitter` of the mean.
    pub fn new(rate: Rate, packet_bytes: u32, jitter: f64, stream: Stream) -> Self {
        let interval = rate.time_for(packet_bytes);
        let half = (interval.as_nanos() as f64 * jitter) as u64;
        let shortest = Duration::from_nanos(interval.as_nanos() - half).max(SHORTEST_GAP);
        Self { shortest, spread: 2 * half, packet_bytes, stream }
    }

    #[inline]
    pub(super) fn gap(&mut self) -> Duration {
        match self.spread {
            0 => self.shortest,
            spread => self.shortest + Duration::from_nanos(self.stream.below(spread + 1)),
        }
    }
}

/// The shortest interval. It makes time pass between two datagrams even if the draw is zero.
const SHORTEST_GAP: Duration = Duration::from_nanos(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_keep_within_the_jitter_and_to_their_mean() {
        let rate = Rate::from_bps(1_000_000).unwrap();
        let mut plain = Cbr::new(rate, 1000, 0.0, Stream::new(1, &["x"]));
        assert_eq!(plain.gap(), Duration::from_millis(8));
        let mut drawn = Cbr::new(rate, 1000, 0.5, Stream::new(1, &["x"]));
        let gaps: Vec<u64> = (0..10_000).map(|_| drawn.gap().as_nanos()).collect();
        assert!(gaps.iter().all(|gap| (4_000_000..=12_000_000).contains(gap)));
        let mean = gaps.iter().sum::<u64>() / 10_000;
        // Standard deviation of the mean: 8 ms / sqrt(12) / 100 = 23 us.
        assert!(mean.abs_diff(8_000_000) < 92_000, "{mean}");
    }
}
