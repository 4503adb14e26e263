//! Finds the packets of the box's log in a capture.

use crate::system::Error;
use eifel_capture::frame::decode::{Fragments, Packet, packet};
use eifel_capture::frame::source::{Stopped, frames_of};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// More data than a packet of 1500 bytes carries.
const LONGEST: u32 = 1460;

/// The fields by which a TCP packet is found again on the other side of the box.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Key {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Bytes of data.
    pub len: u32,
    /// Control bits.
    pub flags: u16,
    /// The identification of IPv4.
    pub identification: u16,
    /// TSval; 0 without timestamps.
    pub stamp: u32,
}

impl Key {
    /// Returns the key of a packet with its data.
    pub fn of(packet: &Packet) -> Self {
        let segment = &packet.segment;
        Self {
            seq: segment.seq.0,
            ack: segment.ack.0,
            len: segment.payload_len,
            flags: segment.flags.0,
            identification: packet.identification,
            stamp: segment.options.timestamps.map_or(0, |stamps| stamps.value),
        }
    }

    /// Returns whether this is a large segment of which the device has cut `other`.
    fn contains(&self, other: &Self) -> bool {
        let offset = other.seq.wrapping_sub(self.seq);
        let cut = u32::from(other.identification.wrapping_sub(self.identification));
        let within = u64::from(offset) + u64::from(other.len) <= u64::from(self.len);
        // Each piece has the next identification. All but the last are equally long.
        let in_place = match offset.checked_div(cut) {
            Some(unit) => unit >= other.len && unit * cut == offset,
            None => offset == 0,
        };
        within && in_place && self.stamp == other.stamp
    }
}

/// The frames of a capture, by their keys.
#[derive(Debug, Default)]
pub struct Frames {
    by_key: BTreeMap<Key, VecDeque<u64>>,
    /// Frames with more data than one packet of the path carries.
    large: Vec<(Key, u64)>,
}

impl Frames {
    /// Reads a capture of any format.
    ///
    /// # Errors
    /// A file that is damaged, or no capture.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let mut frames = Self::default();
        packets_of(path, |packet, _, frame| {
            let key = Key::of(packet);
            frames.by_key.entry(key).or_default().push_back(frame);
            if key.len > LONGEST {
                frames.large.push((key, frame));
            }
        })?;
        Ok(frames)
    }

    /// Removes the first frame with this key, and returns its number. A frame that holds several
    /// segments stays.
    pub fn take(&mut self, key: &Key) -> Option<u64> {
        if let Some(frame) = self.by_key.get_mut(key).and_then(VecDeque::pop_front) {
            return Some(frame);
        }
        self.large.iter().find(|(large, _)| large.contains(key)).map(|&(_, frame)| frame)
    }
}

/// Calls `take` with each packet of a capture, its time in nanoseconds since 1970, and the number
/// of its frame.
///
/// # Errors
/// A file that is damaged, or no capture.
pub fn packets_of(path: &Path, mut take: impl FnMut(&Packet, u64, u64)) -> Result<(), Error> {
    let mut fragments = Fragments::default();
    let mut take = |frame: &eifel_capture::frame::read::Frame<'_>| {
        if let Ok(packet) = packet(frame.link, frame.bytes, frame.wire_len, &mut fragments) {
            take(&packet, frame.nanos, frame.number);
        }
    };
    frames_of(path, &mut take, &mut |_| Ok(())).map_err(|stopped| match stopped {
        Stopped::ByFile(message) | Stopped::ByCaller(message) => Error::new("read", &message, ""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_segment_contains_its_pieces_by_number_and_position() {
        let large = Key { seq: u32::MAX - 99, ack: 7, len: 3000, flags: 16, identification: 9, stamp: 5 };
        let piece = |offset: u32, identification| Key {
            seq: large.seq.wrapping_add(offset),
            len: 1000,
            flags: 24,
            identification,
            ..large
        };
        assert!([piece(0, 9), piece(1000, 10), piece(2000, 11)].iter().all(|piece| large.contains(piece)));
        // Beyond the end, earlier transmissions, later ones, and another tick of the clock.
        let later = [piece(0, 12), piece(1000, 90), piece(2000, 12)];
        let others = [piece(2001, 11), piece(1000, 8), later[0], later[1], later[2], Key { stamp: 6, ..piece(0, 9) }];
        assert!(!others.iter().any(|piece| large.contains(piece)));
    }
}
