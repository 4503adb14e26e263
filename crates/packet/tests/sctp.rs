//! SCTP packets: written and read back, damaged, made up, and byte for byte as the RFC draws them.

use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{
    Cause, Causes, Chunk, Data, DataFlags, ForwardTsn, Gap, Gaps, Header, Init, NrSack, Parameter, Parameters, Sack,
    SackFlags, Skipped, Unaware, Unknown, Writer, parse, parse_unverified,
};
use eifel_packet::segment::Timestamps;
use eifel_packet::seq::Seq;
use eifel_packet::{Error, udp};
use proptest::collection::vec;
use proptest::prelude::*;

const HEADER: Header = Header { source_port: 5001, destination_port: 9899, verification_tag: 0x0102_0304 };

/// What a chunk is made of.
type Parts = (u8, [u32; 4], Vec<u8>, Vec<[u8; 4]>, Vec<[u8; 4]>);

fn parts() -> impl Strategy<Value = Parts> {
    let list = || vec(any::<[u8; 4]>(), 0..8);
    (0..21u8, any::<[u32; 4]>(), vec(any::<u8>(), 0..60), list(), list())
}

fn chunk((kind, [a, b, c, d], raw, first, second): &Parts) -> Chunk<'_> {
    let init = Init {
        initiate_tag: *a,
        a_rwnd: *b,
        outbound_streams: *c as u16,
        inbound_streams: (c >> 16) as u16,
        initial_tsn: Seq(*d),
        parameters: Parameters(raw),
    };
    let reflected = a & 1 == 1;
    match kind {
        0..=2 => Chunk::Data(Data {
            flags: DataFlags(*a as u8),
            tsn: Seq(*b),
            stream: *c as u16,
            ssn: (c >> 16) as u16,
            ppid: d.to_be_bytes(),
            payload: raw,
        }),
        3 => Chunk::Init(init),
        4 => Chunk::InitAck(init),
        5 | 6 => Chunk::Sack(Sack {
            flags: SackFlags(*a as u8),
            cumulative: Seq(*b),
            a_rwnd: *c,
            gaps: Gaps(first),
            duplicates: second,
        }),
        7 => Chunk::NrSack(NrSack {
            flags: *a as u8,
            cumulative: Seq(*b),
            a_rwnd: *c,
            gaps: Gaps(first),
            kept: Gaps(second),
            duplicates: first,
        }),
        8 => Chunk::Heartbeat(Parameters(raw)),
        9 => Chunk::HeartbeatAck(Parameters(raw)),
        10 => Chunk::Abort { reflected, causes: Causes(raw) },
        11 => Chunk::Shutdown { cumulative: Seq(*b) },
        12 => Chunk::ShutdownAck,
        13 => Chunk::Error(Causes(raw)),
        14 => Chunk::CookieEcho(raw),
        15 => Chunk::CookieAck,
        16 => Chunk::Ecne { lowest: Seq(*b) },
        17 => Chunk::Cwr { lowest: Seq(*b) },
        18 => Chunk::ShutdownComplete { reflected },
        19 => Chunk::ForwardTsn(ForwardTsn { cumulative: Seq(*b), streams: first }),
        _ => Chunk::Timestamp(Timestamps { value: *a, echo: *b }),
    }
}

