//! Drops listed segments: a given number of transmissions of each.

use super::Fate;
use crate::config::ConfigError;
use crate::parcel::{DropCause, Label};

/// A segment that is dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ListedDrop {
    pub flow: u32,
    /// Number of the segment in its flow, from 1.
    pub segment: u64,
    /// Transmissions to drop: 1 for the first alone, 2 for the first retransmission as well.
    pub copies: u32,
}

impl ListedDrop {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        ConfigError::unless(self.segment > 0, "drops.segments", || "segment 0; allowed: 1 or more".to_owned())?;
        ConfigError::unless(self.copies > 0, "drops.copies", || "0; allowed: 1 or more".to_owned())
    }
}

#[derive(Debug)]
pub struct ListedDrops {
    /// Sorted by flow and segment.
    list: Vec<ListedDrop>,
}

impl ListedDrops {
    pub(super) fn new(drops: &[ListedDrop]) -> Self {
        let mut list = drops.to_vec();
        list.sort_unstable();
        Self { list }
    }

    pub(super) fn meet(&self, label: &Label) -> Fate {
        let of = |drop: &ListedDrop| (drop.flow, drop.segment);
        let wanted = (label.flow, label.segment);
        // If a segment has several entries, the last one drops the most copies.
        let upto = self.list.partition_point(|drop| of(drop) <= wanted);
        match self.list.get(upto.wrapping_sub(1)) {
            Some(drop) if of(drop) == wanted && label.copy < drop.copies => Fate::Drop(DropCause::Listed),
            _ => Fate::Pass,
        }
    }
}
