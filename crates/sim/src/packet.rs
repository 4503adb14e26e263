//! A packet in the simulated network, and its contents.

use crate::end::End;
use crate::oracle::{Role, SentData};
use eifel_packet::ip::{self, Addresses, Ecn, Header, Version};
use eifel_packet::sctp::{self, Chunk};
use eifel_packet::segment::Segment;
use std::net::Ipv4Addr;

/// A packet in the simulated network, without its contents.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Packet {
    /// The number of the transmission at its sender, counted from 1; 0 for an acknowledgement
    /// without data. If it has several chunks of data, it describes the first, and `positions` is
    /// their number.
    pub transmission: u64,
    /// First position of the sender's stream in the packet (SYN is position 0).
    pub start: u64,
    /// Number of the data segment in its flow and direction, from 1; 0 when it carries no data.
    pub segment: u64,
    /// Number of its positions (SYN and FIN take one each).
    pub positions: u32,
    /// Number of earlier transmissions of the same data.
    pub copy: u32,
    /// Index of the flow in the scenario.
    pub flow: u32,
    /// The end of the flow that sent it.
    pub sender: End,
    /// Whether its sender's engine marked it as a retransmission.
    pub repeats: bool,
}

/// A packet without a transmission.
pub const NO_PACKET: Packet =
    Packet { transmission: 0, start: 0, segment: 0, positions: 0, copy: 0, flow: 0, sender: End::From, repeats: false };

impl Packet {
    /// Returns its transmission as the oracle sees it.
    #[inline]
    pub fn sent(&self) -> SentData {
        SentData {
            transmission: self.transmission,
            start: self.start,
            end: self.start + u64::from(self.positions),
            role: match (self.repeats, self.copy) {
                (true, _) => Role::Retransmission,
                (false, 0) => Role::Original,
                (false, _) => Role::Probe,
            },
        }
    }
}

/// The contents of a packet.
pub enum Contents {
    Segment(Segment),
    Sctp(Box<SctpPacket>),
    /// A datagram has a length only.
    Datagram,
}

/// A packet of an association.
pub struct SctpPacket {
    /// The addresses in the IP header.
    pub addresses: Addresses,
    pub packet: eifel_sctp::Packet,
    /// The transmissions of its DATA chunks, in order, if there are several. A [`Packet`] describes
    /// a single one.
    pub transmissions: Vec<SentData>,
}

impl Default for SctpPacket {
    fn default() -> Self {
        let nobody = Ipv4Addr::UNSPECIFIED;
        let addresses = Addresses::V4 { source: nobody, destination: nobody };
        Self { addresses, packet: eifel_sctp::Packet::default(), transmissions: Vec::new() }
    }
}

impl SctpPacket {
    /// Returns the bytes of the packet, with its IP header.
    ///
    /// # Panics
    /// Panics when an association made a packet that IP cannot carry.
    pub fn datagram(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.packet.len() + 40);
        let header = Header::new(self.addresses);
        ip::emit(&header, sctp::PROTOCOL, self.packet.len(), &mut bytes).expect("a packet fits its path's PMTU");
        self.packet.emit(&mut bytes);
        bytes
    }

    /// Returns the length of the packet in bytes, with its IP header.
    #[inline]
    pub fn ip_len(&self, ip: Version) -> u32 {
        ip.header_len() + self.packet.len() as u32
    }
}

/// What links charge for an end's packets in place of their real length, to compare with simulators
/// that charge fixed numbers.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Charges {
    /// Bytes of a packet with DATA chunks beside their user data; `None` for the real ones.
    pub data_header: Option<u32>,
    /// Bytes of a packet with a SACK and without DATA chunks; `None` for the real ones.
    pub sack: Option<u32>,
}

impl Charges {
    /// Returns the bytes that links charge for a packet.
    #[inline]
    pub fn bytes(self, sctp: &SctpPacket, ip: Version) -> u32 {
        if self == Self::default() { sctp.ip_len(ip) } else { self.fixed(sctp, ip) }
    }

    fn fixed(self, sctp: &SctpPacket, ip: Version) -> u32 {
        let (mut data, mut user_bytes, mut reports) = (false, 0, false);
        for chunk in sctp.packet.chunks().map_while(Result::ok) {
            match chunk {
                Chunk::Data(chunk) => (data, user_bytes) = (true, user_bytes + chunk.payload.len() as u32),
                Chunk::Sack(_) => reports = true,
                _ => {}
            }
        }
        let charged =
            if data { self.data_header.map(|header| header + user_bytes) } else { self.sack.filter(|_| reports) };
        charged.unwrap_or_else(|| sctp.ip_len(ip))
    }
}

impl Contents {
    /// Returns the segment to be written, whatever the contents were before.
    #[inline]
    pub fn segment_mut(&mut self) -> &mut Segment {
        if !matches!(self, Self::Segment(_)) {
            *self = Self::Segment(Segment::EMPTY);
        }
        let Self::Segment(segment) = self else { unreachable!("it was just made") };
        segment
    }

    /// Returns the packet of an association to be written, with the contents of an earlier packet.
    #[inline]
    pub fn sctp_mut(&mut self) -> &mut SctpPacket {
        if !matches!(self, Self::Sctp(_)) {
            *self = Self::Sctp(Box::default());
        }
        let Self::Sctp(packet) = self else { unreachable!("it was just made") };
        packet
    }

    /// Returns the segment, if it is one.
    #[inline]
    pub fn segment(&self) -> Option<&Segment> {
        if let Self::Segment(segment) = self { Some(segment) } else { None }
    }

    /// Returns the packet of an association, if it is one.
    #[inline]
    pub fn sctp(&self) -> Option<&SctpPacket> {
        if let Self::Sctp(packet) = self { Some(packet) } else { None }
    }

    /// Returns whether the packet accepts congestion marks. An association does not use ECN.
    pub fn takes_marks(&self) -> bool {
        self.segment().is_some_and(|segment| segment.ecn.is_capable())
    }

    /// Changes the ECN field. Returns whether the packet has one.
    pub fn remark(&mut self, ecn: Ecn) -> bool {
        if let Self::Segment(segment) = self {
            segment.ecn = ecn;
            return true;
        }
        false
    }
}
