//! Adaptive RED: RED that derives its parameters from the link's capacity and a target queueing
//! delay. It keeps adapting its drop probability so that the average stays halfway between the
//! thresholds.
//!
//! From: Floyd, Gummadi and Shenker, *Adaptive RED: An Algorithm for Increasing the Robustness of
//! RED's Active Queue Management*, 2001, sections 4 and 5. As in ns-2, the queue adapts when a
//! parcel arrives, and the interval counts from the last change.

use super::Arrival;
use super::red::{Manner, Red, RedConfig, packets_per_second};
use crate::config::ConfigError;
use crate::parcel::DropCause;
use crate::stream::Stream;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Rate;

/// The parameters of Adaptive RED.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdaptiveRedConfig {
    /// Target of the queueing delay; 5 ms in ns-2.
    pub target_delay: Duration,
    pub manner: Manner,
}

impl AdaptiveRedConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let some = self.target_delay > Duration::ZERO;
        ConfigError::unless(some, "queue.target_delay", || "0; allowed: more than 0".to_owned())?;
        self.manner.check()
    }

    /// Returns RED's initial parameters in front of a link of this rate (section 5).
    pub fn parameters(&self, rate: Rate) -> RedConfig {
        let capacity = packets_per_second(rate, self.manner.mean_packet_bytes);
        let minimum_packets = (self.target_delay.as_secs_f64() * capacity / 2.0).max(SMALLEST_MINIMUM_PACKETS);
        RedConfig {
            minimum_packets,
            maximum_packets: 3.0 * minimum_packets,
            maximum_probability: FIRST_PROBABILITY,
            weight: 1.0 - libm::exp(-1.0 / capacity),
            manner: self.manner,
        }
    }
}

#[derive(Debug)]
pub struct AdaptiveRed {
    red: Red,
    adapted: Instant,
}

impl AdaptiveRed {
    pub(super) fn new(config: &AdaptiveRedConfig, rate: Rate, stream: Stream) -> Self {
        Self { red: Red::new(config.parameters(rate), rate, stream), adapted: Instant::ZERO }
    }

    pub(super) fn admit(&mut self, arrival: &Arrival) -> Result<(), DropCause> {
        self.red.observe(arrival);
        if arrival.now > self.adapted + INTERVAL {
            self.adapt(arrival.now);
        }
        self.red.judge(arrival)
    }

    /// Adapts the drop probability: additive increase, multiplicative decrease (figure 1 of the
    /// paper).
    fn adapt(&mut self, now: Instant) {
        let Red { minimum, maximum, average, maximum_probability, .. } = &mut self.red;
        let margin = MARGIN * (*maximum - *minimum);
        if *average < *minimum + margin && *maximum_probability > LEAST_PROBABILITY {
            *maximum_probability *= DECREASE;
            self.adapted = now;
        } else if *average > *maximum - margin && *maximum_probability < MOST_PROBABILITY {
            *maximum_probability += LARGEST_INCREASE.min(*maximum_probability / 4.0);
            self.adapted = now;
        }
    }

    pub(super) fn may_mark(&self) -> bool {
        self.red.may_mark()
    }

    pub(super) fn marks_now(&self) -> bool {
        self.red.marks_now()
    }

    pub(super) fn average_bytes(&self) -> f64 {
        self.red.average_bytes()
    }
}

