//! Bytes that are cut off, damaged or random must give an error or a value, never a panic.

use super::common;
use eifel_packet::segment::{Options, Segment};
use eifel_packet::{Error, datagram, ip, options, tcp};
use proptest::collection::vec;
use proptest::prelude::*;

/// Returns the offset in an error.
fn offset(error: Error) -> usize {
    match error {
        Error::Truncated { offset, .. }
        | Error::Invalid { offset, .. }
        | Error::Checksum { offset, .. }
        | Error::Crc32c { offset, .. }
        | Error::Fragment { offset } => offset,
        Error::TooLong { .. } => 0,
    }
}

/// Bytes of options that are mostly well formed, so that the reader gets beyond the first one.
fn options_like() -> impl Strategy<Value = Vec<u8>> {
    let option = prop_oneof![
        4 => Just(vec![1]),
        1 => Just(vec![0]),
        1 => any::<[u8; 2]>().prop_map(|b| [&[2, 4][..], &b].concat()),
        1 => any::<u8>().prop_map(|b| vec![3, 3, b]),
        1 => Just(vec![4, 2]),
        2 => vec(any::<u8>(), 0..34).prop_map(|b| [&[5, b.len() as u8 + 2][..], &b].concat()),
        2 => (1usize..=4)
            .prop_flat_map(|blocks| vec(any::<u8>(), 8 * blocks))
            .prop_map(|b| [&[5, b.len() as u8 + 2][..], &b].concat()),
        2 => any::<[u8; 8]>().prop_map(|b| [&[8, 10][..], &b].concat()),
        1 => vec(any::<u8>(), 1..6),
    ];
    vec(option, 0..8).prop_map(|options| {
        let mut bytes = options.concat();
        bytes.truncate(40);
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_was_written_is_read_back(header in common::header(), (segment, payload) in common::segment()) {
        let mut bytes = vec![0xee; 3];
        let segment = Segment { ecn: ip::Ecn::of(header.traffic_class), ..segment };
        datagram::emit(&header, &segment, &payload, &mut bytes)?;
        prop_assert_eq!(datagram::parse(&bytes[3..]), Ok((header, segment, &payload[..])));
    }

    #[test]
    fn every_truncation_is_an_error(header in common::header(), (segment, payload) in common::segment()) {
        let mut bytes = Vec::new();
        datagram::emit(&header, &segment, &payload, &mut bytes)?;
        for end in 0..bytes.len() {
            let error = datagram::parse(&bytes[..end]).expect_err("cut off");
            prop_assert!(matches!(error, Error::Truncated { .. }), "{end}: {error}");
            prop_assert!(offset(error) <= end);
            // TCP has no length field: a cut payload only makes the checksum wrong.
            let segment_bytes = &bytes[header.addresses.version().header_len() as usize..];
            if end < tcp::header_len(&segment.options) as usize {
                let error = tcp::parse(&segment_bytes[..end], &header.addresses).expect_err("cut off");
                prop_assert!(matches!(error, Error::Truncated { .. }), "{end}: {error}");
            }
        }
    }

    #[test]
    fn a_flip_of_any_bit_of_a_segment_is_noticed((segment, payload) in common::segment(), addresses in common::addresses()) {
        let mut bytes = Vec::new();
        tcp::emit(&segment, &payload, &addresses, &mut bytes)?;
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(tcp::parse(&bytes, &addresses).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn random_bytes_never_panic(mut bytes in vec(any::<u8>(), 0..200), addresses in common::addresses()) {
        let _ = ip::parse(&bytes);
        let _ = datagram::parse(&bytes);
        let _ = tcp::parse(&bytes, &addresses);
        let _ = options::parse(&bytes);
        for version in [0x45, 0x4f, 0x60] {
            if let Some(first) = bytes.first_mut() {
                *first = version;
            }
            if let Err(error) = datagram::parse(&bytes) {
                prop_assert!(offset(error) <= bytes.len());
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }

    #[test]
    fn chains_of_extension_headers_never_panic(
        kinds in vec(prop::sample::select(vec![0u8, 6, 43, 44, 51, 59, 60, 135]), 1..12),
        mut rest in vec(any::<u8>(), 0..120),
    ) {
        // Extension headers of 8 bytes each, after a fixed header.
        let mut bytes = vec![0x60, 0, 0, 0, 0, 0, kinds[0], 64];
        bytes.extend([0; 32]);
        for next in &kinds[1..] {
            bytes.extend([*next, 0, 0, 0, 0, 0, 0, 0]);
        }
        bytes.append(&mut rest);
        bytes[5] = (bytes.len() - 40) as u8;
        match ip::parse(&bytes) {
            Ok(packet) => prop_assert_eq!(packet.payload.len(), bytes.len() - packet.offset),
            Err(error) => prop_assert!(offset(error) <= bytes.len()),
        }
    }

    #[test]
    fn options_are_refused_or_read_the_same_again(bytes in options_like()) {
        match options::parse(&bytes) {
            Ok(read) if options::len(&read) <= options::LIMIT => {
                // The options that were read must survive being written in our layout and read
                // again.
                let mut segment = Vec::new();
                let addresses = ip::Addresses::V4 { source: 1.into(), destination: 2.into() };
                let value = Segment {
                    source_port: 1,
                    destination_port: 2,
                    seq: Default::default(),
                    ack: Default::default(),
                    flags: Default::default(),
                    window: 0,
                    options: read,
                    payload_len: 0,
                    ecn: ip::Ecn::NotEct,
                };
                tcp::emit(&value, &[], &addresses, &mut segment)?;
                prop_assert_eq!(tcp::parse(&segment, &addresses), Ok((value, &[][..])));
            }
            // With our padding, options that just fitted may be too long. No header can hold more
            // than four blocks.
            Ok(read) => prop_assert!(read.sack.len() <= 4),
            Err(error) => prop_assert!(offset(error) < bytes.len()),
        }
    }
}

#[test]
fn all_pairs_of_kind_and_length_are_read_or_refused() {
    for kind in 0..=255u8 {
        for length in 0..=255u8 {
            for size in [2usize, 3, 4, 10, 39, 40] {
                let mut bytes = vec![1; size];
                (bytes[0], bytes[1]) = (kind, length);
                let read = options::parse(&bytes);
                let length = usize::from(length);
                let known = match kind {
                    0 => {
                        assert_eq!(read, Ok(Options::default()));
                        continue;
                    }
                    // A NOP: the length byte is the kind of the next option.
                    1 => continue,
                    2 => length == 4,
                    3 => length == 3,
                    4 => length == 2,
                    5 => [10, 18, 26, 34].contains(&length),
                    8 => length == 10,
                    _ => length >= 2,
                };
                assert_eq!(
                    read.is_ok(),
                    known && length <= size,
                    "kind {kind}, length {length} in {size} bytes: {read:?}"
                );
            }
        }
    }
}
