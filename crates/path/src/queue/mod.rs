//! Queues in front of the transmitter. Their length includes the parcel in transmission.

pub mod adaptive_red;
pub mod codel;
pub mod drop_tail;
mod fifo;
pub mod fq_codel;
pub mod red;
mod served;

use crate::config::{Capacity, ConfigError};
use crate::parcel::DropCause;
use crate::stream::Stream;
use adaptive_red::{AdaptiveRed, AdaptiveRedConfig};
use codel::CodelConfig;
use drop_tail::DropTail;
use eifel_base::time::Instant;
use fq_codel::{FqCodel, FqCodelConfig};
use red::{Red, RedConfig};
pub(crate) use served::Served;

#[derive(Clone, PartialEq, Debug)]
pub enum QueueConfig {
    Unlimited,
    /// Drops parcels that find no room.
    DropTail(DropTail),
    /// Random Early Detection.
    Red(RedConfig),
    /// RED that adapts its parameters itself.
    AdaptiveRed(AdaptiveRedConfig),
    /// CoDel: drops parcels by their waiting time.
    Codel(CodelConfig),
    /// CoDel with a queue for each flow.
    FqCodel(FqCodelConfig),
}

impl QueueConfig {
    /// Returns whether the queue decides on a parcel when the parcel leaves. Background traffic
    /// cannot enter such a queue.
    pub fn decides_at_exit(&self) -> bool {
        matches!(self, Self::Codel(_) | Self::FqCodel(_))
    }

    pub(crate) fn check(&self, capacity: &Capacity) -> Result<(), ConfigError> {
        match self {
            Self::Unlimited => return Ok(()),
            Self::DropTail(limit) => return limit.check(),
            Self::Red(red) => red.check()?,
            Self::AdaptiveRed(red) => red.check()?,
            Self::Codel(codel) => codel.check()?,
            Self::FqCodel(codel) => codel.check()?,
        }
        ConfigError::unless(capacity.rate().is_some(), "queue", || {
            "an early drop on a link of unlimited capacity; allowed: a link with a rate or a trace".to_owned()
        })
    }
}

/// The length of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Occupancy {
    /// Parcels not yet transmitted, including the one in transmission.
    pub packets: u32,
    pub bytes: u64,
}

/// Room that a queue has before its length must be determined again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spare {
    Packets(u32),
    Bytes(u64),
    Endless,
}

impl Spare {
    /// Returns whether there is room for a parcel.
    #[inline(always)]
    pub(crate) fn fits(self, bytes: u32) -> bool {
        match self {
            Self::Packets(left) => left > 0,
            Self::Bytes(left) => left >= u64::from(bytes),
            Self::Endless => true,
        }
    }

    /// Takes room for a parcel; returns `false` if there is none.
    #[inline(always)]
    pub(crate) fn take(&mut self, bytes: u32) -> bool {
        match self {
            Self::Packets(left) => left.checked_sub(1).map(|rest| *left = rest).is_some(),
            Self::Bytes(left) => left.checked_sub(u64::from(bytes)).map(|rest| *left = rest).is_some(),
            Self::Endless => true,
        }
    }
}

/// A parcel that arrives at the tail of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    pub now: Instant,
    pub bytes: u32,
    /// Length of the queue without the parcel.
    pub found: Occupancy,
    /// Bytes of the parcel in transmission; 0 without one.
    pub in_transmission: u32,
    /// End of the last transmission, past or future.
    pub last_departure: Instant,
}

#[derive(Debug)]
pub(crate) enum Queue {
    Unlimited,
    DropTail(DropTail),
    Red(Box<Red>),
    AdaptiveRed(Box<AdaptiveRed>),
    Served(Box<Served>),
}

impl Queue {
    /// Makes a queue in front of a transmitter of this capacity. Both settings have been checked.
    pub(crate) fn new(config: &QueueConfig, capacity: &Capacity, stream: Stream) -> Self {
        match (config, capacity.rate()) {
            (QueueConfig::DropTail(limit), _) => Self::DropTail(*limit),
            (QueueConfig::Red(red), Some(rate)) => Self::Red(Box::new(Red::new(*red, rate, stream))),
            (QueueConfig::AdaptiveRed(red), Some(rate)) => {
                Self::AdaptiveRed(Box::new(AdaptiveRed::new(red, rate, stream)))
            }
            (QueueConfig::Codel(codel), _) => Self::Served(Box::new(Served::codel(*codel))),
            (QueueConfig::FqCodel(codel), _) => Self::Served(Box::new(Served::fq_codel(FqCodel::new(*codel, stream)))),
            (QueueConfig::Unlimited | QueueConfig::Red(_) | QueueConfig::AdaptiveRed(_), _) => Self::Unlimited,
        }
    }

    /// Returns the room at this queue length that parcels may take without asking the queue again.
    pub(crate) fn spare(&self, found: Occupancy) -> Spare {
        match self {
            Self::DropTail(limit) => limit.spare(found),
            Self::Unlimited => Spare::Endless,
            Self::Red(_) | Self::AdaptiveRed(_) | Self::Served(_) => Spare::Packets(0),
        }
    }

    /// Decides on a parcel that finds no spare room. Calls `arrival` only if the decision depends
    /// on more than the queue's length.
    #[inline]
    pub(crate) fn admit(&mut self, arrival: impl FnOnce() -> Arrival) -> Result<(), DropCause> {
        match self {
            // Only background traffic asks a queue that decides at its exit, and is dropped.
            Self::Unlimited | Self::DropTail(_) | Self::Served(_) => Err(DropCause::Queue),
            Self::Red(red) => red.admit(&arrival()),
            Self::AdaptiveRed(red) => red.admit(&arrival()),
        }
    }

    /// Returns whether the decision depends on more than the queue's length.
    pub(crate) fn is_random(&self) -> bool {
        match self {
            Self::Unlimited | Self::DropTail(_) => false,
            Self::Red(_) | Self::AdaptiveRed(_) | Self::Served(_) => true,
        }
    }

    /// Returns whether the queue must know a parcel's label, because it marks or decides at its
    /// exit.
    pub(crate) fn wants_labels(&self) -> bool {
        match self {
            Self::Unlimited | Self::DropTail(_) => false,
            Self::Red(red) => red.may_mark(),
            Self::AdaptiveRed(red) => red.may_mark(),
            Self::Served(_) => true,
        }
    }

    /// Returns whether the queue marks a parcel that it has just dropped early, if the parcel takes
    /// marks.
    pub(crate) fn marks_now(&self) -> bool {
        match self {
            Self::Unlimited | Self::DropTail(_) | Self::Served(_) => false,
            Self::Red(red) => red.marks_now(),
            Self::AdaptiveRed(red) => red.marks_now(),
        }
    }

    /// Returns RED's average in bytes; `None` for queues that keep none.
    pub(crate) fn average_bytes(&self) -> Option<f64> {
        match self {
            Self::Unlimited | Self::DropTail(_) | Self::Served(_) => None,
            Self::Red(red) => Some(red.average_bytes()),
            Self::AdaptiveRed(red) => Some(red.average_bytes()),
        }
    }
}
