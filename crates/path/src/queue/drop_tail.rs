//! DropTail: a parcel that finds no room is dropped.
//!
//! The parcel in transmission takes room: with a limit of 75, 74 wait and one is sent, as in ns-2.

use super::{Occupancy, Spare};
use crate::config::ConfigError;

/// The room of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropTail {
    /// A number of parcels of any length.
    Packets(u32),
    /// A number of bytes. A parcel that exceeds it is dropped, even if a shorter one would fit.
    Bytes(u64),
}

impl DropTail {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        match *self {
            Self::Packets(limit) => {
                ConfigError::unless(limit > 0, "queue.packets", || "0; allowed: 1 or more".to_owned())
            }
            Self::Bytes(limit) => ConfigError::unless(limit > 0, "queue.bytes", || "0; allowed: 1 or more".to_owned()),
        }
    }

    /// Returns the room in a queue of this length.
    pub(super) fn spare(self, found: Occupancy) -> Spare {
        match self {
            Self::Packets(limit) => Spare::Packets(limit.saturating_sub(found.packets)),
            Self::Bytes(limit) => Spare::Bytes(limit.saturating_sub(found.bytes)),
        }
    }
}
