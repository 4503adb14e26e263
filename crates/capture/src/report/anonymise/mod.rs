//! Copies captures so that they can be shared: only the data that verdicts depend on remain.
//!
//! Each TCP segment becomes a raw IP packet with its TCP header and the options that this crate
//! knows. Each SCTP packet becomes a raw IP packet with its chunks. Addresses are replaced by
//! addresses of benchmarking and documentation networks, always the same for a host. VLAN tags get other
//! numbers. Link layers, tunnels, payload and all other options are left out. A router's ICMP message about a segment
//! that was too long quotes only the segment's ports and sequence number. Packets that a wireless network put into one
//! frame stay in one, with zeros for their payload. Every other frame becomes an IP header alone, so that frames keep
//! their numbers.

mod chunks;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::frame::decode::{self, Content, Fragments, Packet, TooBig, sctp, vlans, without_vlans};
use crate::frame::read::Frame;
use chunks::{Heartbeats, without_content};
use eifel_packet::ip::{self, Addresses, Header};
use eifel_packet::pcapng::{self, Interface, Writer};
use eifel_packet::segment::Segment;
use eifel_packet::{datagram, icmp, sctp::PROTOCOL as SCTP, tcp::PROTOCOL as TCP};

/// The link types of Ethernet and of IEEE 802.11 in pcapng.
const ETHERNET: u16 = 1;
const WIRELESS: u16 = 105;
/// The protocol of packets that stand for what is left out: for experiments (RFC 3692).
const LEFT_OUT: u8 = 253;

/// Writes the anonymised copy of a capture.
pub struct Anonymiser<W: Write> {
    writer: Writer<W>,
    interface: Interface,
    fragments: Fragments,
    /// The number of each host's new address. One address in two tunnels counts as two hosts.
    hosts: BTreeMap<(u32, IpAddr), u32>,
    /// The interface of packets with VLAN tags, if there are any, and the new number of each VLAN.
    tagged: Option<Interface>,
    vlans: BTreeMap<u16, u16>,
    heartbeats: Heartbeats,
    /// The interface of frames that aggregate several packets, if there are any.
    wireless: Option<Interface>,
}

