//! The box's view of a packet: its flow, its number in the flow, its data segment, and the number
//! of earlier copies.

use super::Direction;
use eifel_base::ranges::Block;
use eifel_packet::ip::{self, Addresses, Ecn};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::{Seq, unwrap};
use eifel_packet::tcp;
use eifel_path::parcel::Label;
use eifel_sim::numbering::Numbering;
use std::collections::BTreeMap;

/// The most flows told apart. Packets of further flows count as the last flow's, so a port scan
/// costs no memory.
const MOST_FLOWS: usize = 65_536;

/// The two ends of a flow. The source is the end whose packets go [there](Direction::There).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    addresses: Addresses,
    protocol: u8,
    ports: (u16, u16),
}

/// The box's view of a packet.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ParsedPacket {
    /// The label by which elements select it. Flows are numbered from 0, in the order first seen.
    pub label: Label,
    /// Its number in its flow and direction, from 1.
    pub number: u64,
    /// The IP protocol number; 0 if the packet could not be parsed.
    pub protocol: u8,
    /// The IPv4 identification; 0 for IPv6.
    pub identification: u16,
    /// Its TCP header.
    pub tcp: Option<Segment>,
    /// The stream positions of its data; `None` unless it is a TCP segment with data.
    pub data: Option<Block>,
}

/// One direction of a flow.
#[derive(Default)]
struct FlowDirection {
    packets: u64,
    isn: Option<Seq>,
    /// The position after those of earlier connections between the same ends.
    before: u64,
    nxt: u64,
    numbering: Numbering,
    /// Retransmissions of each segment, by its number.
    again: BTreeMap<u64, u32>,
}

/// All flows that have passed, numbered in the order first seen.
#[derive(Default)]
pub struct Flows {
    by_key: BTreeMap<Key, u32>,
    courses: Vec<[FlowDirection; 2]>,
}

impl Flows {
    /// Identifies a packet that comes in.
    pub fn see(&mut self, direction: Direction, bytes: &[u8]) -> ParsedPacket {
        let nothing =
            ParsedPacket { label: Label::default(), number: 0, protocol: 0, identification: 0, tcp: None, data: None };
        let Ok(packet) = ip::parse(bytes) else {
            let key = Key { addresses: NOWHERE, protocol: 0, ports: (0, 0) };
            let (flow, course) = self.course(key, direction);
            return ParsedPacket { label: Label { flow, ..Label::default() }, number: course.next(), ..nothing };
        };
        let addresses = packet.header.addresses;
        let ports = match (packet.protocol, packet.payload) {
            (6 | 17 | 132, [a, b, c, d, ..]) => (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])),
            _ => (0, 0),
        };
        let (addresses, ports) = match direction {
            Direction::There => (addresses, ports),
            Direction::Back => (addresses.reversed(), (ports.1, ports.0)),
        };
        let (flow, course) = self.course(Key { addresses, protocol: packet.protocol, ports }, direction);
        let number = course.next();
        let tcp = match packet.protocol {
            tcp::PROTOCOL => tcp::parse(packet.payload, &packet.header.addresses).ok(),
            _ => None,
        };
        let (segment, copy, data) = tcp.map_or((0, 0, None), |(segment, _)| course.data(&segment));
        ParsedPacket {
            label: Label { flow, copy, segment, takes_marks: Ecn::of(packet.header.traffic_class).is_capable() },
            number,
            protocol: packet.protocol,
            identification: packet.header.identification,
            tcp: tcp.map(|(segment, _)| segment),
            data,
        }
    }

    fn course(&mut self, key: Key, direction: Direction) -> (u32, &mut FlowDirection) {
        let full = self.courses.len() >= MOST_FLOWS;
        let next = self.courses.len() as u32;
        let flow = match self.by_key.get(&key) {
            Some(&flow) => flow,
            None if full => next - 1,
            None => {
                self.by_key.insert(key, next);
                self.courses.push(Default::default());
                next
            }
        };
        (flow, &mut self.courses[flow as usize][direction as usize])
    }
}

const NOWHERE: Addresses =
    Addresses::V4 { source: std::net::Ipv4Addr::UNSPECIFIED, destination: std::net::Ipv4Addr::UNSPECIFIED };

impl FlowDirection {
    fn next(&mut self) -> u64 {
        self.packets += 1;
        self.packets
    }

    /// Returns the number of the data segment, the number of earlier copies, and the positions of
    /// its data.
    fn data(&mut self, segment: &Segment) -> (u64, u32, Option<Block>) {
        if segment.flags.has(Flags::SYN) {
            if self.isn != Some(segment.seq) {
                let before = self.before + self.nxt;
                *self = Self { packets: self.packets, isn: Some(segment.seq), before, nxt: 1, ..Self::default() };
            }
            return (0, 0, None);
        }
        if segment.payload_len == 0 {
            return (0, 0, None);
        }
        // For a connection older than the box, positions count from the first data seen.
        let isn = *self.isn.get_or_insert(Seq(segment.seq.0.wrapping_sub(1)));
        let start = unwrap(self.nxt, isn, segment.seq);
        let block = Block { start, end: start + u64::from(segment.payload_len) };
        let (number, copy) = if start >= self.nxt {
            (self.numbering.next(start, segment.payload_len), 0)
        } else {
            let number = self.numbering.of(start);
            let copies = self.again.entry(number).or_default();
            *copies += 1;
            let copy = *copies;
            if block.end > self.nxt {
                self.numbering.next(self.nxt, (block.end - self.nxt) as u32);
            }
            (number, copy)
        };
        self.nxt = self.nxt.max(block.end);
        let (start, end) = (self.before + block.start, self.before + block.end);
        (number, copy, Some(Block { start, end }))
    }
}
