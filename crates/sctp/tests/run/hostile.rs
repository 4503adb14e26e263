//! Arbitrary bytes and chunks from a peer cause no panic, no unlimited memory use, and no endless
//! answers.

use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{
    self, Causes, Chunk, Data, DataFlags, ForwardTsn, Gaps, Header, Init, NrSack, Parameters, Sack, SackFlags, Unknown,
    Writer,
};
use eifel_packet::segment::Timestamps;
use eifel_packet::seq::Seq;
use eifel_sctp::{Delivery, Event, Phase, Settings};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::talk::{Dice, PORTS, World, address, ms, parsed, polled};

fn from_peer() -> Addresses {
    Addresses::new(address(1, 0), address(0, 0)).unwrap()
}

/// Returns the tag of packets to the caller, and the callee's initial TSN, as known to the peer.
fn known(world: &World) -> (u32, u32) {
    let (header, mut chunks) = sctp::parse(&world.log[1].3).unwrap();
    let Some(Ok(Chunk::InitAck(init))) = chunks.next() else { panic!("the second packet is the INIT ACK") };
    (header.verification_tag, init.initial_tsn.0)
}

fn packet(tag: u32, chunks: &[Chunk<'_>]) -> Vec<u8> {
    let header = Header { source_port: PORTS.remote, destination_port: PORTS.local, verification_tag: tag };
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&header, &mut bytes);
    for chunk in chunks {
        let _ = writer.chunk(chunk);
    }
    writer.finish();
    bytes
}

/// Returns a chunk of any kind, with numbers near the valid ones.
fn chunk<'a>(dice: &mut Dice, tsn: u32, sent: u32, raw: &'a [u8], list: &'a [[u8; 4]]) -> Chunk<'a> {
    let near = |dice: &mut Dice, around: u32| match dice.below(4) {
        0 => dice.next() as u32,
        1 => around,
        _ => around.wrapping_add(dice.below(200) as u32).wrapping_sub(20),
    };
    let init = Init {
        initiate_tag: dice.next() as u32,
        a_rwnd: dice.below(100_000) as u32,
        outbound_streams: dice.below(20) as u16,
        inbound_streams: dice.below(20) as u16,
        initial_tsn: Seq(dice.next() as u32),
        parameters: Parameters(raw),
    };
    let a_rwnd = [0, 1500, 65_536, u32::MAX][dice.below(4) as usize];
    match dice.below(24) {
        0..=8 => Chunk::Data(Data {
            flags: DataFlags(dice.next() as u8 & 0x1f),
            tsn: Seq(near(dice, tsn)),
            stream: dice.below(20) as u16,
            ssn: dice.below(5) as u16,
            ppid: [0; 4],
            payload: raw,
        }),
        9..=14 => Chunk::Sack(Sack {
            flags: SackFlags(dice.next() as u8),
            cumulative: Seq(near(dice, sent)),
            a_rwnd,
            gaps: Gaps(list),
            duplicates: list,
        }),
        15 => Chunk::NrSack(NrSack {
            flags: 0,
            cumulative: Seq(near(dice, sent)),
            a_rwnd,
            gaps: Gaps(list),
            kept: Gaps(&[]),
            duplicates: &[],
        }),
        16 => Chunk::Init(init),
        17 => Chunk::InitAck(init),
        18 => Chunk::CookieEcho(raw),
        19 => Chunk::Heartbeat(Parameters(raw)),
        20 => Chunk::HeartbeatAck(Parameters(raw)),
        21 => Chunk::Error(Causes(raw)),
        22 => Chunk::ForwardTsn(ForwardTsn { cumulative: Seq(near(dice, tsn)), streams: list }),
        _ => match dice.below(6) {
            0 => Chunk::Timestamp(Timestamps { value: 1, echo: 2 }),
            1 => Chunk::CookieAck,
            2 => Chunk::Shutdown { cumulative: Seq(near(dice, sent)) },
            3 => Chunk::ShutdownAck,
            4 => Chunk::Ecne { lowest: Seq(0) },
            _ => Chunk::Unknown(Unknown { kind: 0x40 | dice.next() as u8 >> 1, bytes: &[0x7f, 0, 0, 4] }),
        },
    }
}

