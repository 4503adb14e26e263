//! Lengths and numbers at the limits of the implementation.

use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{Causes, Chunk, Data, DataFlags, Init, Parameter, Parameters, Sack, Unknown};
use eifel_packet::seq::Seq;
use eifel_sctp::{Listener, ListenerAction, Phase, Settings, TimestampChunk, out_of_the_blue};

use crate::opening::{between, chunks, heard, packet, secs, tag};
use crate::talk::{PORTS, World, ms, parsed, settings};

/// Bytes of chunks in a packet of 300 bytes, without 20 of IP and 12 of SCTP.
const PMDCS: usize = 268;

fn init(parameters: &[u8]) -> Init<'_> {
    Init {
        initiate_tag: 99,
        a_rwnd: 5000,
        outbound_streams: 3,
        inbound_streams: 4,
        initial_tsn: Seq(7),
        parameters: Parameters(parameters),
    }
}

fn small(stamped: bool) -> World {
    let change = move |_: usize, settings: &mut Settings| {
        settings.pmtu = 300;
        settings.timestamp_chunk = if stamped { TimestampChunk::Agreed } else { TimestampChunk::Off };
    };
    let mut world = World::new(1, change, Box::new(|_| vec![ms(10)]));
    world.open();
    world.run_for(secs(1));
    world
}

/// Section 8.5.1, rule B: while the peer's tag is unknown, no ABORT can have it.
#[test]
fn an_abort_with_the_t_bit_and_tag_0_is_ignored_during_the_handshake() {
    let mut world = World::still(1);
    world.settle();
    let abort = Chunk::Abort { reflected: true, causes: Causes(&[]) };
    world.caller.handle(world.now, &between(1), &parsed(packet(1, 0, &[abort])));
    assert_eq!(world.caller.phase(), Phase::CookieWait);
    world.open();
}

/// Of 90 gaps, a SACK lists as many as fit, lowest first.
#[test]
fn a_sack_with_more_gaps_than_fit_fills_its_packet() {
    for (stamped, before) in [(false, 0), (true, Chunk::TIMESTAMP_LEN)] {
        let mut world = small(stamped);
        let own = tag(&world.log[1].3);
        let initial = world.callee.as_ref().unwrap().initial_tsn().0;
        let flags = DataFlags::WHOLE.with(DataFlags::UNORDERED);
        let data = |number: u32| Data {
            flags,
            tsn: Seq(initial.wrapping_add(2 * number + 1)),
            stream: 0,
            ssn: 0,
            ppid: [0; 4],
            payload: &[1],
        };
        let all: Vec<_> = (0..90).map(|number| Chunk::Data(data(number))).collect();
        world.caller.handle(world.now, &between(1), &parsed(packet(1, own, &all)));
        world.settle();
        let sent = &world.log.last().unwrap().3;
        let Some(Chunk::Sack(sack)) = chunks(sent).pop() else { panic!("a gap is reported at once") };
        let gaps: Vec<_> = sack.gaps.iter().map(|gap| (gap.start, gap.end)).collect();
        let fit = (PMDCS - before - Sack::MIN_LEN) / 4;
        assert_eq!(gaps, (1..=fit as u16).map(|gap| (2 * gap, 2 * gap)).collect::<Vec<_>>());
        assert_eq!(sent.len(), 12 + PMDCS);
    }
}

/// A report that exactly fits the packet is sent. A report that is four bytes longer is not.
#[test]
fn an_unknown_chunk_is_reported_if_the_report_fits_a_packet() {
    for (len, answers) in [(PMDCS - 8, 1), (PMDCS - 4, 0)] {
        let mut world = small(false);
        let own = tag(&world.log[1].3);
        let mut bytes = vec![0; len];
        bytes[..4].copy_from_slice(&[0xff, 0, (len >> 8) as u8, len as u8]);
        let unknown = Chunk::Unknown(Unknown { kind: 0xff, bytes: &bytes });
        let before = world.log.len();
        world.caller.handle(world.now, &between(1), &parsed(packet(1, own, &[unknown])));
        world.settle();
        assert_eq!(world.log.len() - before, answers, "{len}");
        assert!(world.log[before..].iter().all(|sent| sent.3.len() == 12 + PMDCS));
    }
}