impl<W: Write> Anonymiser<W> {
    /// Starts a copy in `out`.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = Writer::new(out, concat!("eifel ", env!("CARGO_PKG_VERSION")))?;
        let interface = writer.interface("anonymised")?;
        Ok(Self {
            writer,
            interface,
            fragments: Fragments::default(),
            hosts: BTreeMap::new(),
            tagged: None,
            vlans: BTreeMap::new(),
            heartbeats: Heartbeats::default(),
            wireless: None,
        })
    }

    /// Copies the parts of a frame that verdicts depend on.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let mut fragments = std::mem::take(&mut self.fragments);
        let (mut copies, mut network) = (Vec::new(), 0);
        decode::each(frame.link, frame.bytes, frame.wire_len, &mut fragments, |content| {
            let copy = match content {
                Ok(Content::Tcp(packet)) => (self.segment(&packet), packet.tunnel),
                Ok(Content::Sctp(packet)) => (self.chunks(&packet), packet.tunnel),
                Ok(Content::TooBig(message)) => (self.too_big(&message), message.tunnel),
                Err(_) => (None, 0),
            };
            network = copy.1;
            copies.push(copy.0.unwrap_or_default());
        });
        self.fragments = fragments;
        if copies.len() > 1 {
            return self.aggregated(frame.nanos, &copies);
        }
        let (mut bytes, rest) = copies.pop().unwrap_or_default();
        let mut interface = self.interface;
        if bytes.is_empty() {
            let nobody = Header::new(Addresses::V4 { source: Ipv4Addr::LOCALHOST, destination: Ipv4Addr::LOCALHOST });
            ip::emit(&nobody, LEFT_OUT, 0, &mut bytes).map_err(io::Error::other)?;
        } else if vlans(network).next().is_some() {
            interface = self.tag(&mut bytes, network)?;
        }
        let wire_len = bytes.len() as u32 + rest;
        let packet = pcapng::Packet { bytes: &bytes, wire_len, comment: None };
        self.writer.packet(interface, frame.nanos, packet)
    }

    /// Writes a wireless frame with several packets (A-MSDU). Their places follow from their lengths, so that
    /// their payload is there, as zeros.
    fn aggregated(&mut self, nanos: u64, copies: &[(Vec<u8>, u32)]) -> io::Result<()> {
        /// A data frame with quality of service, from the network; and the flag of an A-MSDU.
        const HEADER: [u8; 26] = [0x88, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0];
        const ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
        let mut bytes = HEADER.to_vec();
        for (copy, rest) in copies {
            // What is left out has an EtherType for experiments (IEEE 802).
            let kind: [u8; 2] = match copy.first().map(|first| first >> 4) {
                Some(4) => [8, 0],
                Some(6) => [0x86, 0xdd],
                _ => [0x88, 0xb5],
            };
            let content = SNAP.len() + kind.len() + copy.len() + *rest as usize;
            bytes.extend(ADDRESSES);
            bytes.extend((content as u16).to_be_bytes());
            bytes.extend([&SNAP[..], &kind, copy].concat());
            bytes.resize((bytes.len() + *rest as usize - HEADER.len()).next_multiple_of(4) + HEADER.len(), 0);
        }
        let interface = match self.wireless {
            Some(interface) => interface,
            None => *self.wireless.insert(self.writer.interface_of("anonymised", WIRELESS)?),
        };
        let packet = pcapng::Packet { bytes: &bytes, wire_len: bytes.len() as u32, comment: None };
        self.writer.packet(interface, nanos, packet)
    }

    /// Puts an Ethernet header with the VLAN tags of a network in front of an IP packet. Returns the
    /// interface of such packets.
    fn tag(&mut self, bytes: &mut Vec<u8>, network: u32) -> io::Result<Interface> {
        const ADDRESSES: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        let mut header = ADDRESSES.to_vec();
        for vlan in vlans(network) {
            let next = self.vlans.len() as u16 + 1;
            let number = *self.vlans.entry(vlan).or_insert(next);
            header.extend([0x81, 0]);
            header.extend(number.to_be_bytes());
        }
        header.extend(if bytes[0] >> 4 == 6 { [0x86, 0xdd] } else { [8, 0] });
        bytes.splice(..0, header);
        match self.tagged {
            Some(interface) => Ok(interface),
            None => Ok(*self.tagged.insert(self.writer.interface_of("anonymised", ETHERNET)?)),
        }
    }

    /// Ends the copy.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(self) -> io::Result<W> {
        self.writer.finish()
    }

    /// Returns the headers of a segment's copy, and the length of the payload that it leaves out.
    fn segment(&mut self, packet: &Packet) -> Option<(Vec<u8>, u32)> {
        let mut header = self.header(&packet.addresses, packet.tunnel)?;
        header.identification = packet.identification;
        header.hop_limit = packet.hop_limit;
        let mut bytes = Vec::new();
        if datagram::len(&packet.segment, header.addresses.version()) > u32::from(u16::MAX) {
            return Some((longer(&header, &packet.segment)?, packet.segment.payload_len));
        }
        datagram::emit(&header, &packet.segment, &[], &mut bytes).ok()?;
        Some((bytes, packet.segment.payload_len))
    }

    /// Returns the copy of an SCTP packet without the zeros at its end, and the number of these
    /// zeros.
    fn chunks(&mut self, packet: &sctp::Packet<'_>) -> Option<(Vec<u8>, u32)> {
        let mut header = self.header(&packet.addresses, packet.tunnel)?;
        header.identification = packet.identification;
        let (chunks, zeros) = without_content(packet, &mut self.heartbeats);
        let mut bytes = Vec::new();
        ip::emit(&header, SCTP, chunks.len(), &mut bytes).ok()?;
        bytes.extend(&chunks[..chunks.len() - zeros]);
        Some((bytes, zeros as u32))
    }

    /// Returns the copy of a router's report. It quotes no more of the dropped segment than its
    /// ports and sequence number, and seems to come from the destination of the segment.
    fn too_big(&mut self, message: &TooBig) -> Option<(Vec<u8>, u32)> {
        let header = self.header(&message.addresses, message.tunnel)?;
        let (source, destination) = (header.addresses.source(), header.addresses.destination());
        let back = Header::new(Addresses::new(destination, source)?);
        let (header_len, whole) = message.lengths;
        let mut quoted = Vec::new();
        ip::emit(&header, TCP, whole.saturating_sub(header_len) as usize, &mut quoted).ok()?;
        quoted.extend(message.ports.0.to_be_bytes());
        quoted.extend(message.ports.1.to_be_bytes());
        quoted.extend(message.seq.0.to_be_bytes());
        let mut bytes = Vec::new();
        icmp::emit_too_big(&back, message.mtu, &quoted, &mut bytes).ok()?;
        Some((bytes, 0))
    }

    fn header(&mut self, addresses: &Addresses, tunnel: u32) -> Option<Header> {
        let [source, destination] =
            [addresses.source(), addresses.destination()].map(|address| self.host(address, without_vlans(tunnel)));
        Addresses::new(source, destination).map(Header::new)
    }

    /// Returns the new address of a host: in 198.18.0.0/15 (RFC 5735) or 2001:db8::/32 (RFC 3849),
    /// which belong to no one.
    fn host(&mut self, address: IpAddr, tunnel: u32) -> IpAddr {
        let next = self.hosts.len() as u32;
        let number = *self.hosts.entry((tunnel, address)).or_insert(next);
        match address {
            IpAddr::V4(_) => Ipv4Addr::from(0xc612_0001_u32.wrapping_add(number)).into(),
            IpAddr::V6(_) => Ipv6Addr::from((0x2001_0db8 << 96) + 1 + u128::from(number)).into(),
        }
    }
}

