//! The analysis of any capture ends without a panic, and refers only to existing frames.

use eifel_capture::MOST_CONNECTIONS;
use eifel_capture::analysis::shard::{Shard, join};
use eifel_capture::analysis::{Analysis, Analyzer};
use eifel_capture::frame::read::{Frame, Reader};
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Ecn, Header};
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use proptest::prelude::*;

const LINKTYPE_ETHERNET: u32 = 1;
const LINKTYPE_RAW: u32 = 101;

/// A segment of one of two ends, with numbers near those that a connection would use.
#[derive(Clone, Debug)]
struct Step {
    from_server: bool,
    flags: u16,
    seq: i32,
    ack: i32,
    payload: u16,
    window: u16,
    stamps: Option<(u8, u8)>,
    sacks: Vec<(i16, i16)>,
    later_us: i32,
}

fn step() -> impl Strategy<Value = Step> {
    let flags = prop_oneof![8 => Just(0x10_u16), 1 => Just(0x02), 1 => Just(0x12), 1 => Just(0x11), 1 => Just(0x04), 1 => 0u16..64];
    let near = prop_oneof![8 => 0i32..20, 1 => -20i32..0, 1 => any::<i32>()];
    (
        (any::<bool>(), flags, near.clone(), near),
        (prop_oneof![Just(0u16), Just(100), 0u16..300], any::<u16>(), proptest::option::of((0u8..9, 0u8..9))),
        (proptest::collection::vec((-5i16..20, -5i16..20), 0..4), prop_oneof![8 => 0i32..300_000, 1 => any::<i32>()]),
    )
        .prop_map(|((from_server, flags, seq, ack), (payload, window, stamps), (sacks, later_us))| Step {
            from_server,
            flags,
            seq: seq.wrapping_mul(100),
            ack: ack.wrapping_mul(100),
            payload,
            window,
            stamps,
            sacks,
            later_us,
        })
}

fn bytes(step: &Step) -> Vec<u8> {
    let number = |offset: i32| Seq(4_294_966_000_u32.wrapping_add(offset as u32));
    let mut sack = SackBlocks::EMPTY;
    for (left, right) in step.sacks.iter().take(3) {
        sack.push(number(i32::from(*left) * 100), number(i32::from(*right) * 100));
    }
    let timestamps = step.stamps.map(|(value, echo)| Timestamps { value: u32::from(value), echo: u32::from(echo) });
    let (source_port, destination_port) = if step.from_server { (80, 1000) } else { (1000, 80) };
    let segment = Segment {
        source_port,
        destination_port,
        seq: number(step.seq),
        ack: number(step.ack),
        flags: Flags(step.flags),
        window: step.window,
        options: Options { timestamps, sack, ..Options::default() },
        payload_len: u32::from(step.payload),
        ecn: Ecn::NotEct,
    };
    let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
    let addresses = if step.from_server { addresses.reversed() } else { addresses };
    let mut bytes = Vec::new();
    datagram::emit(&Header::new(addresses), &segment, &[], &mut bytes).expect("it fits a packet");
    bytes
}

