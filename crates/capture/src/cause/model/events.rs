//! The events of a captured sender that a model explains: its retransmissions and the ACKs it
//! received.

use crate::cause::sender::Overtaken;
use crate::order::AckPlace;
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;

/// A retransmission, and the sender's state when it left. Times in nanoseconds.
///
/// It has more than twenty fields, because each model of a stack uses some of them and none has
/// access to the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retransmitted {
    /// The latest time at which it can have left.
    pub(crate) now: u64,
    /// The earliest time at which it can have left; before `now` if a path may have held it.
    pub(crate) earliest: u64,
    /// The place of its start among the ends of the ACKs that have passed here, with the time at which the sender
    /// received that ACK.
    pub(crate) ack_place: AckPlace,
    /// How long nothing had passed before one segment did alone that ends where this one starts, and for how long
    /// this was alone.
    pub(crate) silence_before: Option<(u64, u64)>,
    /// Its first position.
    pub(crate) start: u64,
    /// The position behind its last one.
    pub(crate) end: u64,
    /// The first position not acknowledged.
    pub(crate) una: u64,
    /// The first position never sent.
    pub(crate) nxt: u64,
    /// When the sender received the last ACK.
    pub(crate) last_ack: u64,
    /// When the last segment left.
    pub(crate) last_sent: u64,
    /// The earliest and the latest time at which the timer can have been set. The last ACK of new data
    /// sets it, or a segment that leaves while nothing is outstanding.
    pub(crate) timer_set: (u64, u64),
    /// Smoothed round trip between both ends and its variation; `None` without samples.
    pub(crate) estimate: Option<(u64, u64)>,
    /// Whether ACKs report data above it: by SACK blocks, or by three duplicate ACKs without SACK.
    pub(crate) missing: bool,
    /// Whether an ACK that the sender may have received gave a reason to repair it.
    pub(crate) suspected_lost: bool,
    /// Whether SACK blocks have shown a gap there.
    pub(crate) in_gap: bool,
    /// Whether the echo shows an ACK that the sender has received since it last sent; `None`
    /// without timestamps.
    pub(crate) echo_is_new: Option<bool>,
    /// Without SACK, the number of duplicate ACKs since the last ACK of new data.
    pub(crate) duplicates: Option<u32>,
    /// The same number with the ACKs that the sender may not have received.
    pub(crate) duplicates_passed: u32,
    /// The number of outstanding segments.
    pub(crate) segments: usize,
    /// TSval that it carries.
    pub(crate) stamp: Option<Timestamp>,
    /// Whether it was sent again before.
    pub(crate) repeated: bool,
    /// Whether the sender had received a SACK block that covers it.
    pub(crate) reported: bool,
    /// When RACK declares it lost; `None` if no data that left later are known to have arrived.
    pub(crate) overtaken: Option<Overtaken>,
    /// Whether the segment sent directly before was a retransmission too.
    pub(crate) follows_another: bool,
    /// Whether segments may be lost between the sender and the capture point.
    pub(crate) may_be_unseen: bool,
}

impl Retransmitted {
    /// Returns whether both ends agreed on SACK.
    pub(crate) fn sack(&self) -> bool {
        self.duplicates.is_none()
    }
}

/// The contents of an ACK, for a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckReceived {
    /// When the sender receives it, in nanoseconds.
    pub(crate) now: u64,
    /// The first position not acknowledged.
    pub(crate) una: u64,
    /// The first position never sent.
    pub(crate) nxt: u64,
    /// Whether it acknowledges new data.
    pub(crate) advances: bool,
    /// Whether it is a duplicate ACK, or newly reports data by SACK.
    pub(crate) duplicate: bool,
    /// The lowest position that it covers for the first time and that was sent once.
    pub(crate) original_below: Option<u64>,
    pub(crate) echo: Option<Timestamp>,
    /// The blocks that it reports by SACK; empty blocks fill the rest.
    pub(crate) sacks: [Block; 4],
    pub(crate) dsack: Option<Block>,
    /// Whether both ends agreed on SACK.
    pub(crate) sack: bool,
}