#[test]
fn random_chunks_from_the_peer_cause_no_panic_and_no_endless_answers() {
    for seed in 0..3000 {
        let mut dice = Dice(seed);
        let change = |_: usize, settings: &mut Settings| settings.receive_buffer = 5000;
        let mut world = World::new(1, change, Box::new(|_| vec![ms(10)]));
        world.open();
        let (tag, tsn) = known(&world);
        let initial = sctp::parse(&world.log[0].3).unwrap().1.next().unwrap().unwrap();
        let Chunk::Init(Init { initial_tsn: Seq(sent), .. }) = initial else { panic!("the first packet is the INIT") };
        let mut sent_packets = 0;
        for number in 0..60 {
            let raw: Vec<u8> = (0..dice.below(60)).map(|_| dice.next() as u8 & 0x8f).collect();
            let list: Vec<[u8; 4]> =
                (0..dice.below(12)).map(|_| [0, dice.below(40) as u8, 0, dice.below(60) as u8]).collect();
            let chunks: Vec<_> = (0..1 + dice.below(4)).map(|_| chunk(&mut dice, tsn, sent, &raw, &list)).collect();
            let now = world.now + ms(number);
            world.caller.handle(now, &from_peer(), &parsed(packet(tag, &chunks)));
            let _ = world.caller.send(Delivery::default(), vec![7; 3000]);
            let mut burst = 0;
            while polled(&mut world.caller, now).is_some() {
                burst += 1;
                assert!(burst < 100, "seed {seed}: endless answers");
            }
            sent_packets += burst;
            if dice.once_in(3) {
                while world.caller.receive().is_some() {}
            }
            if dice.once_in(5) {
                let due = world.caller.poll_timeout();
                if due != Instant::NEVER {
                    world.caller.handle_timeout(due.max(now));
                }
            }
        }
        assert!(sent_packets < 2000, "seed {seed}");
    }
}

#[test]
fn a_forward_tsn_makes_a_readable_event_only_if_a_message_becomes_readable() {
    let mut world = World::new(1, |_, _| {}, Box::new(|_| vec![ms(10)]));
    world.open();
    let (tag, tsn) = known(&world);
    while world.caller.poll_event().is_some() {}
    let message = |number: u32| {
        let (flags, ssn) = (DataFlags::WHOLE, number as u16);
        Chunk::Data(Data { flags, tsn: Seq(tsn + number), stream: 0, ssn, ppid: [0; 4], payload: &[7; 100] })
    };
    let mut events = |chunk: Chunk<'_>| {
        world.caller.handle(world.now, &from_peer(), &parsed(packet(tag, &[chunk])));
        std::iter::from_fn(|| world.caller.poll_event()).collect::<Vec<_>>()
    };
    let given_up = |number: u32, streams| Chunk::ForwardTsn(ForwardTsn { cumulative: Seq(tsn + number), streams });
    // The peer abandons the first message, and no message waits for it.
    assert_eq!(events(given_up(0, &[[0, 0, 0, 0]])), []);
    // The third message waits for the second until the peer abandons that.
    assert_eq!(events(message(2)), []);
    assert_eq!(events(given_up(1, &[[0, 0, 0, 1]])), [Event::Readable]);
    // The application has not read it yet when the fifth message becomes readable.
    assert_eq!(events(message(4)), []);
    assert_eq!(events(given_up(3, &[[0, 0, 0, 3]])), []);
    assert_eq!(std::iter::from_fn(|| world.caller.receive()).count(), 2);
}

#[test]
fn a_storm_of_small_chunks_costs_no_more_than_the_receive_buffer() {
    let change = |_: usize, settings: &mut Settings| settings.receive_buffer = 10_000;
    let mut world = World::new(1, change, Box::new(|_| vec![ms(10)]));
    world.open();
    let (tag, tsn) = known(&world);
    // 200 000 chunks of one byte. The first one never arrives, and each stored chunk counts for 64
    // bytes.
    let mut kept = 0;
    for number in 1..200_000u32 {
        let data = Data {
            flags: DataFlags::WHOLE,
            tsn: Seq(tsn.wrapping_add(2 * number)),
            stream: 0,
            ssn: number as u16,
            ppid: [0; 4],
            payload: b"x",
        };
        world.caller.handle(world.now, &from_peer(), &parsed(packet(tag, &[Chunk::Data(data)])));
        let packets = std::iter::from_fn(|| polled(&mut world.caller, world.now));
        let bytes = packets.map(|(_, bytes)| bytes).next().unwrap();
        let Chunk::Sack(sack) = sctp::parse(&bytes).unwrap().1.next().unwrap().unwrap() else { panic!("no SACK") };
        kept = kept.max(sack.gaps.iter().len());
    }
    assert!((150..=160).contains(&kept), "{kept}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn bytes_that_mean_nothing_are_ignored(bytes in vec(any::<u8>(), 0..300), good_tag: bool) {
        let mut world = World::still(1);
        world.open();
        let (tag, _) = known(&world);
        let mut packet = packet(if good_tag { tag } else { tag ^ 1 }, &[]);
        packet.extend(&bytes);
        // With a correct checksum, so that the bytes are parsed.
        if let Err(eifel_packet::Error::Crc32c { expected, .. }) = sctp::parse(&packet) {
            packet[8..12].copy_from_slice(&expected.to_be_bytes());
        }
        world.caller.handle(world.now, &from_peer(), &parsed(&packet));
        world.settle();
        if !good_tag {
            prop_assert_eq!(world.caller.phase(), Phase::Established);
        }
    }
}