fn check(analysis: &Analysis) {
    let frames = 1..=analysis.frames;
    for one in &analysis.retransmissions {
        assert!(frames.contains(&one.frame) && one.copy >= 2, "{one:?}");
        assert!(one.evidence_frame.is_none_or(|frame| frames.contains(&frame)), "{one:?}");
        assert!(one.first_told.iter().all(|told| frames.contains(&told.frame)), "{one:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_conversation_is_analysed(steps in proptest::collection::vec(step(), 1..120)) {
        let mut analyzer = Analyzer::default();
        let mut nanos = 1_000_000_000_000_i64;
        for (index, step) in steps.iter().enumerate() {
            nanos = (nanos + i64::from(step.later_us) * 1000).max(0);
            let bytes = bytes(step);
            let wire_len = bytes.len() as u32 + u32::from(step.payload);
            let number = index as u64 + 1;
            analyzer.frame(&Frame { number, nanos: nanos as u64, link: LINKTYPE_RAW, interface: 0, wire_len, bytes: &bytes });
        }
        let analysis = analyzer.finish();
        prop_assert_eq!(analysis.frames, steps.len() as u64);
        check(&analysis);
    }

    #[test]
    fn the_full_path_has_the_effects_of_the_fast_path(
        steps in proptest::collection::vec((step(), 0u8..8, 0i32..4), 1..150),
        stamped: bool,
    ) {
        // Only segments outside of VLANs can take the fast path. Most segments here qualify for it:
        // data that follow directly, and ACKs of everything.
        let (mut straight, mut long) = (Analyzer::default(), Analyzer::default());
        let (mut nanos, mut next, mut heard) = (1_000_000_000_000_i64, [0, 0], [0, 0]);
        for (index, (step, kind, behind)) in steps.into_iter().enumerate() {
            nanos = (nanos + i64::from(step.later_us) * 1000).max(0);
            let (mine, other) = (usize::from(step.from_server), usize::from(!step.from_server));
            let payload = step.payload.min(1) * 100;
            let usual = Step { flags: 0x10, payload, window: 500, sacks: Vec::new(), ..step.clone() };
            let now = (nanos / 4_000_000) as u8;
            let stamps = stamped.then_some((now, heard[other]));
            let step = match kind {
                0 => step,
                1 => Step { seq: next[mine], ack: next[other] - behind * 100, stamps, ..step },
                2 => Step { seq: next[mine] - behind * 100, ack: next[other], stamps, ..usual },
                3 => Step { seq: next[mine], ack: next[other] - behind * 100, stamps, ..usual },
                _ => Step { seq: next[mine], ack: next[other], stamps, ..usual },
            };
            next[mine] = next[mine].max(step.seq.saturating_add(i32::from(step.payload))).min(1 << 20);
            heard[mine] = now;
            let mut bytes = bytes(&step);
            bytes[4..6].copy_from_slice(&(index as u16 / 2).to_be_bytes());
            let tagged = [&[0; 12], &[0x81, 0, 0, 0, 8, 0][..], &bytes].concat();
            for (analyzer, link, bytes) in [(&mut straight, LINKTYPE_RAW, &bytes), (&mut long, LINKTYPE_ETHERNET, &tagged)] {
                let (number, wire_len) = (index as u64 + 1, bytes.len() as u32 + u32::from(step.payload));
                analyzer.frame(&Frame { number, nanos: nanos as u64, link, interface: 0, wire_len, bytes });
            }
        }
        prop_assert_eq!(straight.finish(), long.finish());
    }

    #[test]
    fn the_joined_shards_equal_an_undivided_analysis(
        steps in proptest::collection::vec((step(), 0u16..6), 1..60),
        shards in 1u32..5,
    ) {
        let mut analyzers: Vec<_> = [Shard::WHOLE].into_iter().chain(Shard::all(shards)).map(Analyzer::of).collect();
        let mut nanos = 1_000_000_000_000_i64;
        for (index, (step, flow)) in steps.iter().enumerate() {
            nanos = (nanos + i64::from(step.later_us) * 1000).max(0);
            let mut bytes = bytes(step);
            let port = 20 + if step.from_server { 2 } else { 0 };
            bytes[port] ^= *flow as u8;
            let wire_len = bytes.len() as u32 + u32::from(step.payload);
            let number = index as u64 + 1;
            // One in ten frames belongs to no connection.
            let bytes = if index % 10 == 9 { &bytes[..10] } else { &bytes };
            let frame = Frame { number, nanos: nanos as u64, link: LINKTYPE_RAW, interface: 0, wire_len, bytes };
            analyzers.iter_mut().for_each(|analyzer| analyzer.frame(&frame));
        }
        let mut parts: Vec<_> = analyzers.into_iter().map(Analyzer::finish_shard).collect();
        let whole = join(vec![parts.remove(0)]);
        prop_assert_eq!(join(parts), whole);
    }

    #[test]
    fn any_bytes_are_read_or_refused(magic in 0usize..6, rest in proptest::collection::vec(any::<u8>(), 0..400), piece in 1usize..64) {
        let magics: [&[u8]; 6] = [
            &[],
            &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 101, 0, 0, 0],
            &[0xa1, 0xb2, 0x3c, 0x4d, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1],
            &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 28, 0, 0, 0],
            b"snoop\0\0\0\0\0\0\x02\0\0\0\x04",
            &[0x34, 0xcd, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 113, 0, 0, 0],
        ];
        let file = [magics[magic], &rest].concat();
        let read = |piece: usize| {
            let (mut reader, mut analyzer) = (Reader::new(), Analyzer::default());
            for bytes in file.chunks(piece) {
                reader.feed(bytes);
                loop {
                    match reader.frame() {
                        Ok(Some(frame)) => analyzer.frame(&frame),
                        Ok(None) => break,
                        Err(error) => return (analyzer.finish(), Err(error)),
                    }
                }
            }
            (analyzer.finish(), reader.finish())
        };
        let each = |piece: usize| {
            let (mut reader, mut analyzer) = (Reader::new(), Analyzer::default());
            for bytes in file.chunks(piece) {
                reader.feed(bytes);
                if let Err(error) = reader.each(&mut analyzer) {
                    return (analyzer.finish(), Err(error));
                }
            }
            (analyzer.finish(), reader.finish())
        };
        let (whole, pieces) = (read(file.len().max(1)), read(piece));
        check(&whole.0);
        prop_assert_eq!(&whole, &pieces);
        prop_assert_eq!(&whole, &each(file.len().max(1)));
        prop_assert_eq!(&whole, &each(piece));
    }
}