fn packet(chunks: &[Chunk<'_>]) -> Vec<u8> {
    let mut bytes = vec![0xee; 3];
    let mut writer = Writer::new(&HEADER, &mut bytes);
    for chunk in chunks {
        let before = writer.len();
        writer.chunk(chunk).expect("fits");
        assert_eq!(writer.len() - before, chunk.length().next_multiple_of(4));
    }
    assert_eq!(writer.is_empty(), chunks.is_empty());
    writer.finish();
    bytes.split_off(3)
}

fn offset(error: Error) -> usize {
    match error {
        Error::Truncated { offset, .. } | Error::Invalid { offset, .. } | Error::Crc32c { offset, .. } => offset,
        other => panic!("{other}"),
    }
}

/// A parameter of each kind, by turns.
fn parameter<'a>(kind: u8, word: u32, raw: &'a [u8], whole: &'a [u8]) -> Parameter<'a> {
    match kind {
        0 => Parameter::HeartbeatInfo(raw),
        1 => Parameter::Ipv4(word.into()),
        2 => Parameter::Ipv6(u128::from(word).into()),
        3 => Parameter::Cookie(raw),
        4 => Parameter::Unrecognized(raw),
        5 => Parameter::CookiePreservative(word),
        6 => Parameter::HostName(whole),
        7 => Parameter::SupportedAddressTypes(raw.as_chunks::<2>().0),
        8 => Parameter::EcnCapable,
        9 => Parameter::SupportedExtensions(raw),
        10 => Parameter::ForwardTsnSupported,
        11 => Parameter::RetransmitBit,
        _ => Parameter::Unknown { kind: 0x4000 | word as u16 >> 2, bytes: whole },
    }
}

fn cause<'a>(kind: u8, word: u32, raw: &'a [u8]) -> Cause<'a> {
    match kind {
        0 => Cause::InvalidStream(word as u16),
        1 => Cause::MissingParameters(raw.as_chunks::<2>().0),
        2 => Cause::StaleCookie(word),
        3 => Cause::OutOfResource,
        4 => Cause::UnresolvableAddress(raw),
        5 => Cause::UnrecognizedChunk(raw),
        6 => Cause::InvalidMandatoryParameter,
        7 => Cause::UnrecognizedParameters(raw),
        8 => Cause::NoUserData(Seq(word)),
        9 => Cause::CookieWhileShuttingDown,
        10 => Cause::RestartWithNewAddresses(raw),
        11 => Cause::UserAbort(raw),
        12 => Cause::ProtocolViolation(raw),
        _ => Cause::Unknown { code: 14 + (word as u16 >> 1), value: raw },
    }
}

