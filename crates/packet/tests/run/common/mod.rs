//! Random headers and segments that fit a packet.

pub mod dissected;

use eifel_packet::ip::{Addresses, Ecn, Header};
use eifel_packet::options::sack_room;
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Addresses of either version.
pub fn addresses() -> impl Strategy<Value = Addresses> {
    prop_oneof![
        any::<(u32, u32)>()
            .prop_map(|(source, destination)| Addresses::V4 { source: source.into(), destination: destination.into() }),
        any::<(u128, u128)>()
            .prop_map(|(source, destination)| Addresses::V6 { source: source.into(), destination: destination.into() }),
    ]
}

/// A header of either version. The identification is 0 for IPv6, which has none.
pub fn header() -> impl Strategy<Value = Header> {
    (addresses(), any::<(u8, u8, u16)>()).prop_map(|(addresses, (traffic_class, hop_limit, identification))| {
        let identification = if matches!(addresses, Addresses::V4 { .. }) { identification } else { 0 };
        Header { addresses, traffic_class, hop_limit, identification }
    })
}

/// Random combinations of options, with as many SACK blocks as fit.
pub fn options() -> impl Strategy<Value = Options> {
    let timestamps = any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo });
    (
        option::of(any::<u16>()),
        option::of(any::<u8>()),
        any::<bool>(),
        option::of(timestamps),
        vec(any::<(u32, u32)>(), 0..=4),
    )
        .prop_map(|(mss, window_scale, sack_permitted, timestamps, blocks)| {
            let mut options =
                Options { mss, window_scale, sack_permitted, timestamps, sack: SackBlocks::EMPTY, marks: None };
            for (left, right) in blocks.into_iter().take(sack_room(&options)) {
                assert!(options.sack.push(Seq(left), Seq(right)));
            }
            options
        })
}

/// A segment with its payload. The three unnamed reserved bits are 0, because etherparse drops
/// them.
pub fn segment() -> impl Strategy<Value = (Segment, Vec<u8>)> {
    let numbers = (any::<u16>(), any::<u16>(), any::<u32>(), any::<u32>(), 0..=0x1ff_u16, any::<u16>());
    (numbers, options(), vec(any::<u8>(), 0..200)).prop_map(|(numbers, options, payload)| {
        let (source_port, destination_port, seq, ack, flags, window) = numbers;
        let segment = Segment {
            source_port,
            destination_port,
            seq: Seq(seq),
            ack: Seq(ack),
            flags: Flags(flags),
            window,
            options,
            payload_len: payload.len() as u32,
            ecn: Ecn::NotEct,
        };
        (segment, payload)
    })
}
