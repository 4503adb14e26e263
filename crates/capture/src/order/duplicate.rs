//! Recognises packets that a capture shows twice: on the device "any", on mirrored ports, or behind
//! a switch that makes copies.
//!
//! A duplicate frame equals the first in every field that a sender changes. It follows within a
//! fraction of a round trip, in which no sender retransmits. If the sender counts in the IP
//! identification, an equal one is enough, however late it follows. Without an IP identification that
//! changes from packet to packet, as with IPv6, two rules protect against mistakes:
//!
//! - An ACK is a duplicate frame only if the capture has shown other ones, because bursts of
//!   duplicate ACKs look the same.
//! - A segment is none if no packet had one for some time. A sender may send two copies at once:
//!   one because of an ACK, the other because its timer expires.

use super::identification::{Follows, Identifications};
use crate::frame::decode::Packet;
use crate::frame::decode::common::Common;
use crate::result::When;
use eifel_packet::segment::Flags;

/// The time within which a duplicate frame follows while no round trip is known, in nanoseconds.
const AT_ONCE: u64 = 1_000_000;

/// The time within which a duplicate frame with an identification follows, in nanoseconds. Timers are
/// longer.
const AT_MOST: u64 = 60_000_000;

/// The time within which a mirrored port shows a packet twice, in nanoseconds.
const MIRRORED_WITHIN: u64 = 10_000_000;

/// After this number of packets without a duplicate frame, a capture counts as one without them.
const MOST_WITHOUT: u8 = 16;

/// A hash of the fields that a packet shares with its duplicate frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fingerprint(u64);

/// The last two packets of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DuplicateFrames {
    fingerprints: [Fingerprint; 2],
    /// When they passed, in units of 1024 nanoseconds; wraps.
    passed: [u32; 2],
    identifications: Identifications,
    /// Whether the capture has shown a duplicate of data or of a SYN.
    seen: bool,
    /// The number of packets in a row without a duplicate; at most [`MOST_WITHOUT`].
    without_duplicate: u8,
}

impl DuplicateFrames {
    /// Returns whether a packet with this identification cannot be recognised as a duplicate: it
    /// has no identification, and the last packets had no duplicates.
    #[inline(always)]
    pub(crate) fn is_unrecognisable(&self, identification: u16) -> bool {
        identification == 0 && self.without_duplicate == MOST_WITHOUT
    }

    /// Returns whether this packet is a duplicate frame. `shortest` returns the shortest round trip
    /// between the ends, in nanoseconds.
    #[inline]
    pub(crate) fn is_duplicate(&mut self, packet: &Packet, when: When, shortest: impl FnOnce() -> Option<u64>) -> bool {
        if self.is_unrecognisable(packet.identification) {
            return false;
        }
        let fingerprint = fingerprint(packet);
        let [last, before] = self.fingerprints;
        if last == fingerprint || before == fingerprint {
            self.identifications.on_packet(packet.identification);
            if self.matches(usize::from(last != fingerprint), packet, when, shortest()) {
                return true;
            }
        }
        self.note(fingerprint, packet.identification, when);
        false
    }

    /// Returns whether a packet with this fingerprint may be a duplicate.
    #[inline]
    pub(crate) fn may_be_duplicate(&self, fingerprint: Fingerprint) -> bool {
        self.fingerprints[0] == fingerprint || self.fingerprints[1] == fingerprint
    }

    /// Returns whether no packet was seen.
    pub(crate) fn is_empty(&self) -> bool {
        self.fingerprints[0] == Fingerprint::default()
    }

    /// Returns whether a mirrored port shows the packet a second time, in another VLAN.
    pub(crate) fn is_mirrored(&self, packet: &Packet, when: When) -> bool {
        let fingerprint = fingerprint(packet);
        let equal = self.fingerprints.iter().position(|known| *known == fingerprint);
        equal.is_some_and(|index| self.since(index, when) < MIRRORED_WITHIN)
    }

    /// Records a packet that is no duplicate. Returns its number, as [`number`](Self::number) does.
    #[inline]
    pub(crate) fn note(&mut self, fingerprint: Fingerprint, identification: u16, when: When) -> u32 {
        let number = self.identifications.on_packet(identification);
        self.fingerprints = [fingerprint, self.fingerprints[0]];
        self.passed = [units(when), self.passed[0]];
        if self.without_duplicate < MOST_WITHOUT {
            self.without_duplicate += 1;
        }
        number
    }