/// The bytes as a parameter of some unknown or forbidden kind: whole, with its head.
fn whole(kind: u16, raw: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &(4 + raw.len() as u16).to_be_bytes(), raw].concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_was_written_is_read_back(all in vec(parts(), 0..6)) {
        let chunks: Vec<_> = all.iter().map(chunk).collect();
        let bytes = packet(&chunks);
        let (header, read) = parse(&bytes)?;
        prop_assert_eq!(header, HEADER);
        prop_assert_eq!(read.collect::<Result<Vec<_>, _>>()?, chunks);
        // The padding of the last chunk may be missing (RFC 9260, section 3.2).
        let last = all.last().map_or(0, |parts| chunk(parts).length());
        let cut = bytes.len() - (last.next_multiple_of(4) - last);
        let (_, read) = parse_unverified(&bytes[..cut])?;
        prop_assert!(read.eq(parse(&bytes)?.1));
    }

    #[test]
    fn every_single_bit_counts(all in vec(parts(), 1..3), bit: prop::sample::Index) {
        let chunks: Vec<_> = all.iter().map(chunk).collect();
        let mut bytes = packet(&chunks);
        let bit = bit.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        let wrong = matches!(parse(&bytes), Err(Error::Crc32c { .. }));
        prop_assert!(wrong);
    }

    #[test]
    fn a_packet_that_is_cut_off_ends_in_an_error_that_says_where(all in vec(parts(), 1..3)) {
        let chunks: Vec<_> = all.iter().map(chunk).collect();
        let bytes = packet(&chunks);
        let whole: Vec<usize> = chunks
            .iter()
            .scan(12, |end, chunk| { let start = *end; *end += chunk.length().next_multiple_of(4); Some(start) })
            .collect();
        for end in 0..bytes.len() {
            let Ok((_, read)) = parse_unverified(&bytes[..end]) else { prop_assert!(end < 12); continue };
            let read: Vec<_> = read.collect();
            match read.last() {
                Some(Err(error)) => prop_assert!(offset(*error) <= end),
                // Between two chunks, or within padding.
                _ => prop_assert!(whole.iter().any(|start| end <= *start) || end + 4 > bytes.len()),
            }
        }
    }

    #[test]
    fn made_up_bytes_never_panic(mut bytes in vec(any::<u8>(), 0..200), kinds in vec(any::<u8>(), 8)) {
        let _ = parse(&bytes);
        for (kind, at) in kinds.iter().zip((12..).step_by(16)) {
            if let Some(head) = bytes.get_mut(at..at + 4) {
                head.copy_from_slice(&[*kind % 20, kind >> 4, 0, 12 + kind % 8]);
            }
        }
        if let Ok((_, read)) = parse_unverified(&bytes) {
            for chunk in read {
                match chunk {
                    Ok(Chunk::Init(init) | Chunk::InitAck(init)) => init.parameters.iter().for_each(drop),
                    Ok(Chunk::Abort { causes, .. } | Chunk::Error(causes)) => causes.iter().for_each(drop),
                    Ok(_) => {}
                    Err(error) => {
                        prop_assert!(offset(error) <= bytes.len());
                        prop_assert!(!error.to_string().contains('\n'));
                    }
                }
            }
        }
    }

    #[test]
    fn parameters_are_read_back(all in vec((0..13u8, any::<u32>(), vec(any::<u8>(), 0..21)), 0..8)) {
        let bytes: Vec<_> = all.iter().map(|(kind, word, raw)| {
            let unknown = 0x4000 | *word as u16 >> 2;
            whole(if *kind == 6 { 11 } else { unknown }, raw)
        }).collect();
        let parameters: Vec<_> =
            all.iter().zip(&bytes).map(|((kind, word, raw), whole)| parameter(*kind, *word, raw, whole)).collect();
        let mut out = Vec::new();
        parameters.iter().for_each(|parameter| parameter.emit(&mut out));
        prop_assert_eq!(Parameters(&out).iter().collect::<Result<Vec<_>, _>>()?, parameters);
    }

    #[test]
    fn causes_are_read_back(all in vec((0..14u8, any::<u32>(), vec(any::<u8>(), 0..21)), 0..8)) {
        let causes: Vec<_> = all.iter().map(|(kind, word, raw)| cause(*kind, *word, raw)).collect();
        let mut out = Vec::new();
        causes.iter().for_each(|cause| cause.emit(&mut out));
        prop_assert_eq!(Causes(&out).iter().collect::<Result<Vec<_>, _>>()?, causes);
    }

    #[test]
    fn a_datagram_is_read_back_and_every_bit_of_it_counts(
        payload in vec(any::<u8>(), 0..60),
        (source, destination) in any::<(u16, u16)>(),
        (from, to) in any::<(u32, u32)>(),
        bit in any::<prop::sample::Index>(),
    ) {
        let addresses = Addresses::V4 { source: from.into(), destination: to.into() };
        let ports = udp::Ports { source, destination };
        let mut bytes = Vec::new();
        udp::emit(ports, &payload, &addresses, &mut bytes)?;
        prop_assert_eq!(udp::parse(&bytes, &addresses), Ok((ports, &payload[..])));
        let bit = bit.index(bytes.len() * 8);
        let before = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        // A checksum of which the last bit was cleared says that there is none.
        if bytes[6..8] != [0, 0] {
            prop_assert!(udp::parse(&bytes, &addresses).is_err());
        }
        let is_cut = |end| matches!(udp::parse(&before[..end], &addresses), Err(Error::Truncated { .. }));
        prop_assert!((0..before.len()).all(is_cut));
    }
}

#[test]
fn the_checksum_is_that_of_the_rfc() {
    let bytes = packet(&[Chunk::CookieAck]);
    let mut zeroed = bytes.clone();
    zeroed[8..12].fill(0);
    // Bit by bit, as appendix A of RFC 9260 defines it: reflected polynomial 0x82f63b78.
    let crc = zeroed.iter().fold(!0u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 })
    });
    assert_eq!(bytes[8..12], (!crc).to_le_bytes());
}

