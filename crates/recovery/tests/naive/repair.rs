//! What a naive sender has to tell the transcription of a recovery algorithm, and what that answers.

use crate::recover::rack_tlp::RackTlp;
use crate::sender::Sender;

/// A segment that is outstanding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    pub start: u64,
    pub end: u64,
    pub sacked: bool,
    pub lost: bool,
    pub resent: bool,
    /// When it was sent first and last, in nanoseconds, and how often since the first time.
    pub sent_at: u64,
    pub last_sent: u64,
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

/// What leaves: from where, up to where, and whether again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    pub start: u64,
    pub end: u64,
    pub again: bool,
}

/// What may leave next.
pub enum Next {
    /// The segment at this place among those outstanding, whatever the window says.
    Owed(usize),
    /// The same, if this many bytes may leave.
    Again(usize, u64),
    /// The same, without counting as sent again (RFC 6675, NextSeg rule 4).
    Rescue(usize, u64),
    /// The same for what was sent again already, or as a probe.
    Once(usize, u64),
    /// New data, if this many bytes may leave.
    New(u64),
}

/// One algorithm's fast recovery. Each of the many methods is a moment at which some RFC asks for a step; most
/// algorithms take a step at few of them.
pub trait Repair {
    /// Whether duplicate ACKs are RFC 6675's, count again once the recovery point is reached, and release what pipe allows; or
    /// RFC 5681's, RFC 6582's and RFC 3042's.
    fn by_sack(&self) -> bool {
        false
    }
    /// Losses are found by time: what each ACK has delivered is for this, and duplicates begin nothing.
    fn by_time(&mut self) -> Option<&mut RackTlp> {
        None
    }
    /// Whether an ACK that brings a duplicate begins fast recovery before the third.
    fn begins_early(&self, _: &Sender) -> bool {
        false
    }
    /// A connection begins.
    fn fresh(&mut self) {}
    /// Fast recovery begins.
    fn begin(&mut self, sender: &mut Sender);
    /// An ACK, which reports `delivered` more bytes: the change of SND.UNA and of the SACKed bytes.
    fn heard(&mut self, _: &Sender, _delivered: u64) {}
    /// One more duplicate ACK, in fast recovery or not.
    fn duplicate(&mut self, _: &mut Sender) {}
    /// An ACK for `acked` new bytes below the recovery point. Returns whether the timer restarts.
    fn partial(&mut self, sender: &mut Sender, acked: u64) -> bool;
    /// An ACK up to the recovery point or beyond.
    fn full(&mut self, _: &mut Sender) {}
    /// Any ACK in fast recovery, after that.
    fn update(&mut self, _: &mut Sender) {}
    /// What leaves next in fast recovery.
    fn next(&self, sender: &Sender, now: u64) -> Next;
    /// The timer has expired.
    fn expired(&mut self) {}
    /// Something has left.
    fn sent(&mut self, _: &Left) {}
    /// It was a rescue retransmission.
    fn rescued(&mut self, _: &Sender) {}
}
