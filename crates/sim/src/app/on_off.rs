//! Datagrams at a constant rate in bursts, with pauses between. The lengths of bursts and pauses
//! are drawn, usually from exponential distributions.

use eifel_base::time::Duration;
use eifel_base::units::Rate;
use eifel_path::draw::Draw;
use eifel_path::stream::Stream;

/// A source that sends in bursts. It begins with a pause, and a burst has at least one datagram, as
/// in ns-2.
pub struct OnOff {
    interval: Duration,
    pub(super) packet_bytes: u32,
    on: Draw,
    off: Draw,
    stream: Stream,
    /// Datagrams left in the current burst.
    left: u64,
}

impl OnOff {
    /// Creates a source of datagrams of `packet_bytes` (headers included). It sends at `rate` for
    /// the time drawn from `on`, then pauses for the time drawn from `off`.
    pub fn new(rate: Rate, packet_bytes: u32, (on, off): (Draw, Draw), stream: Stream) -> Self {
        Self { interval: rate.time_for(packet_bytes), packet_bytes, on, off, stream, left: 0 }
    }

    pub(super) fn gap(&mut self) -> Duration {
        let mut gap = self.interval;
        if self.left == 0 {
            let (burst, interval) = (self.on.draw(&mut self.stream).as_nanos(), self.interval.as_nanos().max(1));
            self.left = ((burst + interval / 2) / interval).max(1);
            gap = gap + self.off.draw(&mut self.stream);
        }
        self.left -= 1;
        gap.max(Duration::from_nanos(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_and_pauses_have_their_means() {
        let rate = Rate::from_bps(1_000_000).unwrap();
        let draws = (Draw::Constant { value_s: 0.024 }, Draw::Constant { value_s: 0.1 });
        let mut source = OnOff::new(rate, 1000, draws, Stream::new(1, &["x"]));
        let gaps: Vec<u64> = (0..7).map(|_| source.gap().as_nanos() / 1_000_000).collect();
        assert_eq!(gaps, [108, 8, 8, 108, 8, 8, 108]);
    }

    #[test]
    fn a_burst_is_rounded_to_datagrams_and_has_one_at_least() {
        let rate = Rate::from_bps(1_000_000).unwrap();
        for (burst_s, datagrams) in [(0.0, 1), (0.003, 1), (0.011_999, 1), (0.012, 2), (0.019_999, 2), (0.020, 3)] {
            let draws = (Draw::Constant { value_s: burst_s }, Draw::Constant { value_s: 0.1 });
            let mut source = OnOff::new(rate, 1000, draws, Stream::new(1, &["x"]));
            let gaps: Vec<u64> = (0..7).map(|_| source.gap().as_nanos() / 1_000_000).collect();
            let expected: Vec<u64> = (0..7).map(|number| if number % datagrams == 0 { 108 } else { 8 }).collect();
            assert_eq!(gaps, expected, "{burst_s}");
        }
    }

    #[test]
    fn time_passes_between_datagrams_without_length() {
        let rate = Rate::from_bps(1_000_000_000_000).unwrap();
        let draws = (Draw::Constant { value_s: 0.0 }, Draw::Constant { value_s: 0.0 });
        let mut source = OnOff::new(rate, 0, draws, Stream::new(1, &["x"]));
        assert_eq!([source.gap(), source.gap()], [Duration::from_nanos(1); 2]);
    }
}
