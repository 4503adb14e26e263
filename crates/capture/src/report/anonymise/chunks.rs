//! Reduces an SCTP packet to the data that verdicts depend on.
//!
//! Chunks keep their headers, TSNs and SACK reports. User data become zeros. Parameters are
//! removed, because they hold addresses, cookies, keys and error texts. The content of a heartbeat
//! is replaced by a number, so that its HEARTBEAT ACK can still be matched.

use std::collections::VecDeque;

use crate::frame::decode::sctp::{Packet, RawChunk, digest};
use eifel_packet::sctp::{Header, Writer};

const DATA: u8 = 0;
const INIT: u8 = 1;
const INIT_ACK: u8 = 2;
const SACK: u8 = 3;
const HEARTBEAT: u8 = 4;
const HEARTBEAT_ACK: u8 = 5;
const SHUTDOWN: u8 = 7;
const NR_SACK: u8 = 16;
const I_DATA: u8 = 64;
const FORWARD_TSN: u8 = 192;
const I_FORWARD_TSN: u8 = 194;

/// The number of heartbeats remembered to match their HEARTBEAT ACKs.
const MOST_HEARTBEATS: usize = 1024;
/// The header of a Heartbeat Info parameter (RFC 9260, section 3.3.5) with an eight-byte number.
const HEARTBEAT_INFO: [u8; 4] = [0, 1, 0, 12];

/// Assigns numbers to the contents of heartbeats.
#[derive(Debug, Default)]
pub(super) struct Heartbeats {
    seen: VecDeque<(u64, u64)>,
    last: u64,
}

impl Heartbeats {
    /// Returns the number of a heartbeat's content; 0 for other chunks.
    fn number_of(&mut self, chunk: &RawChunk<'_>) -> [u8; 8] {
        let number = match chunk.kind {
            HEARTBEAT | HEARTBEAT_ACK => self.number(digest(chunk.value)),
            _ => 0,
        };
        number.to_be_bytes()
    }

    fn number(&mut self, content: u64) -> u64 {
        if let Some((_, number)) = self.seen.iter().rev().find(|(seen, _)| *seen == content) {
            return *number;
        }
        if self.seen.len() == MOST_HEARTBEATS {
            self.seen.pop_front();
        }
        self.last += 1;
        self.seen.push_back((content, self.last));
        self.last
    }
}

/// Returns the reduced packet, and the number of zeros at its end that a copy need not store.
pub(super) fn without_content(packet: &Packet<'_>, heartbeats: &mut Heartbeats) -> (Vec<u8>, usize) {
    let (mut chunks, mut zeros) = (Vec::new(), 0);
    for chunk in packet.raw_chunks() {
        zeros = append(&chunk, heartbeats, &mut chunks);
    }
    let (source_port, destination_port) = packet.ports;
    let mut bytes = Vec::new();
    Writer::new(&Header { source_port, destination_port, verification_tag: packet.tag }, &mut bytes).raw(&chunks);
    (bytes, zeros)
}

/// Appends a chunk, with zeros in place of removed content. Returns the number of zeros.
fn append(chunk: &RawChunk<'_>, heartbeats: &mut Heartbeats, into: &mut Vec<u8>) -> usize {
    let numbered = [HEARTBEAT_INFO.as_slice(), &heartbeats.number_of(chunk)].concat();
    // The number of bytes kept, and the length of the value in the copy.
    let (kept, len) = match chunk.kind {
        DATA => (12, chunk.len),
        I_DATA => (16, chunk.len),
        INIT | INIT_ACK => (16, 16),
        SACK | NR_SACK => (chunk.len, chunk.len),
        SHUTDOWN | FORWARD_TSN | I_FORWARD_TSN => (4, 4),
        HEARTBEAT | HEARTBEAT_ACK => (numbered.len(), numbered.len()),
        _ => (0, 0),
    };
    let value = if matches!(chunk.kind, HEARTBEAT | HEARTBEAT_ACK) { &numbered } else { chunk.value };
    let value = &value[..value.len().min(kept).min(len)];
    into.extend([chunk.kind, chunk.flags]);
    into.extend((len as u16 + 4).to_be_bytes());
    into.extend(value);
    let zeros = len.next_multiple_of(4) - value.len();
    into.resize(into.len() + zeros, 0);
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heartbeat_and_its_answer_get_the_same_number() {
        let mut heartbeats = Heartbeats::default();
        let most = MOST_HEARTBEATS as u64;
        let numbers: Vec<u64> = (0..most).map(|content| heartbeats.number(content)).collect();
        assert!(numbers.iter().copied().eq(1..=most));
        assert_eq!([0, most - 1].map(|content| heartbeats.number(content)), [1, most]);
        // The oldest heartbeat is forgotten and gets a new number when it comes again. The latest
        // keeps its number.
        assert_eq!(
            [most, most - 1, 0, most - 1].map(|content| heartbeats.number(content)),
            [most + 1, most, most + 2, most]
        );
        assert_eq!(heartbeats.seen.len() as u64, most);
    }
}