/// Section 6.10: answers share a packet as long as they fit, padding included. An answer that fits
/// no packet is sent alone.
#[test]
fn control_chunks_are_bundled_up_to_the_last_byte() {
    let cases: [(&[usize], &[usize]); 5] = [
        (&[100, 168], &[280]),
        (&[104, 163], &[280]),
        (&[100, 165], &[280]),
        (&[100, 169], &[112, 184]),
        (&[400, 4, 264], &[412, 280]),
    ];
    for (lens, packets) in cases {
        let mut world = small(false);
        let own = tag(&world.log[1].3);
        let before = world.log.len();
        for len in lens {
            let info = vec![0; len - 4];
            let heartbeat = Chunk::Heartbeat(Parameters(&info));
            world.caller.handle(world.now, &between(1), &parsed(packet(1, own, &[heartbeat])));
        }
        world.settle();
        let sent: Vec<_> = world.log[before..].iter().map(|sent| sent.3.len()).collect();
        assert_eq!(sent, packets, "{lens:?}");
    }
}

/// Section 5.2.6: a peer may ask for a longer cookie lifetime, by at most a second.
#[test]
fn a_cookie_lives_longer_where_the_peer_asks_for_it() {
    for (asked, lives) in [(0, 1000), (500, 1500), (5000, 2000)] {
        for (after, accepted) in [(lives, true), (lives + 1, false)] {
            let settings = Settings { cookie_life: ms(1000), ..settings(1, 1) };
            let mut listener = Listener::new(settings, PORTS.remote).unwrap();
            let mut parameters = Vec::new();
            Parameter::CookiePreservative(asked).emit(&mut parameters);
            let answer = heard(&mut listener, &packet(0, 0, &[Chunk::Init(init(&parameters))])).unwrap();
            let Some(Chunk::InitAck(offer)) = chunks(&answer).pop() else { panic!("an INIT is answered") };
            let cookie = offer.parameters.iter().find_map(|parameter| match parameter {
                Ok(Parameter::Cookie(cookie)) => Some(cookie),
                _ => None,
            });
            let echo = packet(0, offer.initiate_tag, &[Chunk::CookieEcho(cookie.unwrap())]);
            let heard = listener.handle(Instant::ZERO + ms(after), &between(0), &parsed(&echo));
            assert_eq!(matches!(heard, ListenerAction::Accepted(_)), accepted, "{asked} {after}");
        }
    }
}

/// Section 5.1, step C: a report about parameters is bundled with the cookie if the packet has
/// room, to the last byte.
#[test]
fn a_report_is_bundled_with_cookie_echo_if_it_fits() {
    let mut full = 0;
    for len in 4..200 {
        let mut world = World::new(1, |_, settings| settings.pmtu = 300, Box::new(|_| Vec::new()));
        world.settle();
        let own = match chunks(&world.log[0].3)[..] {
            [Chunk::Init(offered)] => offered.initiate_tag,
            _ => panic!("a call begins with an INIT"),
        };
        let mut parameters = Vec::new();
        Parameter::Cookie(&[7; 100]).emit(&mut parameters);
        let unknown = [&[0xff, 0xfe, 0, len as u8][..], &vec![1; len - 4]].concat();
        parameters.extend_from_slice(&unknown);
        parameters.resize(parameters.len().next_multiple_of(4), 0);
        let answer = packet(1, own, &[Chunk::InitAck(init(&parameters))]);
        world.caller.handle(world.now, &between(1), &parsed(&answer));
        world.settle();
        let sent = &world.log[1].3;
        // The cookie chunk, and the report with its chunk and cause headers.
        let needed = 104 + (8 + len).next_multiple_of(4);
        let there = chunks(sent).len();
        assert_eq!(there, if needed <= PMDCS { 2 } else { 1 }, "{len}");
        full += usize::from(sent.len() == 12 + PMDCS);
    }
    assert_eq!(full, 4, "one length for each number of padding bytes");
}

/// Section 8.4, rule 1.
#[test]
fn packets_from_or_to_addresses_that_are_not_unicast_get_no_answer() {
    for (address, answered) in [
        ("10.0.0.9", true),
        ("255.255.255.255", false),
        ("224.0.0.1", false),
        ("0.0.0.0", false),
        ("2001:db8::9", true),
        ("ff02::1", false),
        ("::", false),
    ] {
        let other: std::net::IpAddr = address.parse().unwrap();
        let own = if other.is_ipv4() { "10.0.0.1" } else { "2001:db8::1" }.parse().unwrap();
        for (source, destination) in [(other, own), (own, other)] {
            let addresses = Addresses::new(source, destination).unwrap();
            let answer = out_of_the_blue(&addresses, &parsed(packet(0, 7, &[Chunk::ShutdownAck])));
            assert_eq!(answer.is_some(), answered, "{source} to {destination}");
        }
    }
}