/// Returns the headers of a segment that is too long for IP's length field, which then is 0. Over IPv6 it
/// is a jumbogram (RFC 2675); over IPv4 the length is that of the frame, as Linux writes it.
fn longer(header: &Header, segment: &Segment) -> Option<Vec<u8>> {
    const HOP_BY_HOP: usize = 6;
    let mut bytes = Vec::new();
    datagram::emit(header, &Segment { payload_len: 0, ..*segment }, &[], &mut bytes).ok()?;
    match header.addresses {
        Addresses::V4 { .. } => {
            // The checksum of the header grows by what its length loses (RFC 1624).
            let [length, checksum] = [2, 10].map(|at| u16::from_be_bytes([bytes[at], bytes[at + 1]]));
            let sum = u32::from(checksum) + u32::from(length);
            bytes[10..12].copy_from_slice(&((sum + (sum >> 16)) as u16).to_be_bytes());
            bytes[2..4].fill(0);
        }
        Addresses::V6 { .. } => {
            let jumbo = (bytes.len() as u32 - 40 + 8 + segment.payload_len).to_be_bytes();
            let option = [&[TCP, 0, 0xc2, 4], jumbo.as_slice()].concat();
            bytes.splice(40..40, option);
            bytes[4..6].fill(0);
            bytes[HOP_BY_HOP] = 0;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::read::Reader;
    use eifel_packet::segment::Flags;
    use eifel_packet::seq::Seq;

    #[test]
    fn an_anonymised_copy_keeps_what_marks_duplicate_frames() {
        let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let mut header = Header::new(addresses);
        (header.hop_limit, header.identification) = (17, 0x1234);
        let segment =
            Segment { source_port: 7, destination_port: 9, flags: Flags::ACK, payload_len: 3, ..Segment::EMPTY };
        let mut bytes = Vec::new();
        datagram::emit(&header, &segment, &[5; 3], &mut bytes).unwrap();
        let mut anonymiser = Anonymiser::new(Vec::new()).unwrap();
        let wire_len = bytes.len() as u32;
        let frame = Frame { number: 1, nanos: 7, link: 101, interface: 0, wire_len, bytes: &bytes };
        anonymiser.frame(&frame).unwrap();
        let file = anonymiser.finish().unwrap();
        let mut reader = Reader::new();
        reader.feed(&file);
        let copy = reader.frame().unwrap().unwrap();
        let found = decode::packet(copy.link, copy.bytes, copy.wire_len, &mut Fragments::default()).unwrap();
        assert_eq!((found.hop_limit, found.identification, found.segment), (17, 0x1234, segment));
        assert_eq!((copy.nanos, copy.wire_len, copy.bytes.len()), (7, wire_len, bytes.len() - 3));
    }

    #[test]
    fn a_frame_that_is_left_out_is_a_whole_ip_packet_without_content() {
        let bytes = [&[7; 12][..], &[8, 6], &[9; 28]].concat();
        let mut anonymiser = Anonymiser::new(Vec::new()).unwrap();
        anonymiser.frame(&Frame { number: 1, nanos: 7, link: 1, interface: 0, wire_len: 42, bytes: &bytes }).unwrap();
        let file = anonymiser.finish().unwrap();
        let mut reader = Reader::new();
        reader.feed(&file);
        let copy = reader.frame().unwrap().unwrap();
        let found = ip::parse(copy.bytes).unwrap();
        assert_eq!((copy.nanos, copy.wire_len, found.protocol, found.payload), (7, 20, LEFT_OUT, &[][..]));
    }

    #[test]
    fn packets_that_share_a_wireless_frame_stay_in_one() {
        let packet = |port: u16, payload: usize| {
            let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
            let payload_len = payload as u32;
            let segment = Segment { source_port: port, destination_port: 9, payload_len, ..Segment::EMPTY };
            let mut bytes = Vec::new();
            datagram::emit(&Header::new(addresses), &segment, &vec![5; payload], &mut bytes).unwrap();
            bytes
        };
        let mut bytes = [&[0x88, 1][..], &[0; 22], &[0x80, 0]].concat();
        for (kind, packet) in [([8, 0], packet(7, 33)), ([8, 6], vec![1; 28]), ([8, 0], packet(8, 1400))] {
            bytes.extend([7; 12]);
            bytes.extend((packet.len() as u16 + 8).to_be_bytes());
            bytes.extend([&[0xaa, 0xaa, 3, 0, 0, 0][..], &kind, &packet].concat());
            bytes.resize((bytes.len() - 26).next_multiple_of(4) + 26, 0);
        }
        let mut anonymiser = Anonymiser::new(Vec::new()).unwrap();
        let wire_len = bytes.len() as u32;
        anonymiser.frame(&Frame { number: 1, nanos: 7, link: 105, interface: 0, wire_len, bytes: &bytes }).unwrap();
        let file = anonymiser.finish().unwrap();
        let mut reader = Reader::new();
        reader.feed(&file);
        let copy = reader.frame().unwrap().unwrap();
        let mut found = Vec::new();
        decode::each(copy.link, copy.bytes, copy.wire_len, &mut Fragments::default(), |one| {
            found.push(match one {
                Ok(Content::Tcp(packet)) => Some((packet.segment.source_port, packet.segment.payload_len)),
                _ => None,
            });
        });
        assert_eq!(found, [Some((7, 33)), None, Some((8, 1400))]);
        assert!(!copy.bytes.windows(4).any(|bytes| bytes == [5; 4]), "payload is left");
    }

    #[test]
    fn the_copy_of_a_segment_that_is_too_long_for_ips_length_field_has_its_length() {
        let v4 = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let v6 = Addresses::V6 { source: [1; 16].into(), destination: [2; 16].into() };
        for addresses in [v4, v6] {
            let segment = Segment { source_port: 7, destination_port: 9, payload_len: 185_000, ..Segment::EMPTY };
            let bytes = longer(&Header::new(addresses), &segment).unwrap();
            let wire_len = bytes.len() as u32 + segment.payload_len;
            let found = decode::packet(101, &bytes, wire_len, &mut Fragments::default()).unwrap();
            assert_eq!((found.addresses, found.segment), (addresses, segment));
            let sum: u32 = bytes[..20].chunks(2).map(|two| u32::from(u16::from_be_bytes([two[0], two[1]]))).sum();
            assert!(addresses == v6 || (sum & 0xffff) + (sum >> 16) == 0xffff, "a wrong checksum");
        }
    }

    #[test]
    fn the_copy_of_a_routers_report_quotes_the_copied_segment() {
        let v4 = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let v6 = Addresses::V6 { source: [1; 16].into(), destination: [2; 16].into() };
        let new_v4 = Addresses::V4 { source: [198, 18, 0, 1].into(), destination: [198, 18, 0, 2].into() };
        let [one, two] = ["2001:db8::1", "2001:db8::2"].map(|address| address.parse().unwrap());
        for (addresses, copied) in [(v4, new_v4), (v6, Addresses::V6 { source: one, destination: two })] {
            let segment =
                Segment { source_port: 7, destination_port: 9, seq: Seq(5), payload_len: 1400, ..Segment::EMPTY };
            let (mut quoted, mut bytes) = (Vec::new(), Vec::new());
            datagram::emit(&Header::new(addresses), &segment, &[5; 1400], &mut quoted).unwrap();
            icmp::emit_too_big(&Header::new(addresses.reversed()), 1300, &quoted, &mut bytes).unwrap();
            let mut anonymiser = Anonymiser::new(Vec::new()).unwrap();
            let wire_len = bytes.len() as u32;
            anonymiser.frame(&Frame { number: 1, nanos: 7, link: 101, interface: 0, wire_len, bytes: &bytes }).unwrap();
            let file = anonymiser.finish().unwrap();
            let mut reader = Reader::new();
            reader.feed(&file);
            let copy = reader.frame().unwrap().unwrap();
            assert!(copy.bytes.len() < 100);
            let message =
                |bytes: &[u8]| match decode::content(101, bytes, bytes.len() as u32, &mut Fragments::default()) {
                    Ok(Content::TooBig(message)) => message,
                    other => panic!("{other:?}"),
                };
            assert_eq!(message(copy.bytes), TooBig { addresses: copied, ..message(&bytes) });
        }
    }
}
