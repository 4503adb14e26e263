//! Random Early Detection: drops parcels before the queue is full, more often the longer the
//! average queue is.
//!
//! From: Floyd and Jacobson, *Random Early Detection Gateways for Congestion Avoidance*, IEEE/ACM
//! Transactions on Networking 1(4), 1993; the gentle slope above the upper threshold, from Floyd's
//! recommendation of 2000. Where the paper leaves a choice, this code follows ns-2, so that the two
//! can be compared. The queue length excludes the parcel in transmission, and nothing is dropped
//! early while at most one parcel waits.

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
    /// Weight of the current length in the average: w_q.
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
    /// Maximum number of parcels behind the one in transmission.
    pub limit_packets: u32,
    /// Whether packets of transports with ECN are marked in place of an early drop, below the upper threshold (RFC 3168, section
    /// 7).
    pub ecn: bool,
}

/// The unit of a queue's length.
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

/// The state of RED. Lengths are in `manner.unit`.
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
    /// Makes an empty queue in front of a link of this rate.
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

    /// Updates the average with the current length.
    pub(super) fn observe(&mut self, arrival: &Arrival) {
        let waiting = waiting(arrival);
        if arrival.found.packets == 0 {
            // Idle time decays the average as if arrivals at the link's rate had found an empty
            // queue.
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

    /// Returns whether to mark instead of drop. Above the upper threshold packets are dropped,
    /// because flows that ignore marks would fill the queue.
    pub(super) fn marks_now(&self) -> bool {
        self.manner.ecn && self.average < self.maximum
    }

    /// Decides whether the queue admits the parcel.
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

    /// Returns the drop probability from the average alone: the paper's p_b.
    fn probability(&self) -> f64 {
        let excess = |from: f64, span: f64| (self.average - from) / span;
        if self.average < self.maximum {
            self.maximum_probability * excess(self.minimum, self.maximum - self.minimum)
        } else {
            self.maximum_probability + (1.0 - self.maximum_probability) * excess(self.maximum, self.maximum)
        }
    }

    /// Returns the drop probability of this parcel, which spaces the drops evenly: the paper's p_a.
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

/// Returns the number of typical packets that a link of this rate sends per second: the C of both
/// papers.
pub(super) fn packets_per_second(rate: Rate, packet_bytes: u32) -> f64 {
    rate.as_bps() as f64 / (8.0 * f64::from(packet_bytes))
}

/// Returns the queue length without the parcel in transmission.
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
mod tests;
