//! DropTail: a parcel that finds no room is dropped.
//!
//! The parcel in transmission takes room: of a limit of 75, 74 wait and one is sent, as in ns-2.

use super::Occupancy;
use crate::config::ConfigError;
use crate::parcel::DropCause;

/// The room of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropTail {
    /// So many parcels, however long.
    Packets(u32),
    /// So many bytes; a parcel that would pass the limit is dropped, though a shorter one might still find room.
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

    #[inline]
    pub(crate) fn admit(self, found: Occupancy, bytes: u32) -> Result<(), DropCause> {
        let room = match self {
            Self::Packets(limit) => found.packets < limit,
            Self::Bytes(limit) => found.bytes + u64::from(bytes) <= limit,
        };
        if room { Ok(()) } else { Err(DropCause::Queue) }
    }
}
