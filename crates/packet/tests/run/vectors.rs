//! Packets byte by byte: some captured from a Linux 6.18 sender and receiver, some made by hand.

use eifel_packet::ip::{Addresses, Header, Version};
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_packet::{Error, datagram, ip, tcp};

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("two hexadecimal digits")).collect()
}

fn sack(edges: &[(u32, u32)]) -> SackBlocks {
    let mut blocks = SackBlocks::EMPTY;
    for &(left, right) in edges {
        assert!(blocks.push(Seq(left), Seq(right)));
    }
    blocks
}

/// Asserts that `bytes` reads as `header` and `segment`, and that these are written as `bytes`.
fn stands_for(bytes: &[u8], header: Header, segment: Segment) {
    assert_eq!(datagram::parse(bytes), Ok((header, segment, &[][..])));
    let mut written = Vec::new();
    datagram::emit(&header, &segment, &[], &mut written).expect("fits");
    assert_eq!(written, bytes);
}

const THERE: Addresses =
    Addresses::V4 { source: std::net::Ipv4Addr::new(10, 9, 0, 1), destination: std::net::Ipv4Addr::new(10, 9, 0, 2) };

#[test]
fn the_handshake_of_linux() {
    let syn = hex("45 00 00 3c 21 f0 40 00 40 06 04 b8 0a 09 00 01 0a 09 00 02
                   b2 14 13 93 1f bb 99 63 00 00 00 00 a0 02 fa f0 27 2f 00 00
                   02 04 05 b4 04 02 08 0a 15 fd 7d 05 00 00 00 00 01 03 03 0a");
    let header = Header { identification: 0x21f0, ..Header::new(THERE) };
    let segment = Segment {
        source_port: 45588,
        destination_port: 5011,
        seq: Seq(0x1fbb_9963),
        ack: Seq(0),
        flags: Flags::SYN,
        window: 64240,
        options: Options {
            mss: Some(1460),
            window_scale: Some(10),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 0x15fd_7d05, echo: 0 }),
            sack: SackBlocks::EMPTY,
            marks: None,
        },
        payload_len: 0,
        ecn: ip::Ecn::NotEct,
    };
    stands_for(&syn, header, segment);

    let syn_ack = hex("45 00 00 3c 00 00 40 00 40 06 26 a8 0a 09 00 02 0a 09 00 01
                       13 93 b2 14 d3 b1 ee 97 1f bb 99 64 a0 12 e7 e8 e0 84 00 00
                       02 04 05 b4 04 02 08 0a 02 d3 94 8e 15 fd 7d 05 01 03 03 00");
    let answer = Segment {
        source_port: 5011,
        destination_port: 45588,
        seq: Seq(0xd3b1_ee97),
        ack: Seq(0x1fbb_9964),
        flags: Flags::SYN.with(Flags::ACK),
        window: 59368,
        options: Options {
            window_scale: Some(0),
            timestamps: Some(Timestamps { value: 0x02d3_948e, echo: 0x15fd_7d05 }),
            ..segment.options
        },
        payload_len: 0,
        ecn: ip::Ecn::NotEct,
    };
    stands_for(&syn_ack, Header::new(THERE.reversed()), answer);

    let ack = hex("45 00 00 34 21 f1 40 00 40 06 04 bf 0a 09 00 01 0a 09 00 02
                   b2 14 13 93 1f bb 99 64 d3 b1 ee 98 80 10 00 3f f6 8d 00 00
                   01 01 08 0a 15 fd 7d 6b 02 d3 94 8e");
    let third = Segment {
        seq: Seq(0x1fbb_9964),
        ack: Seq(0xd3b1_ee98),
        flags: Flags::ACK,
        window: 63,
        options: Options {
            timestamps: Some(Timestamps { value: 0x15fd_7d6b, echo: 0x02d3_948e }),
            ..Options::default()
        },
        ..segment
    };
    stands_for(&ack, Header { identification: 0x21f1, ..Header::new(THERE) }, third);
}

/// Returns an ACK of Linux with one SACK block.
fn report_of_linux() -> (Header, Segment) {
    let segment = Segment {
        source_port: 5011,
        destination_port: 45588,
        seq: Seq(0xd3b1_ee98),
        ack: Seq(0x1fbe_e172),
        flags: Flags::ACK,
        window: 65535,
        options: Options {
            timestamps: Some(Timestamps { value: 0x02d3_99dd, echo: 0x15fd_813f }),
            sack: sack(&[(0x1fbe_e71a, 0x1fbe_ecc2)]),
            ..Options::NONE
        },
        ..Segment::EMPTY
    };
    (Header { identification: 0x794e, ..Header::new(THERE.reversed()) }, segment)
}

/// Returns the bytes of that ACK with these bytes for data offset and flags, and for the checksum.
fn bytes_of_report(bits: &str, checksum: &str) -> String {
    format!(
        "45 00 00 40 79 4e 40 00 40 06 ad 55 0a 09 00 02 0a 09 00 01
         13 93 b2 14 d3 b1 ee 98 1f be e1 72 {bits} ff ff {checksum} 00 00
         01 01 08 0a 02 d3 99 dd 15 fd 81 3f 01 01 05 0a 1f be e7 1a 1f be ec c2"
    )
}

#[test]
fn sack_blocks_of_linux() {
    let (header, segment) = report_of_linux();
    stands_for(&hex(&bytes_of_report("b0 10", "5c 27")), header, segment);

    // Two blocks, the second below the first.
    let two = hex("45 00 00 48 ee e9 40 00 40 06 37 b2 0a 09 00 02 0a 09 00 01
                   13 97 a7 90 1f 34 04 6a 20 17 13 52 d0 10 ff ff ae 72 00 00
                   01 01 08 0a 68 e2 c3 e5 66 f1 3c a0 01 01 05 12 20 17 a0 ba 20 17 a6 62 20 17 18 fa 20 17 9b 12");
    let segment = Segment {
        source_port: 5015,
        destination_port: 42896,
        seq: Seq(0x1f34_046a),
        ack: Seq(0x2017_1352),
        options: Options {
            timestamps: Some(Timestamps { value: 0x68e2_c3e5, echo: 0x66f1_3ca0 }),
            sack: sack(&[(0x2017_a0ba, 0x2017_a662), (0x2017_18fa, 0x2017_9b12)]),
            ..Options::default()
        },
        ..segment
    };
    stands_for(&two, Header { identification: 0xeee9, ..header }, segment);
}

/// The checksum of a Linux packet, minus the value of the bits in its thirteenth and fourteenth
/// bytes.
#[test]
fn marked_segments_differ_in_one_bit() {
    for (flags, bits, checksum) in [
        (Flags::SENT_AGAIN, "b4 10", "58 27"),
        (Flags::ANSWERS_SENT_AGAIN, "b8 10", "54 27"),
        (Flags(0x700), "b7 10", "55 27"),
    ] {
        let (header, segment) = report_of_linux();
        let marked = Segment { flags: segment.flags.with(flags), ..segment };
        stands_for(&hex(&bytes_of_report(bits, checksum)), header, marked);
    }
}

/// A reset over IPv6 from ::1 to ::2, ports 1 and 2, seq 3, computed by hand. The words of the
/// pseudo-header add up to 1 + 2 + 20 + 6 = 0x1d, those of the segment to 1 + 2 + 3 + 0x5004 =
/// 0x500a. The sum is 0x5027, and its complement 0xafd8.
const RESET: &str = "00 01 00 02 00 00 00 03 00 00 00 00 50 04 00 00 af d8 00 00";

fn over_ipv6(next: u8, extensions: &str) -> Vec<u8> {
    let mut rest = hex(extensions);
    rest.extend(hex(RESET));
    let mut bytes = hex("60 00 00 00 00");
    bytes.extend([rest.len() as u8, next, 0x40]);
    for last in [1, 2] {
        bytes.extend([0; 15]);
        bytes.push(last);
    }
    bytes.extend(rest);
    bytes
}

fn reset() -> (Header, Segment) {
    let header = Header::new(Addresses::V6 { source: 1.into(), destination: 2.into() });
    let segment = Segment { source_port: 1, destination_port: 2, seq: Seq(3), flags: Flags::RST, ..Segment::EMPTY };
    (header, segment)
}

#[test]
fn a_reset_over_ipv6_worked_out_by_hand() {
    let (header, segment) = reset();
    stands_for(&over_ipv6(6, ""), header, segment);
    assert_eq!(datagram::len(&segment, Version::V6), 60);
    assert_eq!(datagram::len(&segment, Version::V4), 40);
}

#[test]
fn extension_headers_are_skipped() {
    let (header, segment) = reset();
    let chain = "3c 00 01 04 00 00 00 00
                 2b 01 01 0c 00 00 00 00 00 00 00 00 00 00 00 00
                 2c 00 03 00 00 00 00 00
                 33 00 00 00 00 00 00 07
                 06 01 00 00 00 00 00 00 00 00 00 00";
    // Hop-by-hop, destination options of 16 bytes, routing with no segments left, an atomic
    // fragment, authentication.
    let bytes = over_ipv6(0, chain);
    assert_eq!(datagram::parse(&bytes), Ok((header, segment, &[][..])));
    let packet = ip::parse(&bytes).expect("a whole packet");
    assert_eq!((packet.protocol, packet.protocol_offset, packet.offset), (6, 40 + 40, 40 + 52));
}

#[test]
fn extension_headers_that_cannot_be_followed() {
    let parse = |next, extensions| datagram::parse(&over_ipv6(next, extensions)).expect_err("refused");
    assert_eq!(parse(44, "06 00 00 08 00 00 00 07"), Error::Fragment { offset: 40 });
    assert_eq!(parse(44, "06 00 00 01 00 00 00 07"), Error::Fragment { offset: 40 });
    assert_eq!(parse(44, "06 00 01 00 00 00 00 07"), Error::Fragment { offset: 40 });
    let what = "segments left in IPv6 routing header";
    assert_eq!(
        parse(43, "06 00 00 01 00 00 00 00"),
        Error::Invalid { what, offset: 43, expected: "0 (at the destination)", found: 1 }
    );
    assert_eq!(
        parse(60, "06 09 01 04 00 00 00 00"),
        Error::Truncated { what: "IPv6 extension header", offset: 40, expected: 80, found: 28 }
    );
    let eight = "3c 00 01 04 00 00 00 00 ".repeat(7) + "06 00 01 04 00 00 00 00";
    assert!(datagram::parse(&over_ipv6(60, &eight)).is_ok());
    let nine = "3c 00 01 04 00 00 00 00 ".repeat(8) + "06 00 01 04 00 00 00 00";
    assert_eq!(
        parse(60, &nine),
        Error::Invalid { what: "number of IPv6 extension headers", offset: 40 + 72, expected: "at most 8", found: 9 }
    );
    // UDP after destination options: the first byte of these options names it.
    assert_eq!(
        parse(60, "11 00 01 04 00 00 00 00"),
        Error::Invalid { what: "IP protocol", offset: 40, expected: "6 (TCP)", found: 17 }
    );
}

/// Returns the reset over IPv4 from 0.0.0.1 to 0.0.0.2 with one change, and with the header
/// checksum corrected.
fn over_ipv4(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = hex("45 00 00 28 00 00 40 00 40 06 00 00 00 00 00 01 00 00 00 02");
    bytes.extend(hex(RESET));
    change(&mut bytes);
    let header_len = bytes.len().min(usize::from(bytes[0] & 15) * 4);
    let sum = eifel_packet::checksum::Sum::default().bytes(&bytes[..header_len]).finish();
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes
}

#[test]
fn ipv4_headers_that_contradict_themselves() {
    assert!(datagram::parse(&over_ipv4(|_| ())).is_ok());
    let error = |change: fn(&mut Vec<u8>)| datagram::parse(&over_ipv4(change)).expect_err("refused");
    let invalid = |what, offset, expected, found| Error::Invalid { what, offset, expected, found };
    let truncated = |what, expected, found| Error::Truncated { what, offset: 0, expected, found };
    assert_eq!(error(|bytes| bytes[0] = 0x55), invalid("IP version", 0, "4 or 6", 5));
    assert_eq!(error(|bytes| bytes[0] = 0x44), invalid("IPv4 header length", 0, "at least 5 words", 4));
    assert_eq!(error(|bytes| bytes[0] = 0x4f), truncated("IPv4 header", 60, 40));
    assert_eq!(error(|bytes| bytes[3] = 19), invalid("IPv4 total length", 2, "at least the header's length", 19));
    assert_eq!(error(|bytes| bytes[3] = 41), truncated("IPv4 packet", 41, 40));
    assert_eq!(error(|bytes| bytes[9] = 17), invalid("IP protocol", 9, "6 (TCP)", 17));
    // More fragments, then an offset of 8 bytes.
    assert_eq!(error(|bytes| bytes[6] = 0x20), Error::Fragment { offset: 6 });
    assert_eq!(error(|bytes| bytes[7] = 0x01), Error::Fragment { offset: 6 });
    let mut damaged = over_ipv4(|_| ());
    damaged[8] -= 1;
    let expected = u16::from_be_bytes([damaged[10], damaged[11]]) + 0x0100;
    assert_eq!(
        datagram::parse(&damaged),
        Err(Error::Checksum { what: "IPv4", offset: 10, expected, found: expected - 0x0100 })
    );
}

#[test]
fn errors_inside_the_segment_count_from_the_start_of_the_packet() {
    let error = |change: fn(&mut Vec<u8>)| datagram::parse(&over_ipv4(change)).expect_err("refused");
    assert_eq!(
        error(|bytes| bytes[37] = 0xd7),
        Error::Checksum { what: "TCP", offset: 36, expected: 0xafd8, found: 0xafd7 }
    );
    assert_eq!(
        error(|bytes| bytes[32] = 0x40),
        Error::Invalid { what: "TCP data offset", offset: 32, expected: "at least 5 words", found: 4 }
    );
    assert_eq!(
        error(|bytes| bytes[32] = 0x60),
        Error::Truncated { what: "TCP header", offset: 20, expected: 24, found: 20 }
    );
    // An option of kind 8 and length 3, with corrected checksums.
    assert_eq!(
        error(|bytes| {
            bytes[3] = 44;
            bytes.extend([8, 3, 0, 0]);
            bytes[32] = 0x60;
            let old = u32::from_be_bytes([0, 0, bytes[36], bytes[37]]);
            // 4 more bytes in the pseudo-header, 0x1000 in the data offset, and the word 0x0803.
            let new = (old - 4 - 0x1000 - 0x0803) as u16;
            bytes[36..38].copy_from_slice(&new.to_be_bytes());
        }),
        Error::Invalid { what: "length of TCP option", offset: 41, expected: "10 for timestamps", found: 3 }
    );
}

#[test]
fn a_packet_that_does_not_fit_is_refused_and_writes_nothing() {
    let (header, mut segment) = reset();
    let mut out = vec![7];
    segment.payload_len = 65_516;
    assert_eq!(
        datagram::emit(&header, &segment, &[], &mut out),
        Err(Error::TooLong { what: "payload of IPv6", limit: 65_535, found: 65_536 })
    );
    segment.payload_len = 65_496;
    assert_eq!(
        datagram::emit(&Header::new(THERE), &segment, &[], &mut out),
        Err(Error::TooLong { what: "payload of IPv4", limit: 65_515, found: 65_516 })
    );
    segment.payload_len = u32::MAX;
    assert!(datagram::emit(&header, &segment, &[], &mut out).is_err());
    assert!(tcp::emit(&segment, &[], &THERE, &mut out).is_err());
    segment.payload_len = 0;
    segment.options.timestamps = Some(Timestamps { value: 0, echo: 0 });
    segment.options.sack = sack(&[(1, 2), (3, 4), (5, 6), (7, 8)]);
    assert_eq!(tcp::header_len(&segment.options), 68);
    assert_eq!(
        datagram::emit(&header, &segment, &[], &mut out),
        Err(Error::TooLong { what: "TCP options", limit: 40, found: 48 })
    );
    assert_eq!(out, [7]);
}

#[test]
fn a_payload_of_known_length_only_counts_as_zeros() {
    for payload_len in [1, 2, 1459, 1460] {
        let (header, segment) = reset();
        let segment = Segment { payload_len, ..segment };
        let zeros = vec![0; payload_len as usize];
        let (mut whole, mut cut) = (Vec::new(), Vec::new());
        datagram::emit(&header, &segment, &zeros, &mut whole).expect("fits");
        datagram::emit(&header, &segment, &[], &mut cut).expect("fits");
        assert_eq!(cut, whole[..60]);
        assert_eq!(datagram::parse(&whole), Ok((header, segment, &zeros[..])));
        assert_eq!(
            datagram::parse(&cut),
            Err(Error::Truncated { what: "IPv6 packet", offset: 0, expected: whole.len(), found: 60 })
        );
    }
}

#[test]
#[should_panic(expected = "a payload of 2 bytes given for a segment of 3")]
fn a_payload_of_another_length_is_a_bug() {
    let (header, segment) = reset();
    let _ = datagram::emit(&header, &Segment { payload_len: 3, ..segment }, b"no", &mut Vec::new());
}

#[test]
fn addresses_can_be_reversed_for_an_answer() {
    let (source, destination) = (THERE.source(), THERE.destination());
    assert_eq!(Addresses::new(source, destination), Some(THERE));
    assert_eq!(Addresses::new(destination, source), Some(THERE.reversed()));
    assert_eq!(Addresses::new(source, "::1".parse().expect("an address")), None);
    let six = Addresses::V6 { source: 1.into(), destination: 2.into() };
    assert_eq!(Addresses::new(six.destination(), six.source()), Some(six.reversed()));
    assert_eq!((THERE.version(), six.version()), (Version::V4, Version::V6));
    assert_eq!((Version::V4.header_len(), Version::V6.header_len()), (20, 40));
}

#[test]
fn the_longest_segment_is_that_of_a_16_bit_length() {
    let segment = |payload_len| Segment { payload_len, ..PLAIN };
    let mut out = Vec::new();
    // 20 bytes of header. The payload exists as a length only.
    assert_eq!(tcp::emit(&segment(65_515), &[], &THERE, &mut out), Ok(()));
    let too_long = |found| Err(Error::TooLong { what: "TCP segment", limit: 65_535, found });
    assert_eq!(tcp::emit(&segment(65_516), &[], &THERE, &mut out), too_long(65_536));
    // The error caps a length beyond all packets.
    assert_eq!(tcp::emit(&segment(u32::MAX), &[], &THERE, &mut out), too_long(65_555));
    assert_eq!(out.len(), 20, "what is refused writes nothing");
    let mut longest = Vec::new();
    assert_eq!(tcp::emit(&segment(65_515), &[7; 65_515], &THERE, &mut longest), Ok(()));
    assert!(
        tcp::parse(&longest, &THERE).is_ok_and(|(read, payload)| read == segment(65_515) && payload.len() == 65_515)
    );
    longest.push(7);
    assert_eq!(tcp::parse(&longest, &THERE), Err(Error::TooLong { what: "TCP segment", limit: 65_535, found: 65_536 }));
}

const PLAIN: Segment = Segment {
    source_port: 1,
    destination_port: 2,
    seq: Seq(3),
    ack: Seq(4),
    flags: Flags::ACK,
    window: 5,
    ..Segment::EMPTY
};
