//! Loss by length: drops each parcel that is longer than the link carries, without a report.

use super::Fate;
use crate::parcel::{DropCause, Parcel};

#[derive(Debug)]
pub struct LargerThan {
    /// Length of the longest parcel that passes.
    bytes: u32,
}

impl LargerThan {
    pub(super) fn new(bytes: u32) -> Self {
        Self { bytes }
    }

    pub(super) fn meet(&self, parcel: &Parcel) -> Fate {
        if parcel.bytes > self.bytes { Fate::Drop(DropCause::LargerThan) } else { Fate::Pass }
    }
}
