use super::*;
use common::{Common, Found};
use eifel_packet::datagram;
use eifel_packet::icmp::emit_too_big as icmp_too_big;
use eifel_packet::ip::{Ecn, Header};
use eifel_packet::segment::{Flags, Options, Timestamps};
use eifel_packet::seq::Seq;
use proptest::prelude::*;

fn segment() -> Segment {
    let options = Options { timestamps: Some(Timestamps { value: 7, echo: 9 }), ..Options::default() };
    Segment {
        source_port: 1000,
        destination_port: 2000,
        seq: Seq(11),
        ack: Seq(22),
        flags: Flags::ACK,
        window: 333,
        options,
        payload_len: 24,
        ecn: Ecn::NotEct,
    }
}

fn v4() -> Addresses {
    Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() }
}

fn v6() -> Addresses {
    Addresses::V6 { source: [1; 16].into(), destination: [2; 16].into() }
}

fn ip(addresses: Addresses) -> Vec<u8> {
    let mut bytes = Vec::new();
    datagram::emit(&Header::new(addresses), &segment(), &[0; 24], &mut bytes).unwrap();
    bytes
}

fn read(link: u32, bytes: &[u8]) -> Result<Packet, Skipped> {
    packet(link, bytes, bytes.len() as u32, &mut Fragments::default())
}

fn with(header: &[u8], inside: &[u8]) -> Vec<u8> {
    [header, inside].concat()
}

/// Returns an IPv4 packet of this protocol around `inside`.
fn around(protocol: u8, inside: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    eifel_packet::ip::emit(&Header::new(v4()), protocol, inside.len(), &mut bytes).unwrap();
    with(&bytes, inside)
}

fn udp(port: u16, inside: &[u8]) -> Vec<u8> {
    let [high, low] = port.to_be_bytes();
    around(17, &with(&[0x30, 0, high, low, 0, 0, 0, 0], inside))
}

