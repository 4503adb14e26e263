//! Finds the packets of the box's log in a capture.

use crate::system::Error;
use eifel_capture::frame::decode::{Fragments, packet};
use eifel_capture::frame::source::{Stopped, frames_of};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

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

/// The frames of a capture, by their keys.
#[derive(Debug, Default)]
pub struct Frames {
    by_key: BTreeMap<Key, VecDeque<u64>>,
}

impl Frames {
    /// Reads a capture of any format.
    ///
    /// # Errors
    /// A file that is damaged, or no capture.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (mut frames, mut fragments) = (Self::default(), Fragments::default());
        let mut take = |frame: &eifel_capture::frame::read::Frame<'_>| {
            if let Ok(packet) = packet(frame.link, frame.bytes, frame.wire_len, &mut fragments) {
                let segment = packet.segment;
                let key = Key {
                    seq: segment.seq.0,
                    ack: segment.ack.0,
                    len: segment.payload_len,
                    flags: segment.flags.0,
                    identification: packet.identification,
                    stamp: segment.options.timestamps.map_or(0, |stamps| stamps.value),
                };
                frames.by_key.entry(key).or_default().push_back(frame.number);
            }
        };
        match frames_of(path, &mut take, &mut |_| Ok(())) {
            Ok(()) => Ok(frames),
            Err(Stopped::ByFile(message) | Stopped::ByCaller(message)) => Err(Error::new("read", &message, "")),
        }
    }

    /// Removes the first frame with this key, and returns its number.
    pub fn take(&mut self, key: &Key) -> Option<u64> {
        self.by_key.get_mut(key)?.pop_front()
    }
}
