//! Packets that a capture shows twice: on the device "any", on mirrored ports, or behind a switch that copies.
//!
//! A twin is the same in every field that a sender changes, and comes within a time in which no sender sends anything again:
//! a fraction of a round trip. Without an identification that changes from packet to packet, as with IPv6, an ACK is one only
//! where the capture has shown other twins: bursts of duplicate ACKs look the same.

use super::When;
use crate::decode::Packet;
use eifel_packet::segment::Flags;

/// Packets remembered of a direction.
const REMEMBERED: usize = 2;
/// Twins come within this, in nanoseconds, while no round trip is known.
const AT_ONCE: u64 = 1_000_000;

/// The last packets of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Twins {
    prints: [(u64, u64); REMEMBERED],
    next: usize,
    identification: u16,
    identifies: bool,
    seen: bool,
}

impl Twins {
    /// Whether this packet was just seen. `shortest` is the smallest round trip between the ends, in nanoseconds.
    #[inline]
    pub(super) fn knows(&mut self, packet: &Packet, when: When, shortest: Option<u64>) -> bool {
        let segment = &packet.segment;
        let print = fingerprint(packet);
        self.identifies |= self.identification != packet.identification && self.identification != 0;
        self.identification = packet.identification;
        if let Some(index) = self.prints.iter().position(|(known, _)| *known == print) {
            let gap = when.nanos.saturating_sub(self.prints[index].1);
            let most = shortest.map_or(AT_ONCE, |shortest| (shortest / 4).max(AT_ONCE / 10));
            let named = self.identifies && packet.identification != 0;
            let told = named || segment.payload_len > 0 || segment.flags.has(Flags::SYN) || self.seen;
            if told && gap < if named { most } else { most.min(AT_ONCE) } {
                self.seen |= segment.payload_len > 0 || segment.flags.has(Flags::SYN);
                // Each packet has one twin; a third of its kind is another packet, or that one's first.
                self.prints[index].0 = if named { print } else { !print };
                return true;
            }
        }
        self.prints[self.next] = (print, when.nanos);
        self.next = (self.next + 1) % REMEMBERED;
        false
    }
}

fn fingerprint(packet: &Packet) -> u64 {
    let segment = &packet.segment;
    let (value, echo) = segment.options.timestamps.map_or((0, 0), |stamps| (stamps.value, stamps.echo));
    let sack = segment.options.sack.as_slice().first().map_or(0, |(left, right)| left.0 ^ right.0.rotate_left(16));
    let mut print = 0_u64;
    let rest =
        u64::from(segment.payload_len) << 32 | u64::from(packet.identification) << 16 | u64::from(segment.window);
    for word in [
        u64::from(segment.seq.0) << 32 | u64::from(segment.ack.0),
        u64::from(value) << 32 | u64::from(echo),
        rest ^ u64::from(segment.flags.0) << 52,
        u64::from(sack),
    ] {
        print = (print ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    print
}
