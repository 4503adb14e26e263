//! The results of an analysis.

use std::collections::BTreeMap;

use crate::frame::decode::Skipped;
use crate::result::{Retransmission, Summary};

/// The results of analysing a capture.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Analysis {
    pub frames: u64,
    /// TCP segments among them.
    pub segments: u64,
    /// SCTP packets among them.
    pub sctp_packets: u64,
    /// Frames with neither TCP nor SCTP, by reason.
    pub others: BTreeMap<Skipped, u64>,
    /// Frames older than the one before them.
    pub backwards: u64,
    /// Connections evicted to make room; TCP connections only if they were not over.
    pub evicted: u64,
    /// Connections without data. Nothing else about them is kept.
    pub without_data: u64,
    /// Connections with data, in the order of their first packets.
    pub connections: Vec<Summary>,
    /// The retransmissions, in the order of their frames.
    pub retransmissions: Vec<Retransmission>,
}

/// The totals of a capture while it is still being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Totals {
    pub frames: u64,
    /// TCP and SCTP packets among them.
    pub packets: u64,
    /// Ended connections with data, and all current TCP connections.
    pub connections: u64,
    /// Retransmissions in those connections.
    pub retransmissions: u64,
}

/// Finds the file of a frame that is numbered across several files.
#[derive(Clone, Debug)]
pub struct Frames {
    /// The number of frames before each file.
    before: Vec<u64>,
}

impl Frames {
    /// Takes the number of frames of each file.
    pub fn new(frames: impl Iterator<Item = u64>) -> Self {
        let before = frames.scan(0, |sum, frames| {
            let before = *sum;
            *sum += frames;
            Some(before)
        });
        Self { before: before.collect() }
    }

    /// Returns the number of the file, from 0, and the number of the frame in it, from 1.
    pub fn find(&self, frame: u64) -> (usize, u64) {
        let file = self.before.partition_point(|before| *before < frame).saturating_sub(1);
        (file, frame - self.before.get(file).copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_in_their_files() {
        let frames = Frames::new([3, 0, 2].into_iter());
        assert_eq!([1, 3, 4, 5].map(|frame| frames.find(frame)), [(0, 1), (0, 3), (2, 1), (2, 2)]);
    }
}