#[test]
fn the_sack_of_section_3_3_4_is_laid_out_as_it_is_drawn() {
    // TSNs up to 12 are there, and 14, 15 and 17; the window is 4660.
    let gaps = [Gap { start: 2, end: 3 }, Gap { start: 5, end: 5 }].map(Gap::to_bytes);
    let sack = Sack {
        flags: SackFlags::default(),
        cumulative: Seq(12),
        a_rwnd: 4660,
        gaps: Gaps(&gaps),
        duplicates: &[[0, 0, 0, 19]],
    };
    let bytes = packet(&[Chunk::Sack(sack)]);
    assert_eq!(
        bytes[12..],
        [3, 0, 0, 28, 0, 0, 0, 12, 0, 0, 0x12, 0x34, 0, 2, 0, 1, 0, 2, 0, 3, 0, 5, 0, 5, 0, 0, 0, 19]
    );
    assert_eq!(sack.gaps.iter().next_back(), Some(Gap { start: 5, end: 5 }));
    assert_eq!(sack.duplicates().collect::<Vec<_>>(), [Seq(19)]);
}

#[test]
fn data_is_laid_out_as_it_is_drawn() {
    let data = Data {
        flags: DataFlags::WHOLE.with(DataFlags::IMMEDIATE),
        tsn: Seq(0x0a0b_0c0d),
        stream: 3,
        ssn: 0x1234,
        ppid: [0, 0, 0, 46],
        payload: b"hello",
    };
    let bytes = packet(&[Chunk::Data(data), Chunk::ShutdownComplete { reflected: true }]);
    let expected = [0, 11, 0, 21, 10, 11, 12, 13, 0, 3, 0x12, 0x34, 0, 0, 0, 46, b'h', b'e', b'l', b'l', b'o', 0, 0, 0];
    assert_eq!(bytes[12..36], expected);
    assert_eq!(bytes[36..], [14, 1, 0, 4]);
}

#[test]
fn a_timestamp_chunk_is_twelve_bytes_that_others_skip() {
    let stamps = Timestamps { value: 0x0102_0304, echo: 5 };
    let bytes = packet(&[Chunk::Timestamp(stamps)]);
    assert_eq!(bytes[12..], [0xbe, 0, 0, 12, 1, 2, 3, 4, 0, 0, 0, 5]);
    assert_eq!(Unaware::from_high_bits(bytes[12]), Unaware::Skip);
    let mut out = Vec::new();
    Parameter::RetransmitBit.emit(&mut out);
    assert_eq!(Unaware::from_high_bits(out[0]), Unaware::Skip);
}

#[test]
fn the_two_high_bits_say_what_an_end_does_that_does_not_know() {
    let cases = [(0x3f, false, false), (0x40, false, true), (0x8f, true, false), (0xc1, true, true)];
    for (kind, goes_on, reports) in cases {
        let bytes = [kind, 9, 0, 5, 7];
        let unknown = Unknown { kind, bytes: &bytes };
        assert_eq!((unknown.unaware().goes_on(), unknown.unaware().reports()), (goes_on, reports));
        let packet = packet(&[Chunk::Unknown(unknown), Chunk::CookieAck]);
        let read: Vec<_> = parse(&packet).unwrap().1.collect();
        assert_eq!(read, [Ok(Chunk::Unknown(unknown)), Ok(Chunk::CookieAck)]);
        let whole = [kind, 0, 0, 4];
        let parameter = Parameters(&whole).iter().next().unwrap().unwrap();
        assert_eq!(parameter.unaware(), Some(unknown.unaware()));
    }
}

