//! Random Early Detection: drops before the queue is full, the more the longer its average is.
//!
//! From: Floyd and Jacobson, *Random Early Detection Gateways for Congestion Avoidance*, IEEE/ACM Transactions on
//! Networking 1(4), 1993; the gentle slope above the upper threshold, from Floyd's recommendation of 2000. Where the
//! paper leaves a choice it is made as ns-2 makes it, so that the two can be compared: the queue is what waits behind
//! the parcel in transmission, and while at most one waits nothing is dropped early.

use super::{Arrival, Occupancy};
use crate::config::ConfigError;
use crate::parcel::DropCause;
use crate::stream::Stream;
use eifel_base::units::Rate;

/// The parameters of RED.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RedConfig {
    /// Average length, in packets, below which nothing is dropped: min_th.
    pub minimum_packets: f64,
    /// Average length, in packets, at which the drop probability reaches `maximum_probability`: max_th.
    pub maximum_packets: f64,
    /// Drop probability at the upper threshold: max_p.
    pub maximum_probability: f64,
    /// Weight of the present length in the average: w_q.
    pub weight: f64,
    pub manner: Manner,
}

/// How RED measures and drops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Manner {
    /// Whether the probability rises to 1 between `max_th` and twice `max_th`. Otherwise everything
    /// above `max_th` is dropped.
    pub gentle: bool,
    /// Whether early drops are at least 1/p parcels apart (ns-2's `wait_`). Otherwise they are at
    /// most 1/p apart, as in the paper of 1993.
    pub wait: bool,
    /// Unit of lengths. In bytes, longer parcels are dropped more often.
    pub unit: Unit,
    /// Bytes of a typical packet. It scales thresholds to bytes, and the average after idle times.
    pub mean_packet_bytes: u32,
    /// The most parcels behind the one in transmission.
    pub limit_packets: u32,
    /// Whether packets of transports with ECN are marked in place of an early drop, below the upper threshold (RFC 3168, section
    /// 7).
    pub ecn: bool,
}

/// What a queue is measured in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Packets,
    /// Thresholds and limits in packets are multiplied by `mean_packet_bytes`.
    Bytes,
}

impl RedConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let Self { minimum_packets, maximum_packets, .. } = *self;
        let ordered = minimum_packets > 0.0 && minimum_packets < maximum_packets && maximum_packets.is_finite();
        ConfigError::unless(ordered, "queue.minimum_packets", || {
            format!("thresholds {minimum_packets} and {maximum_packets}; allowed: 0 < minimum < maximum")
        })?;
        ConfigError::unless_probability(self.maximum_probability, "queue.maximum_probability")?;
        ConfigError::unless(self.weight > 0.0 && self.weight <= 1.0, "queue.weight", || {
            format!("{}; allowed: above 0, up to 1", self.weight)
        })?;
        self.manner.check()
    }
}

impl Manner {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let size = self.mean_packet_bytes;
        ConfigError::unless(size > 0, "queue.mean_packet_bytes", || "0; allowed: 1 or more".to_owned())?;
        ConfigError::unless(self.limit_packets > 0, "queue.limit_packets", || "0; allowed: 1 or more".to_owned())
    }
}

/// RED at work. Lengths are in its unit.
#[derive(Debug)]
pub struct Red {
    pub(super) minimum: f64,
    pub(super) maximum: f64,
    pub(super) maximum_probability: f64,
    pub(super) average: f64,
    weight: f64,
    manner: Manner,
    /// Typical packets that the link sends in a second.
    packets_per_second: f64,
    /// Arrivals since the last early drop; `None` while the average is below the lower threshold.
    since_drop: Option<Arrived>,
    stream: Stream,
}

#[derive(Clone, Copy, Debug)]
struct Arrived {
    packets: u64,
    bytes: u64,
}