const INTERVAL: Duration = Duration::from_millis(500);
const SMALLEST_MINIMUM_PACKETS: f64 = 5.0;
const FIRST_PROBABILITY: f64 = 0.1;
const LEAST_PROBABILITY: f64 = 0.01;
const MOST_PROBABILITY: f64 = 0.5;
const DECREASE: f64 = 0.9;
const LARGEST_INCREASE: f64 = 0.01;
/// Share of the distance between the thresholds that lies on either side of the target range.
const MARGIN: f64 = 0.4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Occupancy;
    use crate::queue::red::Unit;

    fn config(target_millis: u64) -> AdaptiveRedConfig {
        let manner = Manner {
            gentle: true,
            wait: true,
            unit: Unit::Packets,
            mean_packet_bytes: 1000,
            limit_packets: 75,
            ecn: false,
        };
        AdaptiveRedConfig { target_delay: Duration::from_millis(target_millis), manner }
    }

    /// Returns the rate of 250 packets of 1000 bytes per second.
    fn rate() -> Rate {
        Rate::from_bps(2_000_000).unwrap()
    }

    fn arrival(at_millis: u64, waiting: u32) -> Arrival {
        Arrival {
            now: Instant::ZERO + Duration::from_millis(at_millis),
            bytes: 1000,
            found: Occupancy { packets: waiting + 1, bytes: 1000 * u64::from(waiting + 1) },
            in_transmission: 1000,
            last_departure: Instant::ZERO,
        }
    }

    #[test]
    fn parameters_come_from_capacity_and_target() {
        let short = config(5).parameters(rate());
        assert_eq!((short.minimum_packets, short.maximum_packets), (5.0, 15.0));
        assert_eq!(short.maximum_probability, 0.1);
        assert!((short.weight - 0.003_992_010_656).abs() < 1e-12, "{}", short.weight);
        let long = config(100).parameters(rate());
        assert_eq!((long.minimum_packets, long.maximum_packets), (12.5, 37.5));
    }

    /// Returns the drop probability after a parcel at each of these instants, with a constant
    /// average.
    fn probabilities(average: f64, first: f64, at_millis: &[u64]) -> Vec<f64> {
        let mut queue = AdaptiveRed::new(&config(5), rate(), Stream::new(1, &["red"]));
        queue.red.maximum_probability = first;
        let at = |&at: &u64| {
            queue.red.average = average;
            // Dropped or not does not matter here.
            let _ = queue.admit(&arrival(at, average as u32));
            queue.red.maximum_probability
        };
        at_millis.iter().map(at).collect()
    }

    #[test]
    fn a_short_queue_lowers_the_probability_at_most_every_half_second() {
        // Below 5 + 0.4 * 10 = 9.
        assert_eq!(probabilities(8.0, 0.1, &[500, 501, 1001, 1002]), [0.1, 0.1 * 0.9, 0.1 * 0.9, 0.1 * 0.9 * 0.9]);
        assert_eq!(probabilities(8.0, 0.01, &[501]), [0.01]);
    }

    #[test]
    fn a_long_queue_raises_it_by_a_hundredth_or_a_quarter() {
        // Above 15 - 0.4 * 10 = 11.
        assert_eq!(probabilities(12.0, 0.1, &[501, 1002]), [0.1 + 0.01, 0.1 + 0.01 + 0.01]);
        assert_eq!(probabilities(12.0, 0.02, &[501]), [0.02 + 0.005]);
        assert_eq!(probabilities(12.0, 0.5, &[501]), [0.5]);
    }

    #[test]
    fn a_queue_in_the_target_range_changes_nothing_and_starts_no_interval() {
        assert_eq!(probabilities(10.0, 0.1, &[501]), [0.1]);
        let mut queue = AdaptiveRed::new(&config(5), rate(), Stream::new(1, &["red"]));
        queue.adapted = Instant::ZERO;
        queue.red.average = 10.0;
        queue.admit(&arrival(600, 10)).unwrap();
        assert_eq!(queue.adapted, Instant::ZERO);
    }

    #[test]
    fn an_overloaded_queue_settles_between_its_thresholds() {
        // 10 % more than the link can carry, from Poisson-like traffic: a packet each 4 ms, a tenth of them doubled.
        let mut queue = AdaptiveRed::new(&config(5), rate(), Stream::new(1, &["red"]));
        let mut traffic = Stream::new(2, &["traffic"]);
        let (mut length, mut sum) = (0u32, 0.0);
        for tick in 0..50_000u64 {
            length = length.saturating_sub(1);
            for _ in 0..1 + u32::from(traffic.chance(0.1)) {
                let waiting = length.saturating_sub(1);
                length += u32::from(queue.admit(&arrival(tick * 4, waiting)).is_ok());
            }
            if tick >= 25_000 {
                sum += queue.red.average;
            }
        }
        let mean = sum / 25_000.0;
        assert!((8.0..12.0).contains(&mean), "{mean}");
    }
}