#[test]
fn skipped_streams_are_read() {
    let streams = [Skipped { stream: 1, ssn: 2 }, Skipped { stream: 0xfffe, ssn: 0xff }];
    let bytes = streams.map(Skipped::to_bytes);
    let forward = ForwardTsn { cumulative: Seq(7), streams: &bytes };
    assert!(forward.skipped().eq(streams));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let first = |chunk: &[u8]| {
        let bytes = [&[0; 12], chunk].concat();
        let (_, mut chunks) = parse_unverified(&bytes).unwrap();
        chunks.next().unwrap().unwrap_err().to_string()
    };
    let cases: [(&[u8], &str); 10] = [
        (
            &[0, 3, 0, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "SCTP DATA chunk at byte 12: cut off: expected 16 bytes, found 15",
        ),
        (&[1, 0, 0, 4], "SCTP INIT chunk at byte 12: cut off: expected 20 bytes, found 4"),
        (
            &[3, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1],
            "SCTP SACK chunk at byte 12: cut off: expected 28 bytes, found 16",
        ),
        (
            &[3, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4],
            "SCTP SACK chunk at byte 28: expected nothing behind the lists, found 4",
        ),
        (
            &[16, 0, 0, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "SCTP NR-SACK chunk at byte 12: cut off: expected 20 bytes, found 19",
        ),
        (&[7, 0, 0, 4], "length of SCTP chunk at byte 14: expected 8 for a chunk of one TSN, found 4"),
        (&[11, 0, 0, 5, 0], "length of SCTP chunk at byte 14: expected 4 for a chunk of no value, found 5"),
        (&[6, 0, 0, 3], "SCTP chunk at byte 14: expected a length of at least 4, found 3"),
        (&[6, 0, 0], "SCTP chunk at byte 12: cut off: expected 4 bytes, found 3"),
        (&[6, 0, 0, 9, 1, 2, 3, 4], "SCTP chunk at byte 12: cut off: expected 9 bytes, found 8"),
    ];
    for (chunk, line) in cases {
        assert_eq!(first(chunk), line);
    }
    let parameter = |bytes: &[u8]| Parameters(bytes).iter().next().unwrap().unwrap_err().to_string();
    assert_eq!(
        parameter(&[0, 5, 0, 7, 1, 2, 3]),
        "length of SCTP parameter at byte 2: expected 8 for an IPv4 address, found 7"
    );
    let cause = |bytes: &[u8]| Causes(bytes).iter().next().unwrap().unwrap_err().to_string();
    assert_eq!(
        cause(&[0, 2, 0, 10, 0, 0, 0, 2, 0, 7]),
        "length of SCTP error cause at byte 2: expected 8 + 2 for each missing parameter, found 10"
    );
}

#[test]
fn a_malformed_chunk_does_not_hide_the_next() {
    let bytes = [&[0; 12][..], &[11, 0, 0, 5, 0, 0, 0, 0], &[8, 0, 0, 4]].concat();
    let read: Vec<_> = parse_unverified(&bytes).unwrap().1.collect();
    assert!(matches!(read[..], [Err(Error::Invalid { offset: 14, .. }), Ok(Chunk::ShutdownAck)]));
}

#[test]
fn what_ip_cannot_carry_is_not_written() {
    let payload = vec![1; 65_535 - 16];
    let data =
        |payload| Chunk::Data(Data { flags: DataFlags::WHOLE, tsn: Seq(1), stream: 0, ssn: 0, ppid: [0; 4], payload });
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&HEADER, &mut bytes);
    let refused = writer.chunk(&data(&payload));
    assert_eq!(refused, Err(Error::TooLong { what: "SCTP packet", limit: 65_535, found: 12 + 65_536 }));
    assert!(writer.is_empty());
    writer.chunk(&data(&payload[..65_532 - 12 - 16])).unwrap();
    assert_eq!(writer.len(), 65_532);
    assert!(writer.chunk(&Chunk::CookieAck).is_err());
    assert!(parse_unverified(&vec![0; 65_536]).is_err());
}