#[test]
fn each_packet_of_an_aggregated_frame_is_found() {
    let snap = |kind: u16| [&[0xaa, 0xaa, 3, 0, 0, 0][..], &kind.to_be_bytes()].concat();
    let subframe = |kind: u16, packet: &[u8]| {
        let content = with(&snap(kind), packet);
        let mut bytes = [&[7; 12][..], &(content.len() as u16).to_be_bytes(), &content].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let packets = [subframe(0x0800, &ip(v4())), subframe(0x0806, &[1; 28]), subframe(0x86dd, &ip(v6()))].concat();
    let quality = |bits: u8| [&[0x88, 1][..], &[0; 22], &[bits, 0]].concat();
    let found = |link: u32, bytes: &[u8]| {
        let mut found = Vec::new();
        each(link, bytes, bytes.len() as u32, &mut Fragments::default(), |one| {
            found.push(match one {
                Ok(Content::Tcp(packet)) => Ok(packet.segment.payload_len),
                Ok(Content::Sctp(_) | Content::TooBig(_)) => Err(Skipped::Deep),
                Err(skipped) => Err(skipped),
            });
        });
        found
    };
    let length = read(101, &ip(v4())).unwrap().segment.payload_len;
    let expected = [Ok(length), Err(Skipped::NotTcp), Ok(length)];
    let plain = with(&quality(0x80), &packets);
    assert_eq!(found(105, &plain), expected);
    assert_eq!(found(127, &with(&[0, 0, 8, 0, 0, 0, 0, 0], &plain)), expected);
    let padded = [&[0, 0, 9, 0, 2, 0, 0, 0, 0x20][..], &quality(0x80), &[0; 2], &packets].concat();
    assert_eq!(found(127, &padded), expected);
    // A checksum behind the last one is none, a frame that was cut has its headers, and others hold one packet.
    assert_eq!(found(105, &with(&plain, &[9; 4])), expected);
    assert_eq!(found(105, &plain[..plain.len() - length as usize]), expected);
    assert_eq!(found(105, &with(&quality(0), &with(&snap(0x0800), &ip(v4())))), expected[..1]);
    assert_eq!(found(101, &ip(v4())), expected[..1]);
}

#[test]
fn every_link_layer_leads_to_the_segment() {
    let v4 = ip(v4());
    let v6 = ip(v6());
    let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let data = |control: [u8; 2], more: usize| [&control[..], &vec![0; 22 + more], &snap].concat();
    let cases: [(&str, u32, Vec<u8>); 39] = [
        ("raw", 101, v4.clone()),
        ("raw, version 6", 101, v6.clone()),
        ("IPv4", 228, v4.clone()),
        ("IPv6", 229, v6.clone()),
        ("Ethernet", 1, with(&[&[0; 12][..], &[8, 0]].concat(), &v4)),
        ("VLAN", 1, with(&[&[0; 12][..], &[0x81, 0, 0, 5, 0x86, 0xdd]].concat(), &v6)),
        ("two VLANs", 1, with(&[&[0; 12][..], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 8, 0]].concat(), &v4)),
        ("PPPoE", 1, with(&[&[0; 12][..], &[0x88, 0x64, 0x11, 0, 0, 1, 0, 78, 0, 0x21]].concat(), &v4)),
        ("MPLS", 1, with(&[&[0; 12][..], &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]].concat(), &v4)),
        ("SNAP", 1, with(&[&[0; 12][..], &[0, 84, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]].concat(), &v4)),
        ("FDDI", 10, with(&[&[0; 13][..], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]].concat(), &v4)),
        ("PPP", 9, with(&[0xff, 3, 0, 0x21], &v4)),
        ("PPP, compressed", 9, with(&[0x57], &v6)),
        ("PPP in HDLC", 50, with(&[0xff, 3, 0, 0x21], &v4)),
        ("Cisco HDLC", 104, with(&[0x0f, 0, 8, 0], &v4)),
        ("loopback", 0, with(&30_u32.to_be_bytes(), &v6)),
        ("cooked", 113, with(&[&[0; 14][..], &[8, 0]].concat(), &v4)),
        ("cooked, version 2", 276, with(&[&[8, 0][..], &[0; 18]].concat(), &v4)),
        ("802.11", 105, with(&data([8, 1], 0), &v4)),
        ("802.11, four addresses and priority", 105, with(&data([0x88, 3], 8), &v4)),
        ("802.11, padded", 127, with(&[&[0, 0, 9, 0, 2, 0, 0, 0, 0x20][..], &data([0x88, 1], 4)].concat(), &v4)),
        ("radiotap", 127, with(&[&[0, 0, 8, 0, 0, 0, 0, 0][..], &data([8, 1], 0)].concat(), &v4)),
        ("Prism", 119, with(&[&[0x44, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0][..], &data([8, 1], 0)].concat(), &v4)),
        ("AVS", 163, with(&[&[0x80, 0x21, 0x10, 1, 0, 0, 0, 8][..], &data([8, 1], 0)].concat(), &v4)),
        ("PPI", 192, with(&[&[0, 0, 8, 0, 105, 0, 0, 0][..], &data([8, 1], 0)].concat(), &v4)),
        ("netfilter's log", 239, with(&[2, 0, 0, 0, 6, 0, 3, 0, 1, 2, 0, 0, 4, 0, 9, 0], &v4)),
        ("netfilter's log, big-endian", 239, with(&[2, 0, 0, 0, 0, 6, 0, 3, 1, 2, 0, 0, 0, 4, 0, 9], &v4)),
        ("Frame Relay", 107, with(&[0x18, 0x41, 3, 0xcc], &v4)),
        ("Frame Relay of Cisco", 107, with(&[0x18, 0x41, 8, 0], &v4)),
        ("a switch's tag", 281, with(&[&[0; 16][..], &[8, 0]].concat(), &v4)),
        ("a switch's tag with a type", 285, with(&[&[0; 20][..], &[8, 0]].concat(), &v4)),
        ("a switch's tag before the frame", 282, with(&[&[0; 16][..], &[8, 0]].concat(), &v4)),
        ("IP over Fibre Channel", 122, with(&[&[0; 16][..], &snap].concat(), &v4)),
        ("a switch's tag on Ethernet", 1, with(&[&[0; 12][..], &[0xda, 0xda, 0, 0, 1, 2, 3, 4, 8, 0]].concat(), &v4)),
        ("IPsec of OpenBSD", 109, with(&[0; 12], &v6)),
        ("the packet filter of OpenBSD", 117, with(&[&[61, 2][..], &[0; 62]].concat(), &v4)),
        ("IP hook of Solaris", 226, with(&[0; 24], &v4)),
        ("header of Apple", 258, with(&[&[12, 0, 0, 0, 1, 0, 0, 0, 101, 0, 0, 0][..]].concat(), &v4)),
        ("IEEE 1394", 138, with(&[&[0; 16][..], &[8, 0]].concat(), &v4)),
    ];
    for (name, link, bytes) in cases {
        assert_eq!(read(link, &bytes).map(|packet| packet.segment), Ok(segment()), "{name}");
        // A packet cut off anywhere before its payload is an error, or loses its options.
        for end in 0..bytes.len() - 24 {
            let cut = packet(link, &bytes[..end], bytes.len() as u32, &mut Fragments::default());
            assert!(cut.is_err() || cut.is_ok_and(|cut| cut.segment.payload_len == 24), "{name} cut at {end}");
        }
    }
    assert_eq!(read(242, &v4), Err(Skipped::Link(242)));
    assert_eq!(Skipped::Link(242).to_string(), "link type 242 (IP over InfiniBand) is not supported");
    assert_eq!(read(105, &with(&data([8, 0x41], 0), &v4)), Err(Skipped::Encrypted));
    assert_eq!(read(105, &with(&data([0x48, 1], 0), &v4)), Err(Skipped::NotTcp), "no content");
}