/// A million hosts each send a SYN and nothing else.
#[test]
fn a_flood_of_half_open_connections_needs_bounded_memory() {
    const FLOWS: u32 = 1_000_000;
    let mut analyzer = Analyzer::default();
    let syn = Segment { source_port: 1000, destination_port: 80, flags: Flags::SYN, ..Segment::EMPTY };
    for number in 0..FLOWS {
        let source = std::net::Ipv4Addr::from(0x0b00_0000 + number);
        let header = Header::new(Addresses::V4 { source, destination: [10, 0, 0, 2].into() });
        let mut bytes = Vec::new();
        datagram::emit(&header, &syn, &[], &mut bytes).expect("it fits a packet");
        let nanos = 1_000_000_000_000 + u64::from(number) * 1000;
        let (wire_len, number) = (bytes.len() as u32, u64::from(number) + 1);
        analyzer.frame(&Frame { number, nanos, link: LINKTYPE_RAW, interface: 0, wire_len, bytes: &bytes });
        // Evicted connections are only counted.
        if number % 50_000 == 0 {
            assert!(analyzer.totals().connections <= MOST_CONNECTIONS as u64);
        }
    }
    let analysis = analyzer.finish();
    assert_eq!(analysis.evicted, u64::from(FLOWS) - MOST_CONNECTIONS as u64);
    assert_eq!((analysis.without_data, analysis.connections.len()), (u64::from(FLOWS), 0));
}

/// If a capture has many connections, the reader announces packets, and the state of their
/// connections is loaded before they arrive. Frames passed one by one are not announced.
#[test]
fn preloading_does_not_change_the_analysis() {
    const CONNECTIONS: usize = 2500;
    let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 101, 0, 0, 0];
    let (mut next, mut heard) = (vec![0_i32; CONNECTIONS], vec![0_i32; CONNECTIONS]);
    // Each round visits all connections in a different order, because neither 7 nor 11 divides
    // their number.
    for turn in 0..12 * CONNECTIONS {
        let (round, flow) = (turn / CONNECTIONS, turn * [7, 11][turn / CONNECTIONS % 2] % CONNECTIONS);
        let lost = (turn * turn) % 97 == 5;
        let seq = next[flow] - if (turn * turn) % 89 == 4 { 2 } else { 0 };
        next[flow] = next[flow].max(seq + 2);
        heard[flow] = if lost { heard[flow] } else { next[flow] };
        let usual = Step {
            from_server: true,
            flags: 0x10,
            seq,
            ack: 0,
            payload: 100,
            window: 500,
            stamps: Some((round as u8, round as u8)),
            sacks: Vec::new(),
            later_us: 0,
        };
        let second = Step { seq: seq + 1, ..usual.clone() };
        let ack = Step { from_server: false, seq: 0, ack: heard[flow], payload: 0, ..usual.clone() };
        for (index, step) in [usual, second, ack].into_iter().enumerate() {
            // The numbers of a step count hundreds of bytes.
            let mut bytes = bytes(&Step { seq: step.seq * 100, ack: step.ack * 100, ..step.clone() });
            let port = 1000 + flow as u16;
            bytes[if step.from_server { 22..24 } else { 20..22 }].copy_from_slice(&port.to_be_bytes());
            let micros = 300_000 * round as u32 + (turn % CONNECTIONS) as u32 * 100 + 30 * index as u32;
            let (captured, wire) = (bytes.len() as u32, bytes.len() as u32 + u32::from(step.payload));
            for number in [micros / 1_000_000, micros % 1_000_000, captured, wire] {
                file.extend(number.to_le_bytes());
            }
            file.extend(bytes);
        }
    }
    let analysed = |announced: bool| {
        let (mut reader, mut analyzer) = (Reader::new(), Analyzer::default());
        for piece in file.chunks(1 << 16) {
            reader.feed(piece);
            if announced {
                reader.each(&mut analyzer).unwrap();
            } else {
                while let Some(frame) = reader.frame().unwrap() {
                    analyzer.frame(&frame);
                }
            }
        }
        analyzer.finish()
    };
    let found = analysed(true);
    assert_eq!(found.connections.len(), CONNECTIONS);
    assert!(found.retransmissions.len() > 300, "{}", found.retransmissions.len());
    assert_eq!(found, analysed(false));
}