impl Red {
    /// Makes an empty queue before a link of that rate.
    pub(super) fn new(config: RedConfig, rate: Rate, stream: Stream) -> Self {
        let manner = config.manner;
        let scale = match manner.unit {
            Unit::Packets => 1.0,
            Unit::Bytes => f64::from(manner.mean_packet_bytes),
        };
        Self {
            minimum: config.minimum_packets * scale,
            maximum: config.maximum_packets * scale,
            maximum_probability: config.maximum_probability,
            average: 0.0,
            weight: config.weight,
            manner,
            packets_per_second: packets_per_second(rate, manner.mean_packet_bytes),
            since_drop: None,
            stream,
        }
    }

    pub(super) fn admit(&mut self, arrival: &Arrival) -> Result<(), DropCause> {
        self.observe(arrival);
        self.judge(arrival)
    }

    /// Adds the present length to the average.
    pub(super) fn observe(&mut self, arrival: &Arrival) {
        let waiting = waiting(arrival);
        if arrival.found.packets == 0 {
            // An idle time counts as the empty arrivals that the link could have sent in it.
            let idle = arrival.now.since(arrival.last_departure).as_secs_f64();
            self.average *= power(1.0 - self.weight, (self.packets_per_second * idle) as u64);
        }
        let length = match self.manner.unit {
            Unit::Packets => f64::from(waiting.packets),
            Unit::Bytes => waiting.bytes as f64,
        };
        self.average += self.weight * (length - self.average);
    }

    pub(super) fn may_mark(&self) -> bool {
        self.manner.ecn
    }

    /// Above the upper threshold packets should be dropped, or flows that ignore marks would fill the queue.
    pub(super) fn marks_now(&self) -> bool {
        self.manner.ecn && self.average < self.maximum
    }

    /// Decides whether the parcel is taken in.
    pub(super) fn judge(&mut self, arrival: &Arrival) -> Result<(), DropCause> {
        let waiting = waiting(arrival);
        let early = self.drops_early(arrival.bytes, waiting.packets);
        let full = match self.manner.unit {
            Unit::Packets => waiting.packets >= self.manner.limit_packets,
            Unit::Bytes => {
                waiting.bytes >= u64::from(self.manner.limit_packets) * u64::from(self.manner.mean_packet_bytes)
            }
        };
        if !early && !full {
            return Ok(());
        }
        if let Some(since) = &mut self.since_drop {
            *since = Arrived { packets: 0, bytes: 0 };
        }
        Err(if full { DropCause::Queue } else { DropCause::Red })
    }

    fn drops_early(&mut self, bytes: u32, waiting: u32) -> bool {
        if self.average < self.minimum || waiting <= 1 {
            self.since_drop = None;
            return false;
        }
        let ceiling = if self.manner.gentle { 2.0 * self.maximum } else { self.maximum };
        let size = u64::from(bytes);
        let Some(since) = &mut self.since_drop else {
            self.since_drop = Some(Arrived { packets: 1, bytes: size });
            return self.average >= ceiling;
        };
        since.packets += 1;
        since.bytes += size;
        if self.average >= ceiling {
            return true;
        }
        let since = *since;
        let probability = self.final_probability(since, bytes);
        self.stream.chance(probability)
    }

    /// Returns the probability by the average alone: the paper's p_b.
    fn probability(&self) -> f64 {
        let excess = |from: f64, span: f64| (self.average - from) / span;
        if self.average < self.maximum {
            self.maximum_probability * excess(self.minimum, self.maximum - self.minimum)
        } else {
            self.maximum_probability + (1.0 - self.maximum_probability) * excess(self.maximum, self.maximum)
        }
    }

    /// Returns the probability for this parcel, which spaces the drops evenly: the paper's p_a.
    fn final_probability(&self, since: Arrived, bytes: u32) -> f64 {
        let typical = self.manner.mean_packet_bytes;
        let count = match self.manner.unit {
            Unit::Packets => since.packets,
            Unit::Bytes => since.bytes / u64::from(typical),
        } as f64;
        let base = self.probability();
        let due = count * base;
        let spaced = match self.manner.wait {
            true if due < 1.0 => 0.0,
            true if due < 2.0 => base / (2.0 - due),
            false if due < 1.0 => base / (1.0 - due),
            _ => return 1.0,
        };
        match self.manner.unit {
            Unit::Packets => spaced,
            Unit::Bytes => spaced * f64::from(bytes) / f64::from(typical),
        }
    }