    /// Returns whether the sender counts in the IP identification.
    #[inline(always)]
    pub(crate) fn counts(&self) -> bool {
        self.identifications.counts()
    }

    /// Returns what a packet that has just passed follows, as [`Identifications::follows`] does.
    #[inline(always)]
    pub(crate) fn follows(&self, identification: u16) -> Follows {
        self.identifications.follows(identification)
    }

    /// Returns how many packets are missing before one that has just passed, as [`Identifications::skips`] does.
    #[inline(always)]
    pub(crate) fn skips(&self, identification: u16) -> Option<u32> {
        self.identifications.skips(identification)
    }

    /// Returns the number of a packet that has just passed, as [`Identifications::number`] does.
    pub(crate) fn number(&self, identification: u16) -> u32 {
        self.identifications.number(identification)
    }

    /// Returns how long ago the packet with the fingerprint at `index` passed, in nanoseconds.
    fn since(&self, index: usize, when: When) -> u64 {
        let since = units(when).wrapping_sub(self.passed[index]) as i32;
        u64::from(since.max(0).unsigned_abs()) << 10
    }

    /// Returns whether a packet with the fingerprint at `index` is its duplicate.
    fn matches(&mut self, index: usize, packet: &Packet, when: When, shortest: Option<u64>) -> bool {
        let segment = &packet.segment;
        let fingerprint = self.fingerprints[index];
        let gap = self.since(index, when);
        let most = shortest.map_or(AT_ONCE, |shortest| (shortest / 4).max(AT_ONCE / 10));
        let named = self.identifications.varies() && packet.identification != 0;
        // If a capture shows duplicates, most packets have one. A single pair among many packets is
        // two transmissions.
        let recognisable = named
            || self.without_duplicate < MOST_WITHOUT
                && (segment.payload_len > 0 || segment.flags.has(Flags::SYN) || self.seen);
        // A counter does not repeat a value, however late the duplicate is. Some hosts keep the
        // identification of a packet that they send again (RFC 1122, section 3.2.1.5).
        let in_time = named && self.counts() || gap < if named { AT_MOST } else { most.min(AT_ONCE) };
        let matches = recognisable && in_time;
        if matches {
            self.seen |= segment.payload_len > 0 || segment.flags.has(Flags::SYN);
            self.without_duplicate = 0;
            // Without an identification, each packet has one duplicate: a third equal packet is
            // another transmission.
            self.fingerprints[index] = if named { fingerprint } else { Fingerprint(!fingerprint.0) };
        }
        matches
    }
}

#[inline(always)]
fn units(when: When) -> u32 {
    (when.nanos >> 10) as u32
}

fn fingerprint(packet: &Packet) -> Fingerprint {
    let segment = &packet.segment;
    let sack = match segment.options.sack.as_slice() {
        [] => 0,
        [(left, right), ..] => u64::from(left.0 ^ right.0.rotate_left(16)),
    };
    let (numbers, stamps) = (u64::from(segment.seq.0) << 32 | u64::from(segment.ack.0), segment.options.timestamps);
    let stamps = stamps.map_or(0, |stamps| u64::from(stamps.value) << 32 | u64::from(stamps.echo));
    let rest = u32::from(segment.flags.0) << 16 | u32::from(segment.window);
    let words = (numbers.to_be_bytes(), stamps.to_be_bytes(), rest.to_be_bytes());
    let Fingerprint(hash) = mix(words, segment.payload_len, packet.identification);
    Fingerprint(hash ^ sack.wrapping_mul(0xa076_1d64_78bd_642f).rotate_left(43))
}

/// Returns the fingerprint of a segment without SACK blocks.
#[inline(always)]
pub(crate) fn fingerprint_of<const STAMPED: bool>(common: &Common<'_, STAMPED>) -> Fingerprint {
    mix(common.words(), common.payload_len, common.identification())
}

#[inline(always)]
fn mix((numbers, stamps, rest): ([u8; 8], [u8; 8], [u8; 4]), payload_len: u32, identification: u16) -> Fingerprint {
    let rest = u64::from(u32::from_le_bytes(rest)) ^ u64::from(payload_len) << 32 ^ u64::from(identification) << 48;
    // If two packets have equal numbers, differences in their other fields must not cancel each
    // other. The lowest bytes of the timestamps, which change most, meet the flags and the length,
    // which change together with the numbers.
    let rest = rest ^ u64::from_le_bytes(stamps).rotate_left(44);
    Fingerprint(u64::from_le_bytes(numbers).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ rest)
}