#[test]
fn segments_inside_tunnels_are_found() {
    let inner = ip(v6());
    let frame = with(&[&[0; 12][..], &[0x86, 0xdd]].concat(), &inner);
    let cases = [
        ("6in4", around(41, &inner), 0),
        ("GRE", around(47, &with(&[0, 0, 0x86, 0xdd], &inner)), 0),
        (
            "GRE with checksum, key and number",
            around(47, &with(&[0xb0, 0, 0x86, 0xdd, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1], &inner)),
            5,
        ),
        ("GRE with Ethernet", around(47, &with(&[0, 0, 0x65, 0x58], &frame)), 0),
        ("VXLAN", udp(4789, &with(&[8, 0, 0, 0, 0, 0, 9, 0], &frame)), 9),
        ("Geneve", udp(6081, &with(&[1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 4], &frame)), 7),
        ("GTP-U", udp(2152, &with(&[0x30, 0xff, 0, 84, 0, 0, 0, 1], &inner)), 0),
        ("GTP-U with a number", udp(2152, &with(&[0x32, 0xff, 0, 88, 0, 0, 0, 1, 0, 7, 9, 0x85], &inner)), 0),
        ("GTP-U with an N-PDU", udp(2152, &with(&[0x31, 0xff, 0, 88, 0, 0, 0, 1, 0, 7, 9, 0x85], &inner)), 0),
        (
            "GTP-U with an extension",
            udp(2152, &with(&[0x34, 0xff, 0, 92, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0], &inner)),
            0,
        ),
    ];
    for (name, bytes, tunnel) in cases {
        let found = read(101, &bytes).map(|packet| (packet.addresses, packet.tunnel, packet.segment));
        assert_eq!(found, Ok((v6(), tunnel, segment())), "{name}");
    }
    assert_eq!(read(101, &udp(53, &inner)), Err(Skipped::NotTcp));
    let deep = (0..40).fold(ip(v4()), |inside, _| around(4, &inside));
    assert_eq!(read(101, &deep), Err(Skipped::Deep));
}

