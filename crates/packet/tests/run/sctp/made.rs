//! Random packets: written and read back, damaged, and random bytes.

use super::{HEADER, offset, packet};
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{
    Cause, Causes, Chunk, Data, DataFlags, ForwardTsn, Gaps, Init, NrSack, Parameter, Parameters, Sack, SackFlags,
    parse, parse_unverified,
};
use eifel_packet::segment::Timestamps;
use eifel_packet::seq::Seq;
use eifel_packet::{Error, udp};
use proptest::collection::vec;
use proptest::prelude::*;

/// The material for a random chunk.
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

/// Returns a parameter of the kind numbered `kind`.
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

/// Returns a whole parameter, with its header, of an unknown or forbidden kind.
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
    fn a_flip_of_any_bit_is_noticed(all in vec(parts(), 1..3), bit: prop::sample::Index) {
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
                // The cut is between two chunks, or within padding.
                _ => prop_assert!(whole.iter().any(|start| end <= *start) || end + 4 > bytes.len()),
            }
        }
    }

    #[test]
    fn random_bytes_never_panic(mut bytes in vec(any::<u8>(), 0..200), kinds in vec(any::<u8>(), 8)) {
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
    fn a_datagram_is_read_back_and_a_flip_of_any_bit_is_noticed(
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
        // A checksum whose last set bit was cleared means that there is none.
        if bytes[6..8] != [0, 0] {
            prop_assert!(udp::parse(&bytes, &addresses).is_err());
        }
        let is_cut = |end| matches!(udp::parse(&before[..end], &addresses), Err(Error::Truncated { .. }));
        prop_assert!((0..before.len()).all(is_cut));
    }
}
