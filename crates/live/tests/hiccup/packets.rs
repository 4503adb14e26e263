//! Packets from 10.0.0.1 to 10.0.0.2.

use eifel_packet::datagram;
use eifel_packet::ip::{self, Addresses, Header};
use eifel_packet::segment::{Flags, Options, Segment};
use eifel_packet::seq::Seq;

fn addresses() -> Addresses {
    Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() }
}

/// Returns a datagram of `bytes` bytes in all.
pub fn udp(port: u16, bytes: usize) -> Vec<u8> {
    let mut packet = Vec::new();
    ip::emit(&Header::new(addresses()), 17, bytes - 20, &mut packet).unwrap();
    packet.extend(port.to_be_bytes());
    packet.resize(bytes, 0);
    packet
}

/// Returns a data segment of `len` bytes at `position` of the stream. The first position is 1.
pub fn data(position: u64, len: u32) -> Vec<u8> {
    marked(position, len, ip::Ecn::NotEct)
}

/// Returns a data segment with this ECN field.
pub fn marked(position: u64, len: u32, ecn: ip::Ecn) -> Vec<u8> {
    packet(&Segment { ecn, ..segment(position, len) })
}

/// Returns the header of a data segment.
pub fn segment(position: u64, len: u32) -> Segment {
    Segment {
        source_port: 1000,
        destination_port: 80,
        seq: Seq(0xffff_ffff_u32.wrapping_add(position as u32)),
        ack: Seq(1),
        flags: Flags::ACK,
        window: 1000,
        options: Options::default(),
        payload_len: len,
        ecn: ip::Ecn::NotEct,
    }
}

/// Returns a packet with this header, and zeros for data.
pub fn packet(segment: &Segment) -> Vec<u8> {
    let mut packet = Vec::new();
    datagram::emit(&Header::new(addresses()), segment, &vec![0; segment.payload_len as usize], &mut packet).unwrap();
    packet
}
