//! The queue in front of the transmitter: which parcels it takes in.
//!
//! Its length is what has been taken in and is not yet transmitted, the parcel in transmission included.

pub mod adaptive_red;
pub mod drop_tail;
pub mod red;

use crate::config::{Capacity, ConfigError};
use crate::parcel::DropCause;
use crate::stream::Stream;
use adaptive_red::{AdaptiveRed, AdaptiveRedConfig};
use drop_tail::DropTail;
use eifel_base::time::Instant;
use red::{Red, RedConfig};

/// The rule of a queue.
#[derive(Clone, PartialEq, Debug)]
pub enum QueueConfig {
    /// Takes in everything.
    Unlimited,
    /// Takes in what finds room.
    DropTail(DropTail),
    /// Random Early Detection.
    Red(RedConfig),
    /// RED that finds its parameters itself.
    AdaptiveRed(AdaptiveRedConfig),
}

impl QueueConfig {
    pub(crate) fn check(&self, capacity: &Capacity) -> Result<(), ConfigError> {
        match self {
            Self::Unlimited => return Ok(()),
            Self::DropTail(limit) => return limit.check(),
            Self::Red(red) => red.check()?,
            Self::AdaptiveRed(red) => red.check()?,
        }
        ConfigError::unless(capacity.rate().is_some(), "queue", || {
            "RED on a link of unlimited capacity; allowed: a link with a rate or a trace".to_owned()
        })
    }
}

impl QueueConfig {
    /// The longest parcel that is taken in where nothing waits.
    pub(crate) fn longest_alone(&self) -> u64 {
        match self {
            Self::DropTail(DropTail::Bytes(limit)) => *limit,
            Self::Unlimited | Self::DropTail(_) | Self::Red(_) | Self::AdaptiveRed(_) => u64::MAX,
        }
    }
}

/// How long a queue is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Occupancy {
    /// Parcels not yet transmitted, the one in transmission included.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
}

/// What a queue takes in before its length has to be looked at again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spare {
    Packets(u32),
    Bytes(u64),
    /// Everything.
    Endless,
}

impl Spare {
    /// Takes room for a parcel of so many bytes, if there is enough.
    #[inline(always)]
    pub(crate) fn take(&mut self, bytes: u32) -> bool {
        match self {
            Self::Packets(left) => left.checked_sub(1).map(|rest| *left = rest).is_some(),
            Self::Bytes(left) => left.checked_sub(u64::from(bytes)).map(|rest| *left = rest).is_some(),
            Self::Endless => true,
        }
    }
}

/// A parcel at the tail of the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When it comes.
    pub now: Instant,
    /// Its length in bytes.
    pub bytes: u32,
    /// The queue that it finds.
    pub found: Occupancy,
    /// Bytes of the parcel that is in transmission; 0 if there is none.
    pub in_transmission: u32,
    /// When the last transmission ended or will end.
    pub last_departure: Instant,
}

/// The rule of a queue at work.
#[derive(Debug)]
pub(crate) enum Queue {
    Unlimited,
    DropTail(DropTail),
    Red(Box<Red>),
    AdaptiveRed(Box<AdaptiveRed>),
}

impl Queue {
    /// A queue in front of a transmitter of that capacity; both are checked.
    pub(crate) fn new(config: &QueueConfig, capacity: &Capacity, stream: Stream) -> Self {
        match (config, capacity.rate()) {
            (QueueConfig::DropTail(limit), _) => Self::DropTail(*limit),
            (QueueConfig::Red(red), Some(rate)) => Self::Red(Box::new(Red::new(*red, rate, stream))),
            (QueueConfig::AdaptiveRed(red), Some(rate)) => {
                Self::AdaptiveRed(Box::new(AdaptiveRed::new(red, rate, stream)))
            }
            (QueueConfig::Unlimited | QueueConfig::Red(_) | QueueConfig::AdaptiveRed(_), _) => Self::Unlimited,
        }
    }

    /// What is taken in, and nothing else follows from it, behind a queue of that length.
    pub(crate) fn spare(&self, found: Occupancy) -> Spare {
        match self {
            Self::DropTail(limit) => limit.spare(found),
            Self::Unlimited => Spare::Endless,
            Self::Red(_) | Self::AdaptiveRed(_) => Spare::Packets(0),
        }
    }

    /// Whether a parcel that finds nothing to spare is taken in, and if not, why. `arrival` is asked for only where more
    /// than the length matters.
    #[inline]
    pub(crate) fn admit(&mut self, arrival: impl FnOnce() -> Arrival) -> Result<(), DropCause> {
        match self {
            Self::Unlimited | Self::DropTail(_) => Err(DropCause::Queue),
            Self::Red(red) => red.admit(&arrival()),
            Self::AdaptiveRed(red) => red.admit(&arrival()),
        }
    }

    /// Whether what is taken in depends on more than the queue's length.
    pub(crate) fn is_random(&self) -> bool {
        match self {
            Self::Unlimited | Self::DropTail(_) => false,
            Self::Red(_) | Self::AdaptiveRed(_) => true,
        }
    }

    /// The average that RED goes by, in bytes; `None` for queues that keep none.
    pub(crate) fn average_bytes(&self) -> Option<f64> {
        match self {
            Self::Unlimited | Self::DropTail(_) => None,
            Self::Red(red) => Some(red.average_bytes()),
            Self::AdaptiveRed(red) => Some(red.average_bytes()),
        }
    }
}
