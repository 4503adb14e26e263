//! The events of a captured sender that a model explains: its retransmissions, and the ACKs that reached it.

use crate::flow::Place;
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;

/// A retransmission, and how it stood when it left. Times in nanoseconds.
///
/// It has more than twenty fields, since each model of a stack judges by some of these facts, and none holds the connection.
#[derive(Clone, Copy, Debug)]
pub struct Resent {
    /// When it left, at the latest.
    pub now: u64,
    /// The earliest time at which it can have left: before `now` where a path may have held it.
    pub earliest: u64,
    /// How it lies among the ends of ACKs that have passed here.
    pub told_at: Place,
    /// From here to the sender and back.
    pub trip: u64,
    /// Its first position.
    pub start: u64,
    /// The first position beyond it.
    pub end: u64,
    /// First position not acknowledged.
    pub una: u64,
    /// First position never sent.
    pub nxt: u64,
    /// When the last ACK came.
    pub last_ack: u64,
    /// When the last segment left.
    pub last_sent: u64,
    /// Since when the timer can have run: the last ACK of new data, or the first segment after there was nothing to wait for.
    pub timer_since: u64,
    /// The earliest that it can have been since.
    pub timer_from: u64,
    /// Smoothed round trip and its variation, if there are samples.
    pub estimate: Option<(u64, u64)>,
    /// Whether ACKs say that data above it have arrived: SACK blocks, or three duplicates.
    pub missing: bool,
    /// Whether an ACK that the sender may have heard gave a reason to repair it.
    pub doubted: bool,
    /// Whether SACK has shown that it was missing.
    pub shown: bool,
    /// Whether the sender has heard something since it sent last, by its timestamps.
    pub news: Option<bool>,
    /// Whether SACK was agreed on.
    pub sack: bool,
    /// Segments outstanding.
    pub segments: usize,
    /// TSval that it carries.
    pub stamp: Option<Timestamp>,
    /// Whether it was sent again before.
    pub repeated: bool,
    /// Whether the sender had heard by SACK that it has arrived.
    pub reported: bool,
    /// Whether what was sent last was sent again, too.
    pub follows: bool,
    /// Whether what the sender sends may be lost before it comes to the place of the capture.
    pub may_be_unseen: bool,
}

/// An ACK's contents, for a model.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// When the sender hears it, in nanoseconds.
    pub now: u64,
    /// First position not acknowledged.
    pub una: u64,
    /// First position never sent.
    pub nxt: u64,
    /// Whether it acknowledges new data.
    pub advances: bool,
    /// Whether it is a duplicate, or reports data by SACK.
    pub duplicate: bool,
    /// The lowest position that it reports for the first time, sent once.
    pub original_below: Option<u64>,
    /// The timestamp that it echoes.
    pub echo: Option<Timestamp>,
    /// What it reports by SACK.
    pub sacks: [Block; 4],
    /// Whether it reports a duplicate.
    pub dsack: bool,
}
