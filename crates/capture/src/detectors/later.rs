//! Keeps new data and their ACKs from detectors that could not judge by them.
//!
//! After a repair nearly all packets are of this kind until the direction rests, and then the detectors are forgotten. Only if
//! something happens before that do they see what was kept, in its order.

use super::{Departed, Detectors, Heard};
use eifel_base::units::Timestamp;
use eifel_recovery::fact::Ack;

/// Packets kept.
const MOST: usize = 1 << 12;

/// In [`Packet::len`]: it is an ACK, which carries neither payload nor news of the window, and it has a timestamp.
const ACK: u32 = 1 << 31;
const PLAIN: u32 = 1 << 30;
const STAMPED: u32 = 1 << 29;
const LEN: u32 = STAMPED - 1;

/// A packet that detectors may see later. It takes 16 bytes, because many directions keep thousands of them at a time.
#[derive(Clone, Copy, Debug)]
struct Packet {
    /// When it left, or was heard, in nanoseconds since 1970.
    nanos: u64,
    /// The positions that it takes, or that it newly acknowledges, below the three flags.
    len: u32,
    /// Its timestamp, or the one that an ACK echoes.
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

/// The packets that the detectors have not seen.
#[derive(Debug, Default)]
pub(super) struct Later {
    packets: Vec<Packet>,
    /// Whether no detector can judge before something is sent again.
    waits: bool,
    /// Everything below was acknowledged by what they have seen, and by what was kept.
    una: u64,
}

impl Later {
    /// Whether a packet can be kept that takes or acknowledges `len` positions.
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

    /// Makes room for four times as many: they are many or few.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let room = (self.packets.len() * 4).clamp(32, MOST);
        self.packets.reserve_exact(room - self.packets.len());
    }
}

impl Detectors {
    /// An ACK was taken in: finds out whether what follows can be kept.
    pub(super) fn find_later(&mut self) {
        self.later.waits = !self.asked && !self.watch.has_events() && !self.watch.may_judge();
        self.later.una = self.board.una();
    }

    /// Keeps new data for later, if that makes no difference now.
    #[inline(always)]
    pub(super) fn keeps_new(&mut self, departed: &Departed) -> bool {
        let &Departed { nanos, len, stamp } = departed;
        let keeps = self.later.has_room(len.into());
        if keeps {
            self.later.keep(Packet::new(nanos, len, stamp));
        }
        keeps
    }

    /// Keeps an ACK of new data for later, if that makes no difference now.
    #[inline(always)]
    pub(super) fn keeps_ack(&mut self, heard: &Heard<'_>) -> bool {
        let Heard { now, ack, echo, volume, .. } = heard;
        let says_more = !ack.sacks.is_empty() || !ack.dsacks.is_empty() || volume.is_some();
        let later = &mut self.later;
        if says_more || ack.cumulative <= later.una || !later.has_room(ack.cumulative - later.una) {
            return false;
        }
        let len = (ack.cumulative - later.una) as u32 | ACK | if ack.plain { PLAIN } else { 0 };
        later.una = ack.cumulative;
        later.keep(Packet::new(*now, len, *echo));
        true
    }

    /// Shows the detectors what was kept. Something follows that they may judge by.
    pub(super) fn catch_up(&mut self) {
        self.later.waits = false;
        if !self.later.packets.is_empty() {
            self.show_kept();
        }
    }

    #[inline(never)]
    fn show_kept(&mut self) {
        let mut packets = std::mem::take(&mut self.later.packets);
        let acknowledged = |packet: &Packet| if packet.len & ACK == 0 { 0 } else { u64::from(packet.len & LEN) };
        let mut cumulative = self.later.una - packets.iter().map(acknowledged).sum::<u64>();
        for packet in packets.drain(..) {
            let Packet { nanos: now, len, .. } = packet;
            if len & ACK == 0 {
                self.take_new(&Departed { nanos: now, len: len & LEN, stamp: packet.stamp() });
                continue;
            }
            cumulative += u64::from(len & LEN);
            let plain = len & PLAIN != 0;
            let ack = Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain, ece: false };
            // No detector judges by it, so that no judgement names its frame.
            self.take_ack(&Heard { now, frame: 0, ack, echo: packet.stamp(), stamp: None, volume: None });
        }
        self.later.packets = packets;
    }
}
