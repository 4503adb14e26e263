//! Keeps new data and their ACKs back from detectors that could not judge by them.
//!
//! After a repair, nearly all packets are of this kind until the direction comes to rest and its
//! detectors are dropped. The detectors receive the kept packets, in order, only if they may judge
//! by what follows.

use super::{Departure, Detectors, ReceivedAck};
use eifel_base::units::Timestamp;
use eifel_recovery::fact::Ack;

/// The number of packets kept.
const MOST: usize = 1 << 12;

/// Flags in [`Packet::len`]: the packet is an ACK; the ACK has neither payload nor a changed
/// window; the packet has a timestamp.
const ACK: u32 = 1 << 31;
const PLAIN: u32 = 1 << 30;
const STAMPED: u32 = 1 << 29;
const LEN: u32 = STAMPED - 1;

/// A packet that is kept back. It takes 16 bytes, because many directions keep thousands of packets
/// at the same time.
#[derive(Clone, Copy, Debug)]
struct Packet {
    /// When it left or was received, in nanoseconds since 1970.
    nanos: u64,
    /// The positions that it takes or newly acknowledges, below the three flags.
    len: u32,
    /// The timestamp of data, or the timestamp that an ACK echoes.
    stamp: u32,
}

impl Packet {
    #[inline(always)]
    fn new(nanos: u64, len: u32, stamp: Option<Timestamp>) -> Self {
        let stamped = if stamp.is_some() { STAMPED } else { 0 };
        Self { nanos, len: len | stamped, stamp: stamp.unwrap_or_default().0 }
    }

    fn stamp(self) -> Option<Timestamp> {
        (self.len & STAMPED != 0).then_some(Timestamp(self.stamp))
    }
}

/// The packets that are kept back.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    packets: Vec<Packet>,
    /// Whether no detector can judge before the next retransmission.
    waits: bool,
    /// The first position not acknowledged, including by kept ACKs.
    una: u64,
}

impl Deferred {
    /// Returns whether a packet that takes or acknowledges `len` positions can be kept back.
    #[inline(always)]
    fn has_room(&self, len: u64) -> bool {
        self.waits && self.packets.len() < MOST && len <= u64::from(LEN)
    }

    #[inline(always)]
    fn keep(&mut self, packet: Packet) {
        if self.packets.len() == self.packets.capacity() {
            self.grow();
        }
        self.packets.push(packet);
    }

    /// Makes room for four times as many packets, because their number is either small or large.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let room = (self.packets.len() * 4).clamp(32, MOST);
        self.packets.reserve_exact(room - self.packets.len());
    }
}

impl Detectors {
    /// Finds out, after an ACK was handled, whether the following packets can be kept back.
    pub(crate) fn update_deferral(&mut self) {
        self.deferred.waits = !self.asked && !self.watch.has_events() && !self.watch.may_judge();
        self.deferred.una = self.board.una();
    }

    /// Keeps new data back if no detector can judge by them. Returns whether it did.
    #[inline(always)]
    pub(crate) fn defers_new(&mut self, departure: &Departure) -> bool {
        let &Departure { nanos, len, stamp } = departure;
        let defers = self.deferred.has_room(len.into());
        if defers {
            self.deferred.keep(Packet::new(nanos, len, stamp));
        }
        defers
    }

    /// Keeps an ACK of new data back if no detector can judge by it. Returns whether it did.
    #[inline(always)]
    pub(crate) fn defers_ack(&mut self, received: &ReceivedAck<'_>) -> bool {
        let ReceivedAck { now, ack, echo, chunk_bytes, .. } = received;
        let says_more = !ack.sacks.is_empty() || !ack.dsacks.is_empty() || chunk_bytes.is_some();
        let deferred = &mut self.deferred;
        if says_more || ack.cumulative <= deferred.una || !deferred.has_room(ack.cumulative - deferred.una) {
            return false;
        }
        let len = (ack.cumulative - deferred.una) as u32 | ACK | if ack.plain { PLAIN } else { 0 };
        deferred.una = ack.cumulative;
        deferred.keep(Packet::new(*now, len, *echo));
        true
    }

    /// Passes the kept packets to the detectors, because they may judge by what follows.
    pub(crate) fn catch_up(&mut self) {
        self.deferred.waits = false;
        if !self.deferred.packets.is_empty() {
            self.apply_deferred();
        }
    }

    #[inline(never)]
    fn apply_deferred(&mut self) {
        let mut packets = std::mem::take(&mut self.deferred.packets);
        let acknowledged = |packet: &Packet| if packet.len & ACK == 0 { 0 } else { u64::from(packet.len & LEN) };
        let mut cumulative = self.deferred.una - packets.iter().map(acknowledged).sum::<u64>();
        for packet in packets.drain(..) {
            let Packet { nanos: now, len, .. } = packet;
            if len & ACK == 0 {
                self.apply_new(&Departure { nanos: now, len: len & LEN, stamp: packet.stamp() });
                continue;
            }
            cumulative += u64::from(len & LEN);
            let plain = len & PLAIN != 0;
            let ack = Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain, ece: false };
            // No detector judges by this ACK, so the frame is not used.
            self.apply_ack(&ReceivedAck { now, frame: 0, ack, echo: packet.stamp(), stamp: None, chunk_bytes: None });
        }
        self.deferred.packets = packets;
    }
}
