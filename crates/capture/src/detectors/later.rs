//! Keeps new data and their ACKs from detectors that could not judge by them.
//!
//! After a repair nearly all packets are of this kind until the direction rests, and then the detectors are forgotten. Only if
//! something happens before that do they see what was kept, in its order.

use super::{Departed, Detectors, Heard};
use eifel_base::units::Timestamp;
use eifel_recovery::fact::Ack;

/// Packets kept.
const MOST: usize = 1 << 12;

/// A packet that detectors may see later.
#[derive(Clone, Copy, Debug)]
enum Packet {
    New(Departed),
    Ack { now: u64, frame: u64, cumulative: u64, echo: Option<Timestamp>, plain: bool },
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
        self.packets.reserve_exact(self.packets.len().max(8) * 3);
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
        let keeps = self.later.waits && self.later.packets.len() < MOST;
        if keeps {
            self.later.keep(Packet::New(*departed));
        } else {
            self.catch_up();
        }
        keeps
    }

    /// Keeps an ACK of new data for later, if that makes no difference now.
    #[inline(always)]
    pub(super) fn keeps_ack(&mut self, heard: &Heard<'_>) -> bool {
        let Heard { now, frame, ack, echo, volume, .. } = heard;
        let says_more = !ack.sacks.is_empty() || !ack.dsacks.is_empty() || volume.is_some();
        let later = &mut self.later;
        if !later.waits || later.packets.len() >= MOST || says_more || ack.cumulative <= later.una {
            return false;
        }
        later.una = ack.cumulative;
        let (now, frame, cumulative, echo, plain) = (*now, *frame, ack.cumulative, *echo, ack.plain);
        later.keep(Packet::Ack { now, frame, cumulative, echo, plain });
        true
    }

    /// Shows the detectors what was kept. Something follows that they may judge by.
    pub(super) fn catch_up(&mut self) {
        self.later.waits = false;
        if self.later.packets.is_empty() {
            return;
        }
        for packet in std::mem::take(&mut self.later.packets) {
            match packet {
                Packet::New(departed) => self.take_new(&departed),
                Packet::Ack { now, frame, cumulative, echo, plain } => {
                    let ack = Ack { cumulative, sacks: &[], dsacks: &[], echo: None, mark: None, plain, ece: false };
                    self.take_ack(&Heard { now, frame, ack, echo, stamp: None, volume: None });
                }
            }
        }
    }
}
