//! The interface between a naive sender and the transcription of a recovery algorithm.

use crate::recover::rack_tlp::RackTlp;
use crate::sender::{DUP_THRESH, Sender};

/// A segment that is outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    pub start: u64,
    pub end: u64,
    pub sacked: bool,
    pub lost: bool,
    pub resent: bool,
    /// When it was first sent, in nanoseconds.
    pub sent_at: u64,
    /// When it was last sent, in nanoseconds.
    pub last_sent: u64,
    /// How often it was retransmitted.
    pub copies: u64,
}

impl Segment {
    pub fn len(&self) -> u64 {
        self.end - self.start
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Open,
    FastRecovery { point: u64 },
    AfterTimeout { point: u64 },
}

/// A transmission: its positions, and whether it is a retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    pub start: u64,
    pub end: u64,
    pub again: bool,
}

/// The next transmission.
pub enum Next {
    /// The outstanding segment with this index, regardless of the window.
    Owed(usize),
    /// The outstanding segment with this index, if it fits into this many bytes.
    Again(usize, u64),
    /// As `Again`, but HighRxt stays (RFC 6675, NextSeg rule 4).
    Rescue(usize, u64),
    /// As `Rescue`, for a segment that was already retransmitted, or as a probe.
    Once(usize, u64),
    /// New data, if it fits into this many bytes.
    New(u64),
}

/// One algorithm's fast recovery. Each method is an event at which some RFC asks for a step. Most
/// algorithms need only few of the methods.
pub trait Repair {
    /// Returns whether duplicate ACKs follow RFC 6675: they count again once the recovery point is
    /// reached, and release as much as pipe allows. Otherwise RFC 5681, RFC 6582 and RFC 3042
    /// apply.
    fn by_sack(&self) -> bool {
        false
    }
    /// Returns the transcription that finds losses by time, if this is one. It gets the deliveries
    /// of each ACK, and duplicates begin no recovery.
    fn by_time(&mut self) -> Option<&mut RackTlp> {
        None
    }
    /// Returns whether a duplicate before the third begins fast recovery.
    fn begins_early(&self, _: &Sender) -> bool {
        false
    }
    /// Returns whether DupThresh duplicates have arrived.
    fn reaches_threshold(&self, sender: &Sender) -> bool {
        sender.duplicates == DUP_THRESH
    }
    /// Learns of an ACK of `acked` new bytes, with or without SACK blocks, while nothing is being
    /// repaired. Returns cwnd and ssthresh if the ACK sets them, unless fast recovery begins.
    fn undisturbed(&mut self, _: &Sender, _acked: u64, _reports: bool) -> Option<(u64, u64)> {
        None
    }
    /// Returns the flight that the loss counts which begins fast recovery; `None` for the shared
    /// rule.
    fn flight(&self, _: &Sender) -> Option<u64> {
        None
    }
    /// Returns the room for new data while nothing is being repaired; `None` for the shared rule.
    fn room(&self, _: &Sender) -> Option<u64> {
        None
    }
    /// Resets the state for a new connection.
    fn fresh(&mut self) {}
    /// Begins fast recovery.
    fn begin(&mut self, sender: &mut Sender);
    /// Learns of an ACK that reports `delivered` more bytes: the change of SND.UNA and of the
    /// SACKed bytes.
    fn heard(&mut self, _: &Sender, _delivered: u64) {}
    /// Learns of one more duplicate ACK, in fast recovery or not.
    fn duplicate(&mut self, _: &mut Sender) {}
    /// Learns of an ACK for `acked` new bytes below the recovery point. Returns whether the timer
    /// restarts.
    fn partial(&mut self, sender: &mut Sender, acked: u64) -> bool;
    /// Learns of an ACK up to the recovery point or beyond.
    fn full(&mut self, _: &mut Sender) {}
    /// Learns of any ACK in fast recovery, after the methods above.
    fn update(&mut self, _: &mut Sender) {}
    /// Returns the next transmission in fast recovery.
    fn next(&self, sender: &Sender, now: u64) -> Next;
    /// Learns that the timer has expired.
    fn expired(&mut self) {}
    /// Learns of a transmission.
    fn sent(&mut self, _: &Left) {}
    /// Learns that the transmission was a rescue retransmission.
    fn rescued(&mut self, _: &Sender) {}
}
