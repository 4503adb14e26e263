//! The events of a captured sender that a model explains: its retransmissions and the ACKs it
//! received.

use crate::flow::Place;
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;

/// A retransmission, and the sender's state when it left. Times in nanoseconds.
///
/// It has more than twenty fields, because each model of a stack uses some of them and none has
/// access to the connection.
#[derive(Clone, Copy, Debug)]
pub struct Resent {
    /// The latest time at which it can have left.
    pub now: u64,
    /// The earliest time at which it can have left; before `now` if a path may have held it.
    pub earliest: u64,
    /// The place of its start among the ends of the ACKs that have passed here.
    pub told_at: Place,
    /// Shortest round trip from here to the sender and back.
    pub trip: u64,
    /// Its first position.
    pub start: u64,
    /// The position behind its last one.
    pub end: u64,
    /// The first position not acknowledged.
    pub una: u64,
    /// The first position never sent.
    pub nxt: u64,
    /// When the sender received the last ACK.
    pub last_ack: u64,
    /// When the last segment left.
    pub last_sent: u64,
    /// The latest time at which the timer can have been set. The last ACK of new data sets it, or a
    /// segment that leaves while nothing is outstanding.
    pub timer_since: u64,
    /// The earliest time at which the timer can have been set.
    pub timer_from: u64,
    /// Smoothed round trip between both ends and its variation; `None` without samples.
    pub estimate: Option<(u64, u64)>,
    /// Whether ACKs report data above it: by SACK blocks, or by three duplicate ACKs without SACK.
    pub missing: bool,
    /// Whether an ACK that the sender may have received gave a reason to repair it.
    pub doubted: bool,
    /// Whether SACK blocks have shown a gap there.
    pub shown: bool,
    /// Whether the echo shows an ACK that the sender has received since it last sent; `None`
    /// without timestamps.
    pub news: Option<bool>,
    /// Whether both ends agreed on SACK.
    pub sack: bool,
    /// The number of outstanding segments.
    pub segments: usize,
    /// TSval that it carries.
    pub stamp: Option<Timestamp>,
    /// Whether it was sent again before.
    pub repeated: bool,
    /// Whether the sender had received a SACK block that covers it.
    pub reported: bool,
    /// Whether the segment sent directly before was a retransmission too.
    pub follows: bool,
    /// Whether segments may be lost between the sender and the capture point.
    pub may_be_unseen: bool,
}

/// The contents of an ACK, for a model.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// When the sender receives it, in nanoseconds.
    pub now: u64,
    /// The first position not acknowledged.
    pub una: u64,
    /// The first position never sent.
    pub nxt: u64,
    /// Whether it acknowledges new data.
    pub advances: bool,
    /// Whether it is a duplicate ACK, or newly reports data by SACK.
    pub duplicate: bool,
    /// The lowest position that it covers for the first time and that was sent once.
    pub original_below: Option<u64>,
    /// The timestamp that it echoes.
    pub echo: Option<Timestamp>,
    /// The blocks that it reports by SACK; empty blocks fill the rest.
    pub sacks: [Block; 4],
    /// Whether it has a DSACK.
    pub dsack: bool,
}
