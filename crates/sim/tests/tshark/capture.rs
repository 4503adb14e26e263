//! Reads captures that the simulator has written, and writes captures of other packets.

use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Header};
use eifel_packet::pcapng::{Packet, Writer};
use eifel_packet::segment::Segment;

/// A captured packet.
#[derive(Clone, Debug)]
pub struct Seen {
    pub nanos: u64,
    pub addresses: Addresses,
    pub segment: Segment,
    pub payload: Vec<u8>,
}

const ENHANCED_PACKET: u32 = 6;

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Returns the packets of a capture that the simulator has written.
pub fn read(mut file: &[u8]) -> Vec<Seen> {
    let mut packets = Vec::new();
    while !file.is_empty() {
        let (block, rest) = file.split_at(word(file, 4) as usize);
        file = rest;
        if word(block, 0) != ENHANCED_PACKET {
            continue;
        }
        let nanos = u64::from(word(block, 12)) << 32 | u64::from(word(block, 16));
        let bytes = &block[28..28 + word(block, 20) as usize];
        let (header, segment, payload) = datagram::parse(bytes).unwrap();
        packets.push(Seen { nanos, addresses: header.addresses, segment, payload: payload.to_vec() });
    }
    packets
}

/// Returns a capture of these packets.
pub fn write(packets: &[Seen]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "eifel test").unwrap();
    let end = writer.interface("end").unwrap();
    for seen in packets {
        let mut bytes = Vec::new();
        datagram::emit(&Header::new(seen.addresses), &seen.segment, &seen.payload, &mut bytes).unwrap();
        let wire_len = bytes.len() as u32;
        writer.packet(end, seen.nanos, Packet { bytes: &bytes, wire_len, comment: None }).unwrap();
    }
    writer.finish().unwrap()
}