    pub(super) fn average_bytes(&self) -> f64 {
        match self.manner.unit {
            Unit::Packets => self.average * f64::from(self.manner.mean_packet_bytes),
            Unit::Bytes => self.average,
        }
    }
}

/// Returns the typical packets that a link of this rate sends in a second: the C of both papers.
pub(super) fn packets_per_second(rate: Rate, packet_bytes: u32) -> f64 {
    rate.as_bps() as f64 / (8.0 * f64::from(packet_bytes))
}

/// Returns what waits behind the parcel in transmission.
fn waiting(arrival: &Arrival) -> Occupancy {
    let Occupancy { packets, bytes } = arrival.found;
    Occupancy { packets: packets.saturating_sub(1), bytes: bytes.saturating_sub(u64::from(arrival.in_transmission)) }
}

/// Raises `base` to a whole power by squaring. Unlike `powi` it gives the same bits on every
/// machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Instant;

    const MANNER: Manner = Manner {
        gentle: true,
        wait: false,
        unit: Unit::Packets,
        mean_packet_bytes: 1000,
        limit_packets: 50,
        ecn: false,
    };
    const CONFIG: RedConfig = RedConfig {
        minimum_packets: 5.0,
        maximum_packets: 15.0,
        maximum_probability: 0.1,
        weight: 0.25,
        manner: MANNER,
    };

    /// In front of 1 Mbit/s: 125 packets a second.
    fn red(config: RedConfig) -> Red {
        config.check().unwrap();
        Red::new(config, Rate::from_bps(1_000_000).unwrap(), Stream::new(1, &["red"]))
    }

    /// 1000 bytes that find one parcel in transmission and so many behind it, all of 1000 bytes.
    fn behind(waiting: u32) -> Arrival {
        Arrival {
            now: Instant::ZERO,
            bytes: 1000,
            found: Occupancy { packets: waiting + 1, bytes: 1000 * u64::from(waiting + 1) },
            in_transmission: 1000,
            last_departure: Instant::ZERO,
        }
    }

    fn idle(since: Instant, now: Instant) -> Arrival {
        let found = Occupancy::default();
        Arrival { now, bytes: 1000, found, in_transmission: 0, last_departure: since }
    }

    #[test]
    fn the_average_follows_what_waits() {
        let mut red = red(CONFIG);
        let averages = [4, 8, 8].map(|waiting| {
            red.admit(&behind(waiting)).unwrap();
            red.average
        });
        assert_eq!(averages, [1.0, 2.75, 4.0625]);
        assert_eq!(red.average_bytes(), 4062.5);
    }

    #[test]
    fn the_average_decays_while_the_link_is_idle() {
        let mut red = red(CONFIG);
        red.average = 4.0625;
        // 24.9 ms are 3.1 packets of 8 ms: three empty arrivals, and this one.
        red.admit(&idle(Instant::from_nanos(1_000_000_000), Instant::from_nanos(1_024_900_000))).unwrap();
        assert_eq!(red.average, 4.0625 * 0.75 * 0.75 * 0.75 * 0.75);
    }

    #[test]
    fn a_queue_in_bytes_counts_bytes() {
        let unit = Unit::Bytes;
        let mut red = red(RedConfig { manner: Manner { unit, mean_packet_bytes: 500, ..MANNER }, ..CONFIG });
        assert_eq!((red.minimum, red.maximum), (2500.0, 7500.0));
        red.admit(&behind(4)).unwrap();
        assert_eq!((red.average, red.average_bytes()), (1000.0, 1000.0));
        // 50 packets of 500 bytes are the limit: 25 of 1000 fill it.
        assert_eq!(red.admit(&behind(25)), Err(DropCause::Queue));
        // Twice the typical size, twice the probability: 3000 bytes are a count of 6.
        red.average = 5000.0;
        let probability = red.final_probability(Arrived { packets: 3, bytes: 3000 }, 1000);
        assert!((probability - 2.0 * 0.05 / (1.0 - 6.0 * 0.05)).abs() < 1e-12, "{probability}");
    }

    #[test]
    fn probability_rises_with_the_average_and_gently_beyond_the_threshold() {
        let mut red = red(CONFIG);
        for (average, expected) in [(5.0, 0.0), (10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0)] {
            red.average = average;
            assert!((red.probability() - expected).abs() < 1e-12, "{average}: {}", red.probability());
        }
    }

    #[test]
    fn probability_rises_with_the_count() {
        let mut red = red(CONFIG);
        red.average = 10.0;
        let after = |red: &Red, packets| red.final_probability(Arrived { packets, bytes: 0 }, 1000);
        assert!((after(&red, 2) - 0.05 / 0.9).abs() < 1e-12);
        assert_eq!(after(&red, 20), 1.0);
        red.manner.wait = true;
        assert_eq!(after(&red, 19), 0.0);
        assert!((after(&red, 30) - 0.05 / 0.5).abs() < 1e-12);
        assert_eq!(after(&red, 40), 1.0);
    }

    /// Gaps between early drops of a queue whose average stays at 10, a probability of 0.05.
    fn gaps(wait: bool) -> Vec<u32> {
        let mut red = red(RedConfig { weight: 1.0, manner: Manner { wait, ..MANNER }, ..CONFIG });
        let drops: Vec<u32> = (0..40_000).filter(|_| red.admit(&behind(10)) == Err(DropCause::Red)).collect();
        drops.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn gaps_between_drops_are_uniform() {
        let mean = |gaps: &[u32]| f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        // Hazards 1/19, 1/18, ..., 1: uniform from 1 to 19. With waiting: 1/20, 1/19, ...: uniform from 20 to 39.
        let near = gaps(false);
        assert_eq!((near.iter().min(), near.iter().max()), (Some(&1), Some(&19)));
        assert!((mean(&near) - 10.0).abs() < 0.4, "{}", mean(&near));
        let far = gaps(true);
        assert_eq!((far.iter().min(), far.iter().max()), (Some(&20), Some(&39)));
        assert!((mean(&far) - 29.5).abs() < 0.7, "{}", mean(&far));
    }

    #[test]
    fn everything_is_dropped_beyond_the_ceiling_and_nothing_while_one_waits() {
        let mut gentle = red(RedConfig { weight: 1.0, ..CONFIG });
        // The first above the lower threshold passes, whatever its probability; not so at the ceiling.
        assert_eq!(gentle.admit(&behind(29)), Ok(()));
        assert_eq!(gentle.admit(&behind(30)), Err(DropCause::Red));
        let mut steep = red(RedConfig { weight: 1.0, manner: Manner { gentle: false, ..MANNER }, ..CONFIG });
        assert_eq!(steep.admit(&behind(14)), Ok(()));
        assert_eq!(steep.admit(&behind(15)), Err(DropCause::Red));
        let mut long = red(RedConfig { weight: 0.001, ..CONFIG });
        long.average = 1000.0;
        assert_eq!(long.admit(&behind(1)), Ok(()));
        assert_eq!(long.admit(&behind(2)), Err(DropCause::Red));
        assert_eq!(long.admit(&behind(50)), Err(DropCause::Queue));
    }

    #[test]
    fn powers_by_squaring() {
        assert_eq!((power(0.5, 0), power(0.5, 1), power(0.5, 10)), (1.0, 0.5, 0.000_976_562_5));
        assert_eq!(power(0.998, u64::MAX), 0.0);
    }

    #[test]
    fn senseless_parameters_are_named() {
        let message = |config: RedConfig| config.check().unwrap_err().to_string();
        assert_eq!(
            message(RedConfig { maximum_packets: 5.0, ..CONFIG }),
            "queue.minimum_packets: thresholds 5 and 5; allowed: 0 < minimum < maximum"
        );
        assert_eq!(message(RedConfig { weight: 0.0, ..CONFIG }), "queue.weight: 0; allowed: above 0, up to 1");
        let manner = Manner { mean_packet_bytes: 0, ..MANNER };
        assert_eq!(message(RedConfig { manner, ..CONFIG }), "queue.mean_packet_bytes: 0; allowed: 1 or more");
    }
}