#[test]
fn ipv6_extension_headers_are_skipped() {
    let mut bytes = ip(v6());
    let payload = bytes.split_off(40);
    bytes[6] = 0;
    let chain = [60, 0, 0, 0, 0, 0, 0, 0, 43, 0, 0, 0, 0, 0, 0, 0, 6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(chain);
    bytes.extend(payload);
    let length = (bytes.len() - 40) as u16;
    bytes[4..6].copy_from_slice(&length.to_be_bytes());
    assert_eq!(read(101, &bytes).map(|packet| packet.segment), Ok(segment()));
}

#[test]
fn the_fragments_of_a_packet_make_one_segment() {
    let whole = ip(v4());
    let part = |offset: usize, length: usize, more: bool| {
        let mut bytes = whole[..20].to_vec();
        bytes[2..4].copy_from_slice(&((20 + length) as u16).to_be_bytes());
        bytes[6..8].copy_from_slice(&((offset / 8) as u16 | if more { 0x2000 } else { 0 }).to_be_bytes());
        bytes.extend(&whole[20 + offset..20 + offset + length]);
        bytes
    };
    let parts = [part(0, 40, true), part(40, 8, true), part(48, 8, false)];
    // A part that comes twice completes nothing: there are as many bytes then, but one part is
    // missing.
    let orders: [&[usize]; 5] = [&[0, 1, 2], &[2, 1, 0], &[1, 2, 0], &[0, 0, 2, 1], &[2, 2, 0, 0, 1]];
    for order in orders {
        let mut fragments = Fragments::default();
        let mut read = |index: &usize| packet(101, &parts[*index], parts[*index].len() as u32, &mut fragments);
        let mut read: Vec<_> = order.iter().map(&mut read).collect();
        assert_eq!(read.pop().map(|last| last.map(|packet| packet.segment)), Some(Ok(segment())), "{order:?}");
        assert!(read.iter().all(|one| *one == Err(Skipped::Fragment)), "{order:?}");
    }
}

/// Fragments belong together if they have equal addresses and identifications.
#[test]
fn fragments_of_two_packets_are_kept_apart() {
    let part = |source: u8, identification: u8, last: bool| {
        let mut bytes = ip(v4())[..20].to_vec();
        let (offset, flags) = if last { (40, 0) } else { (0, 0x20) };
        bytes.extend(&ip(v4())[20 + offset..][..if last { 16 } else { 40 }]);
        let length = bytes.len() as u8;
        bytes[2..4].copy_from_slice(&[0, length]);
        bytes[4..8].copy_from_slice(&[0, identification, flags, (offset / 8) as u8]);
        bytes[15] = source;
        bytes
    };
    for (one, other) in [((1, 7), (1, 8)), ((1, 7), (2, 7))] {
        let mut fragments = Fragments::default();
        let mut take = |(source, identification), last| {
            let bytes = part(source, identification, last);
            packet(101, &bytes, bytes.len() as u32, &mut fragments)
        };
        assert_eq!(take(one, false).err(), Some(Skipped::Fragment));
        assert_eq!(take(other, true).err(), Some(Skipped::Fragment), "{one:?} has not come yet, nor has {other:?}");
        assert_eq!(take(one, true).map(|packet| packet.segment), Ok(segment()));
        assert_eq!(take(other, false).map(|packet| packet.segment), Ok(segment()));
    }
}

#[test]
fn a_length_of_zero_means_the_length_of_the_frame() {
    let mut bytes = ip(v4());
    bytes[2..4].copy_from_slice(&[0, 0]);
    let found = packet(101, &bytes[..52], 100_000, &mut Fragments::default()).unwrap();
    assert_eq!(found.segment.payload_len, 100_000 - 52);
}

#[test]
fn options_before_a_malformed_one_are_kept() {
    let mut bytes = ip(v4());
    // Timestamps, then an option that is longer than the header.
    bytes[40..52].copy_from_slice(&[8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 77, 9]);
    assert_eq!(read(101, &bytes).map(|packet| packet.segment.options), Ok(segment().options));
}

/// The short path reads TCP over IPv4 without options and without fragments, and nothing else.
#[test]
fn the_fast_reader_equals_the_full_reader_whichever_byte_changes() {
    let ethernet = with(&[[0; 12].as_slice(), &[8, 0]].concat(), &ip(v4()));
    let mut taken = [0; 3];
    for (place, (link, header)) in [(1, 14), (101, 0), (228, 0)].into_iter().enumerate() {
        let whole = &ethernet[14 - header..];
        for at in 0..whole.len() {
            for value in 0..=255 {
                let mut bytes = whole.to_vec();
                bytes[at] = value;
                let ip = &bytes[header..];
                let straight = ip[0] == 0x45 && ip[2..4] != [0, 0] && ip[6] & 0x3f == 0 && ip[7] == 0;
                let expected = read(link, &bytes).ok().filter(|_| straight);
                assert_eq!(plain(link, &bytes), expected, "byte {at} of link type {link} is {value}");
                taken[place] += u32::from(expected.is_some());
            }
        }
        assert_eq!(plain(link, &whole[..header + 19]), None, "half a header");
    }
    assert_eq!(plain(113, &ethernet), None, "another link type");
    assert!(taken.iter().all(|&taken| taken > 15_000), "{taken:?}");
}

/// Compares the fields that are read in place with those of the whole segment.
fn agrees<const STAMPED: bool>(common: &Common<'_, STAMPED>, packet: &Packet) -> Result<(), TestCaseError> {
    let segment = &packet.segment;
    let Addresses::V4 { source, destination } = packet.addresses else { panic!("{packet:?}") };
    let addresses = [source.octets(), destination.octets()].concat();
    let ports = [segment.source_port, segment.destination_port].map(u16::to_be_bytes).concat();
    let ends = common.ends();
    prop_assert_eq!((&ends.addresses.to_le_bytes()[..], &ends.ports.to_le_bytes()[..]), (&addresses[..], &ports[..]));
    prop_assert_eq!((common.seq(), common.ack(), common.window()), (segment.seq, segment.ack, segment.window));
    prop_assert_eq!((common.identification(), common.payload_len), (packet.identification, segment.payload_len));
    prop_assert_eq!(common.stamps(), segment.options.timestamps);
    prop_assert!(segment.options.sack.is_empty() && segment.flags.has(Flags::ACK) && packet.tunnel == 0);
    prop_assert!(![Flags::SYN, Flags::FIN, Flags::RST].iter().any(|flag| segment.flags.has(*flag)), "{segment:?}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn the_fast_reader_finds_the_segment_of_the_full_reader(
        stamped: bool,
        changed in proptest::collection::vec((0usize..90, any::<u8>()), 0..3),
        kept in prop_oneof![3 => Just(90_usize), 1 => 0usize..90],
    ) {
        let mut bytes = with(&[[0; 12].as_slice(), &[8, 0]].concat(), &ip(v4()));
        if !stamped {
            // A header of five words: the timestamps become payload.
            bytes[46] = 5 << 4;
        }
        for (at, byte) in &changed {
            bytes[*at] = *byte;
        }
        let bytes = &bytes[..kept];
        let found = common::read(1, bytes);
        if changed.is_empty() && kept == 90 {
            prop_assert!(matches!((found, stamped), (Some(Found::Stamped(_)), true) | (Some(Found::Unstamped(_)), false)));
        }
        let Some(found) = found else { return Ok(()) };
        let packet = read(1, bytes).unwrap();
        prop_assert_eq!(plain(1, bytes), Some(packet));
        match found {
            Found::Stamped(common) => agrees(&common, &packet)?,
            Found::Unstamped(common) => agrees(&common, &packet)?,
        }
    }
}

/// Returns frames of each supported kind: link layers, tunnels, extension headers, fragments, and
/// both protocols.
fn kinds() -> Vec<(u32, Vec<u8>)> {
    let (v4, v6) = (ip(v4()), ip(v6()));
    let ethernet = |kind: &[u8], inside: &[u8]| (1, [&[1; 12], kind, inside].concat());
    let inner = ethernet(&[0x86, 0xdd], &v6).1;
    let mut extended = v6.clone();
    let payload = extended.split_off(40);
    extended[6] = 0;
    let chain = [60, 0, 0, 0, 0, 0, 0, 0, 43, 0, 0, 0, 0, 0, 0, 0, 51, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    // Authentication, mobility, and a fragment header of a whole packet.
    let more = [135, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 1, 2, 3, 4];
    extended.extend([&chain[..], &more, &payload].concat());
    let length = (extended.len() as u16 - 40).to_be_bytes();
    extended[4..6].copy_from_slice(&length);
    let mut jumbo = v6.clone();
    jumbo[4..6].copy_from_slice(&[0, 0]);
    let chunks =
        [&[0, 7, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 0, 3, 0, 21, 0, 0, 0, 9][..], &[7; 16], &[3, 0, 0, 24, 0, 0, 0, 8]]
            .concat();
    let chunks =
        [&chunks[..], &[0, 0, 9, 9, 0, 1, 0, 1, 0, 2, 0, 3, 0, 0, 0, 5], &[16, 0, 0, 32, 0, 0, 0, 8, 0, 0, 9, 9]]
            .concat();
    let chunks =
        [&chunks[..], &[0, 1, 0, 1, 0, 1, 0, 0, 0, 2, 0, 3, 0, 5, 0, 6, 0, 0, 0, 5, 64, 3, 0, 24], &[1; 20]].concat();
    let init = [&chunks[..12], &[1, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 2, 0, 3, 0, 4, 0, 0, 0, 5, 4, 0, 0, 8, 1, 2, 3, 4]]
        .concat();
    let in_udp = |from: u16, to: u16| {
        let ports = [from.to_be_bytes(), to.to_be_bytes()].concat();
        around(17, &[&ports, &[0; 4][..], &chunks].concat())
    };
    let from_gtp = {
        let mut bytes = udp(9, &with(&[0x30, 0xff, 0, 84, 0, 0, 0, 1], &v6));
        bytes[20..22].copy_from_slice(&2152_u16.to_be_bytes());
        bytes
    };
    let mut sacks = v4.clone();
    // A SACK block and padding in place of the timestamps.
    sacks[40..52].copy_from_slice(&[1, 5, 10, 0, 0, 1, 0, 0, 0, 2, 0, 0]);
    vec![
        (101, v4.clone()),
        (101, v6.clone()),
        (228, v4.clone()),
        (229, v6.clone()),
        ethernet(&[8, 0], &v4),
        ethernet(&[0x81, 0, 0, 5, 0x86, 0xdd], &v6),
        ethernet(&[0x91, 0, 0, 5, 0, 70, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &v4),
        ethernet(&[0x92, 0, 0, 5, 8, 0], &v4),
        ethernet(&[0x88, 0x64, 0x11, 0, 0, 1, 0, 78, 0, 0x57], &v6),
        ethernet(&[0x88, 0x48, 0, 1, 0, 64, 0, 2, 1, 64], &v4),
        ethernet(&[0, 84, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &v4),
        (10, with(&[&[0; 13][..], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]].concat(), &v4)),
        (11, with(&[0xaa, 0xaa, 3, 0, 0, 0, 0x86, 0xdd], &v6)),
        (9, with(&[0x21], &v4)),
        (50, with(&[0xff, 3, 0, 0x57], &v6)),
        (51, with(&[0x11, 0, 0, 1, 0, 78, 0, 0x21], &v4)),
        (104, with(&[0x0f, 0, 8, 0], &v4)),
        (0, with(&30_u32.to_ne_bytes(), &v6)),
        (108, with(&2_u32.to_be_bytes(), &v4)),
        (12, v4.clone()),
        (14, v4.clone()),
        (113, with(&[&[0; 14][..], &[8, 0]].concat(), &v4)),
        (276, with(&[&[8, 0][..], &[0; 18]].concat(), &v4)),
        (101, around(41, &v6)),
        (101, around(4, &v4)),
        (101, around(47, &with(&[0x30, 0x80, 0x86, 0xdd, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2], &v6))),
        (101, around(47, &with(&[0x40, 0, 0x88, 0x0b, 0, 0, 0, 0, 0xff, 3, 0, 0x57], &v6))),
        (101, around(47, &with(&[0, 0, 0x65, 0x58], &inner))),
        (101, udp(4789, &with(&[8, 0, 0, 0, 0, 0, 9, 0], &inner))),
        (101, udp(6081, &with(&[1, 0, 0x65, 0x58, 0, 0, 7, 0, 1, 2, 3, 4], &inner))),
        (101, udp(2152, &with(&[0x32, 0xff, 0, 88, 0, 0, 0, 1, 0, 7, 9, 0x85], &v6))),
        (101, udp(2152, &with(&[0x34, 0xff, 0, 96, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0xc0, 1, 9, 9, 0], &v6))),
        (101, from_gtp),
        (101, extended),
        (101, jumbo),
        (101, sacks),
        (101, around(132, &chunks)),
        (101, around(132, &init)),
        (101, in_udp(9899, 7)),
        (101, in_udp(7, 9899)),
    ]
}

/// Returns the content of a frame in text form, chunk by chunk.
fn found(link: u32, bytes: &[u8], wire_len: u32, fragments: &mut Fragments) -> String {
    match content(link, bytes, wire_len, fragments) {
        Ok(Content::Sctp(packet)) => {
            let whole: Vec<_> = packet.chunks().collect();
            let raw: Vec<_> = packet.raw_chunks().collect();
            let sacks = whole.iter().filter_map(|chunk| match chunk {
                sctp::Chunk::Sack(sack) => Some((sack.gaps().collect(), sack.duplicates().collect())),
                _ => None,
            });
            let sacks: Vec<(Vec<_>, Vec<_>)> = sacks.collect();
            format!("{packet:?} {whole:?} {raw:?} {sacks:?}\n")
        }
        other => format!("{other:?}\n"),
    }
}

#[test]
fn frames_with_changed_or_missing_bytes_match_the_golden() {
    use eifel_testkit::{digest, golden};
    let mut text = String::new();
    for (number, (link, whole)) in kinds().into_iter().enumerate() {
        let wire_len = whole.len() as u32;
        let mut said = found(link, &whole, wire_len, &mut Fragments::default());
        text += &said;
        for end in 0..whole.len() {
            said += &found(link, &whole[..end], wire_len, &mut Fragments::default());
            for change in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
                let mut bytes = whole.clone();
                bytes[end] ^= change;
                let mut fragments = Fragments::default();
                said += &found(link, &bytes, wire_len, &mut fragments);
                // If the change makes the packet a fragment, the second frame belongs to the same
                // or another packet.
                said += &found(link, &bytes, wire_len, &mut fragments);
                said += &found(link, &whole, wire_len, &mut fragments);
            }
        }
        text += &format!("{number}: {link} {}\n", digest(said));
    }
    golden!("frames.txt", text);
}

/// Fragments in any order, some of them missing, repeated, or of other packets.
#[test]
fn reassembled_fragments_match_the_golden() {
    use eifel_testkit::random::Random;
    use eifel_testkit::{digest, golden};
    let mut text = String::new();
    let mut random = Random(1);
    let (whole, other) = (ip(v4()), ip(v6()));
    for group in 0..20 {
        let mut said = String::new();
        let mut fragments = Fragments::default();
        for _ in 0..2000 {
            let (offset, length) = (random.below(4) * 16, 8 * (1 + random.below(6)));
            let (more, identification) = (random.coin(), random.below(3) as u8);
            let rest = &whole[20..];
            let carried = &rest[(offset as usize).min(rest.len())..];
            let carried = &carried[..carried.len().min(length as usize)];
            let bytes = if random.coin() {
                let mut bytes = with(&whole[..20], carried);
                let length = (bytes.len() as u16).to_be_bytes();
                bytes[2..4].copy_from_slice(&length);
                let word = (offset / 8) as u16 | if more { 0x2000 } else { 0 };
                bytes[4..8].copy_from_slice(&[[0, identification], word.to_be_bytes()].concat());
                bytes
            } else {
                let word = (offset as u16 | u16::from(more)).to_be_bytes();
                let mut bytes = [&other[..40], &[6, 0, word[0], word[1], 0, identification, 0, 1], carried].concat();
                let length = (bytes.len() as u16 - 40).to_be_bytes();
                bytes[4..6].copy_from_slice(&length);
                bytes[6] = 44;
                bytes
            };
            let wire_len = bytes.len() as u32;
            said += &found(101, &bytes, wire_len, &mut fragments);
        }
        text += &format!("{group}: {} whole, {}\n", said.matches("Tcp").count(), digest(said));
    }
    golden!("parts.txt", text);
}

/// Beyond the number of incomplete packets that are remembered, the oldest is forgotten.
#[test]
fn fragments_of_as_many_packets_as_fit_are_reassembled() {
    const MOST: u16 = 256;
    let whole = ip(v4());
    let part = |identification: u16, last: bool| {
        let mut bytes = with(&whole[..20], if last { &whole[60..] } else { &whole[20..60] });
        let length = (bytes.len() as u16).to_be_bytes();
        bytes[2..4].copy_from_slice(&length);
        let word: u16 = if last { 5 } else { 0x2000 };
        bytes[4..8].copy_from_slice(&[identification.to_be_bytes(), word.to_be_bytes()].concat());
        bytes
    };
    for (count, first) in [(MOST, Ok(segment())), (MOST + 1, Err(Skipped::Fragment))] {
        let mut fragments = Fragments::default();
        let mut take = |identification, last| {
            let bytes = part(identification, last);
            packet(101, &bytes, bytes.len() as u32, &mut fragments).map(|packet| packet.segment)
        };
        (0..count).for_each(|number| assert_eq!(take(number, false), Err(Skipped::Fragment)));
        assert_eq!(take(1, true), Ok(segment()));
        assert_eq!(take(0, true), first);
    }
}

/// A frame with the most allowed layers is read; a frame with one layer more is refused.
#[test]
fn headers_up_to_the_limit_of_nesting_are_read() {
    let within = |layers: u32| (1..layers).fold(ip(v4()), |inside, _| around(4, &inside));
    assert_eq!(read(101, &within(MOST_LAYERS)).map(|packet| packet.segment), Ok(segment()));
    assert_eq!(read(101, &within(MOST_LAYERS + 1)), Err(Skipped::Deep));
}

/// Returns a router's message that quotes `quoted`, cut to `kept` bytes.
fn too_big(addresses: Addresses, mtu: u32, quoted: &[u8], kept: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    icmp_too_big(&Header::new(addresses), mtu, &quoted[..kept], &mut bytes).unwrap();
    bytes
}

#[test]
fn a_router_reports_a_segment_that_is_too_long() {
    for (addresses, header_len, is_v6) in [(v4(), 20, false), (v6(), 40, true)] {
        let quoted = ip(addresses);
        let length = quoted.len() as u32;
        let found = |mtu: u32, quoted: &[u8], kept: usize| {
            let bytes = too_big(addresses.reversed(), mtu, quoted, kept);
            match content(101, &bytes, bytes.len() as u32, &mut Fragments::default()) {
                Ok(Content::TooBig(message)) => Ok(message),
                Err(other) => Err(other),
                Ok(other) => panic!("{other:?}"),
            }
        };
        let message = TooBig {
            addresses,
            ports: (1000, 2000),
            tunnel: 0,
            seq: Seq(11),
            lengths: (header_len, length),
            mtu: 1400,
        };
        for kept in header_len as usize + 8..quoted.len() {
            assert_eq!(found(1400, &quoted, kept), Ok(message));
        }
        for kept in 0..header_len as usize + 8 {
            assert_eq!(found(1400, &quoted, kept), Err(Skipped::NotTcp), "{kept}");
        }
        assert_eq!(found(0, &quoted, quoted.len()), Ok(TooBig { mtu: length - 1, ..message }));
        // Another protocol, a fragment, and no IP.
        let (mut udp, mut fragment, mut none) = (quoted.clone(), quoted.clone(), quoted.clone());
        udp[if is_v6 { 6 } else { 9 }] = 17;
        fragment[if is_v6 { 6 } else { 7 }] = if is_v6 { 44 } else { 3 };
        none[0] = 0;
        for other in [udp, fragment, none] {
            assert_eq!(found(1400, &other, other.len()), Err(Skipped::NotTcp));
        }
        assert_eq!(read(101, &too_big(addresses, 1400, &quoted, quoted.len())), Err(Skipped::NotTcp));
    }
}

#[test]
fn other_icmp_messages_are_ignored() {
    let quoted = ip(v4());
    let whole = too_big(v4(), 1400, &quoted, quoted.len());
    let read = |kind: u8, code: u8, len: usize| {
        let mut bytes = whole.clone();
        (bytes[20], bytes[21]) = (kind, code);
        let read = content(101, &bytes[..len], len as u32, &mut Fragments::default());
        matches!(read, Ok(Content::TooBig(_)))
    };
    assert!(read(3, 4, whole.len()));
    // A host cannot be reached, an echo, a time that was exceeded, and IPv6's number of the
    // message.
    assert_eq!([(3, 1), (8, 0), (11, 0), (2, 0)].map(|(kind, code)| read(kind, code, whole.len())), [false; 4]);
    assert!((20..28).all(|len| !read(3, 4, len)));
}
