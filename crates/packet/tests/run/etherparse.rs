//! Compares our encoding with etherparse's, in both directions.

use super::common;
use eifel_packet::datagram;
use eifel_packet::ip::{self, Addresses, Ecn, Header};
use eifel_packet::options::len;
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use etherparse::TcpOptionElement as Element;
use etherparse::{
    IpNumber, Ipv4Header, Ipv6Header, Ipv6RawExtHeader, NetHeaders, PacketHeaders, TcpHeader, TransportHeader,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Converts etherparse's reading of our options.
fn their_options(tcp: &TcpHeader) -> Options {
    let mut options = Options::default();
    for element in tcp.options_iterator() {
        match element.expect("they read our options") {
            Element::Noop => {}
            Element::MaximumSegmentSize(mss) => options.mss = Some(mss),
            Element::WindowScale(shift) => options.window_scale = Some(shift),
            Element::SelectiveAcknowledgementPermitted => options.sack_permitted = true,
            Element::Timestamp(value, echo) => options.timestamps = Some(Timestamps { value, echo }),
            Element::SelectiveAcknowledgement(first, rest) => {
                options.sack = SackBlocks::EMPTY;
                for (left, right) in [Some(first)].into_iter().chain(rest).flatten() {
                    assert!(options.sack.push(Seq(left), Seq(right)));
                }
            }
        }
    }
    options
}

fn their_flags(tcp: &TcpHeader) -> Flags {
    let bits = [tcp.fin, tcp.syn, tcp.rst, tcp.psh, tcp.ack, tcp.urg, tcp.ece, tcp.cwr, tcp.ns];
    Flags(bits.iter().enumerate().map(|(bit, set)| u16::from(*set) << bit).sum())
}

fn their_segment(tcp: &TcpHeader, payload: &[u8]) -> Segment {
    Segment {
        source_port: tcp.source_port,
        destination_port: tcp.destination_port,
        seq: Seq(tcp.sequence_number),
        ack: Seq(tcp.acknowledgment_number),
        flags: their_flags(tcp),
        window: tcp.window_size,
        options: their_options(tcp),
        payload_len: payload.len() as u32,
        ecn: Ecn::NotEct,
    }
}

/// Returns etherparse's header with the numbers of `segment` and these options.
fn their_tcp(segment: &Segment, elements: &[Element], urgent_pointer: u16) -> TcpHeader {
    let Segment { source_port, destination_port, seq, ack, flags, window, .. } = *segment;
    let mut tcp = TcpHeader::new(source_port, destination_port, seq.0, window);
    tcp.acknowledgment_number = ack.0;
    (tcp.fin, tcp.syn, tcp.rst, tcp.psh) =
        (flags.has(Flags::FIN), flags.has(Flags::SYN), flags.has(Flags::RST), flags.has(Flags::PSH));
    (tcp.ack, tcp.urg, tcp.ece, tcp.cwr) =
        (flags.has(Flags::ACK), flags.has(Flags::URG), flags.has(Flags::ECE), flags.has(Flags::CWR));
    tcp.ns = flags.has(Flags(0x100));
    tcp.urgent_pointer = urgent_pointer;
    tcp.set_options(elements).expect("the options fit");
    tcp
}

/// Returns our options one by one, from the largest to the smallest, so in another order than ours.
/// Each has a NOP in front if they still fit.
fn elements(options: &Options) -> Vec<Element> {
    let mut elements = Vec::new();
    if let [(left, right), rest @ ..] = options.sack.as_slice() {
        let rest = std::array::from_fn(|i| rest.get(i).map(|(left, right)| (left.0, right.0)));
        elements.push(Element::SelectiveAcknowledgement((left.0, right.0), rest));
    }
    elements.extend(options.timestamps.map(|stamps| Element::Timestamp(stamps.value, stamps.echo)));
    elements.extend(options.mss.map(Element::MaximumSegmentSize));
    elements.extend(options.window_scale.map(Element::WindowScale));
    elements.extend(options.sack_permitted.then_some(Element::SelectiveAcknowledgementPermitted));
    if len(options) + elements.len() <= 40 {
        elements = elements.into_iter().flat_map(|element| [Element::Noop, element]).collect();
    }
    elements
}

/// Returns a packet as etherparse writes it. It has IPv4 options, or IPv6 extension headers, of
/// `extra` times 8 bytes.
fn their_packet(header: &Header, extra: usize, tcp: &mut TcpHeader, payload: &[u8]) -> Vec<u8> {
    let tcp_len = (tcp.header_len() + payload.len()) as u16;
    let (class, hops) = (header.traffic_class, header.hop_limit);
    let mut bytes = Vec::new();
    match header.addresses {
        Addresses::V4 { source, destination } => {
            let mut ip =
                Ipv4Header::new(tcp_len, hops, IpNumber::TCP, source.octets(), destination.octets()).expect("fits");
            ip.dscp = (class >> 2).try_into().expect("six bits");
            ip.ecn = (class & 3).try_into().expect("two bits");
            ip.identification = header.identification;
            ip.options = vec![1; extra * 8].as_slice().try_into().expect("IPv4 options");
            ip.set_payload_len(usize::from(tcp_len)).expect("fits");
            ip.header_checksum = ip.calc_header_checksum();
            ip.write(&mut bytes).expect("a Vec takes all");
            tcp.checksum = tcp.calc_checksum_ipv4(&ip, payload).expect("fits");
        }
        Addresses::V6 { source, destination } => {
            let mut ip = Ipv6Header {
                traffic_class: class,
                flow_label: 0xabcde.try_into().expect("20 bits"),
                payload_length: tcp_len,
                next_header: IpNumber::TCP,
                hop_limit: hops,
                source: source.octets(),
                destination: destination.octets(),
            };
            // etherparse's checksum covers only the header's addresses and the TCP length.
            tcp.checksum = tcp.calc_checksum_ipv6(&ip, payload).expect("fits");
            let mut extensions = Vec::new();
            if extra > 0 {
                ip.next_header = IpNumber::IPV6_HEADER_HOP_BY_HOP;
                let options =
                    Ipv6RawExtHeader::new_raw(IpNumber::TCP, &vec![0; extra * 8 - 2]).expect("a multiple of 8, less 2");
                options.write(&mut extensions).expect("a Vec takes all");
            }
            ip.payload_length += extensions.len() as u16;
            ip.write(&mut bytes).expect("a Vec takes all");
            bytes.extend(extensions);
        }
    }
    tcp.write(&mut bytes).expect("a Vec takes all");
    bytes.extend(payload);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn etherparse_reads_our_segments(header in common::header(), (segment, payload) in common::segment()) {
        let mut bytes = Vec::new();
        let segment = Segment { ecn: Ecn::of(header.traffic_class), ..segment };
        // The segment's ECN field counts, whatever the header says.
        let other = Header { traffic_class: header.traffic_class ^ 3, ..header };
        datagram::emit(&other, &segment, &payload, &mut bytes)?;
        prop_assert_eq!(bytes.len() as u32, datagram::len(&segment, header.addresses.version()));

        let theirs = PacketHeaders::from_ip_slice(&bytes)?;
        let Some(TransportHeader::Tcp(tcp)) = theirs.transport else { panic!("not TCP: {theirs:?}") };
        prop_assert_eq!(theirs.payload.slice(), &payload[..]);
        prop_assert_eq!(Segment { ecn: segment.ecn, ..their_segment(&tcp, &payload) }, segment);
        match (theirs.net, header.addresses) {
            (Some(NetHeaders::Ipv4(ip, _)), Addresses::V4 { source, destination }) => {
                prop_assert_eq!((ip.source, ip.destination), (source.octets(), destination.octets()));
                prop_assert_eq!(ip.header_checksum, ip.calc_header_checksum());
                prop_assert_eq!(tcp.checksum, tcp.calc_checksum_ipv4(&ip, &payload)?);
                prop_assert_eq!(ip.identification, header.identification);
                prop_assert_eq!(ip.time_to_live, header.hop_limit);
                prop_assert_eq!(ip.dscp.value() << 2 | ip.ecn.value(), header.traffic_class);
                prop_assert!(ip.dont_fragment && !ip.more_fragments);
            }
            (Some(NetHeaders::Ipv6(ip, _)), Addresses::V6 { source, destination }) => {
                prop_assert_eq!((ip.source, ip.destination), (source.octets(), destination.octets()));
                prop_assert_eq!(tcp.checksum, tcp.calc_checksum_ipv6(&ip, &payload)?);
                prop_assert_eq!(ip.hop_limit, header.hop_limit);
                prop_assert_eq!(ip.traffic_class, header.traffic_class);
                prop_assert_eq!(ip.flow_label.value(), 0);
            }
            other => panic!("versions differ: {other:?}"),
        }
    }

    #[test]
    fn we_read_etherparses_segments(
        header in common::header(),
        (segment, payload) in common::segment(),
        extra in 0usize..=5,
        urgent_pointer: u16,
        link_padding in vec(any::<u8>(), 0..8),
    ) {
        let segment = Segment { ecn: Ecn::of(header.traffic_class), ..segment };
        let mut tcp = their_tcp(&segment, &elements(&segment.options), urgent_pointer);
        let mut bytes = their_packet(&header, extra, &mut tcp, &payload);
        bytes.extend(link_padding);
        prop_assert_eq!(datagram::parse(&bytes), Ok((header, segment, &payload[..])));
    }

    /// A router that changes the ECN field leaves the rest of the packet unchanged.
    #[test]
    fn a_router_marks_a_packet(header in common::header(), (segment, payload) in common::segment(), bits in 0u8..4) {
        let (mut bytes, mut marked) = (Vec::new(), Vec::new());
        datagram::emit(&header, &segment, &payload, &mut bytes)?;
        ip::remark(&mut bytes, Ecn::of(bits));
        datagram::emit(&header, &Segment { ecn: Ecn::of(bits), ..segment }, &payload, &mut marked)?;
        prop_assert_eq!(bytes, marked);
    }
}
