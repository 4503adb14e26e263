//! Handshakes that collide, are late, are repeated, or are forged (RFC 9260, sections 5.1 and 5.2).

use eifel_base::time::{Duration, Instant};
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{self, Cause, Causes, Chunk, Header, Init, Parameter, Parameters, Writer};
use eifel_packet::seq::Seq;
use eifel_sctp::{Association, Event, Failure, Listener, ListenerAction, Phase, Ports};

use crate::talk::{PORTS, World, address, ms, parsed, settings};

pub fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Returns the addresses of a packet from one end to the other.
pub fn between(from: usize) -> Addresses {
    Addresses::new(address(from, 0), address(1 - from, 0)).unwrap()
}

fn header(from: usize, tag: u32) -> Header {
    let (source_port, destination_port) =
        if from == 0 { (PORTS.local, PORTS.remote) } else { (PORTS.remote, PORTS.local) };
    Header { source_port, destination_port, verification_tag: tag }
}

pub fn packet(from: usize, tag: u32, chunks: &[Chunk<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&header(from, tag), &mut bytes);
    chunks.iter().for_each(|chunk| writer.chunk(chunk).unwrap());
    writer.finish();
    bytes
}

pub fn chunks(bytes: &[u8]) -> Vec<Chunk<'_>> {
    sctp::parse(bytes).unwrap().1.map(Result::unwrap).collect()
}

pub fn tag(bytes: &[u8]) -> u32 {
    sctp::parse(bytes).unwrap().0.verification_tag
}

fn plain_init(parameters: &[u8]) -> Init<'_> {
    Init {
        initiate_tag: 99,
        a_rwnd: 5000,
        outbound_streams: 3,
        inbound_streams: 4,
        initial_tsn: Seq(7),
        parameters: Parameters(parameters),
    }
}

/// Returns a listener's answer to a packet.
pub fn heard(listener: &mut Listener, bytes: &[u8]) -> Option<Vec<u8>> {
    match listener.handle(Instant::ZERO, &between(0), &parsed(bytes)) {
        ListenerAction::Reply(_, answer) => Some(answer.to_bytes()),
        ListenerAction::Nothing => None,
        ListenerAction::Accepted(_) => panic!("accepted"),
    }
}

pub fn listener() -> Listener {
    Listener::new(settings(1, 1), PORTS.remote).unwrap()
}

fn cause(causes: &Causes<'_>) -> String {
    format!("{:?}", causes.iter().next().expect("a cause").expect("well formed"))
}

#[test]
fn an_init_is_retransmitted_eight_times_and_then_the_association_fails() {
    let mut world = World::new(1, |_, _| {}, Box::new(|_| vec![]));
    world.run_until(secs(1000), |world| world.caller.phase() == Phase::Closed);
    world.settle();
    assert_eq!(world.events[0], [Event::Failed(Failure::NoAnswer)]);
    let times: Vec<u64> = world.log.iter().map(|(at, ..)| at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(times, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
    assert!(world.log.windows(2).all(|pair| pair[0].3 == pair[1].3), "the same INIT");
}

/// Includes T1-cookie [rfc8540:3.8].
#[test]
fn every_packet_of_the_handshake_may_be_lost() {
    for lost in 1..=4 {
        let mut number = 0;
        let fate: crate::talk::Fate = Box::new(move |_| {
            number += 1;
            if number == lost { vec![] } else { vec![ms(10)] }
        });
        let mut world = World::new(1, |_, _| {}, fate);
        world.open();
        world.transfer(0, 10, 100);
        world.transfer(1, 10, 100);
    }
}

#[test]
fn the_number_of_streams_is_the_smaller_of_both_offers() {
    let change = |end: usize, settings: &mut eifel_sctp::Settings| {
        settings.outbound_streams = [5, 9][end];
        settings.inbound_streams = [7, 4][end];
    };
    let mut world = World::new(1, change, Box::new(|_| vec![ms(10)]));
    world.open();
    assert_eq!((world.caller.streams(), world.callee.as_ref().unwrap().streams()), (4, 7));
}

#[test]
fn simultaneous_inits_make_one_association() {
    for (first, second) in [(10, 10), (10, 13), (13, 10), (1, 30)] {
        let calling = |end: usize| {
            let ports = if end == 0 { PORTS } else { Ports { local: PORTS.remote, remote: PORTS.local } };
            let remotes = [address(1 - end, 0)];
            Association::connect(Instant::ZERO, &settings(end, 1), ports, &remotes, 0).unwrap()
        };
        let fate: crate::talk::Fate = Box::new(move |sent| vec![ms(if sent.from == 0 { first } else { second })]);
        let mut world = World::new(1, |_, _| {}, fate);
        world.caller = calling(0);
        world.callee = Some(calling(1));
        world.open();
        world.run_for(secs(10));
        world.transfer(0, 20, 1000);
        world.transfer(1, 20, 1000);
        for events in &world.events {
            let opened = events.iter().filter(|event| **event == Event::Established).count();
            assert_eq!(opened, 1, "{first} {second}: {events:?}");
        }
    }
}

#[test]
fn a_peer_that_has_begun_anew_gets_a_new_association() {
    let mut world = World::still(1);
    world.open();
    world.transfer(0, 10, 100);
    world.caller = Association::connect(world.now, &settings(0, 1), PORTS, &[address(1, 0)], 1).unwrap();
    world.received = [Vec::new(), Vec::new()];
    world.run_until(secs(10), |world| world.caller.phase() == Phase::Established);
    world.settle();
    assert_eq!(world.events[1].iter().filter(|event| **event == Event::Restarted).count(), 1);
    world.transfer(0, 10, 100);
    world.transfer(1, 10, 100);
}

#[test]
fn a_restart_with_new_addresses_is_refused() {
    let mut world = World::still(1);
    world.open();
    let mut parameters = Vec::new();
    Parameter::Ipv4([192, 0, 2, 1].into()).emit(&mut parameters);
    world.inject(0, between(0), packet(0, 0, &[Chunk::Init(plain_init(&parameters))]));
    world.run_for(ms(100));
    let answer = &world.log.last().unwrap().3;
    let all = chunks(answer);
    let [Chunk::Abort { reflected: false, causes }] = &all[..] else { panic!("{all:?}") };
    assert!(cause(causes).contains("RestartWithNewAddresses"));
    assert_eq!(tag(answer), 99);
    world.transfer(0, 10, 100);
}

#[test]
fn an_expired_cookie_causes_a_stale_cookie_error_and_a_new_init() {
    let change = |_: usize, settings: &mut eifel_sctp::Settings| settings.cookie_life = secs(2);
    let mut late = true;
    let fate: crate::talk::Fate = Box::new(move |sent| {
        let cookie = matches!(sent.chunks()[0], Chunk::CookieEcho(_));
        vec![if cookie && std::mem::take(&mut late) { secs(3) } else { ms(10) }]
    });
    let mut world = World::new(1, change, fate);
    world.open();
    world.run_for(secs(30));
    let stale = world.log.iter().filter(|(.., bytes)| match &chunks(bytes)[0] {
        Chunk::Error(causes) => causes.iter().any(|cause| matches!(cause, Ok(Cause::StaleCookie(us)) if us > 0)),
        _ => false,
    });
    // The repeated COOKIE ECHO arrived in time, so the late one met an association with its own
    // tags.
    assert!(stale.count() <= 1);
    world.transfer(0, 10, 100);
}

#[test]
fn a_forged_or_changed_cookie_is_ignored() {
    let mut listener = listener();
    let answer = heard(&mut listener, &packet(0, 0, &[Chunk::Init(plain_init(&[]))])).unwrap();
    let all = chunks(&answer);
    let [Chunk::InitAck(init)] = &all[..] else { panic!("{all:?}") };
    assert_eq!((tag(&answer), init.outbound_streams, init.inbound_streams), (99, 4, 2048));
    let cookie = init.parameters.iter().find_map(|parameter| match parameter {
        Ok(Parameter::Cookie(cookie)) => Some(cookie.to_vec()),
        _ => None,
    });
    let cookie = cookie.expect("an INIT ACK has a cookie");
    let mut changed = cookie.clone();
    changed[3] ^= 1;
    assert_eq!(heard(&mut listener, &packet(0, init.initiate_tag, &[Chunk::CookieEcho(&changed)])), None);
    assert_eq!(heard(&mut listener, &packet(0, init.initiate_tag ^ 1, &[Chunk::CookieEcho(&cookie)])), None);
    let echo = packet(0, init.initiate_tag, &[Chunk::CookieEcho(&cookie)]);
    let stale_us = |listener: &mut Listener, late: Duration| {
        let now = Instant::ZERO + secs(60) + late;
        let ListenerAction::Reply(_, stale) = listener.handle(now, &between(0), &parsed(&echo)) else {
            panic!("no answer")
        };
        let stale = stale.to_bytes();
        let [Chunk::Error(causes)] = chunks(&stale)[..] else { panic!("one ERROR chunk") };
        match causes.iter().collect::<Result<Vec<_>, _>>().expect("whole causes")[..] {
            [Cause::StaleCookie(us)] => us,
            ref others => panic!("{others:?}"),
        }
    };
    assert_eq!(stale_us(&mut listener, secs(1)), 1_000_000);
    // Lateness is rounded up to microseconds.
    assert_eq!([1, 1000, 1001].map(|nanos| stale_us(&mut listener, Duration::from_nanos(nanos))), [1, 1, 2]);
    assert!(matches!(listener.handle(Instant::ZERO, &between(0), &parsed(&echo)), ListenerAction::Accepted(_)));
}

#[test]
fn an_init_that_cannot_be_accepted_is_aborted() {
    let mut listener = listener();
    let init = plain_init(&[]);
    for wrong in
        [Init { a_rwnd: 1499, ..init }, Init { outbound_streams: 0, ..init }, Init { inbound_streams: 0, ..init }]
    {
        let answer = heard(&mut listener, &packet(0, 0, &[Chunk::Init(wrong)])).unwrap();
        let all = chunks(&answer);
        let [Chunk::Abort { reflected: false, causes }] = &all[..] else { panic!("{all:?}") };
        assert_eq!((tag(&answer), cause(causes).as_str()), (99, "InvalidMandatoryParameter"));
    }
    let name = [0, 11, 0, 8, b'h', b'o', b's', b't'];
    let answer = heard(&mut listener, &packet(0, 0, &[Chunk::Init(plain_init(&name))])).unwrap();
    let all = chunks(&answer);
    let [Chunk::Abort { causes, .. }] = &all[..] else { panic!("{all:?}") };
    assert!(cause(causes).contains("UnresolvableAddress"));
    let nobody = Init { initiate_tag: 0, ..init };
    assert_eq!(heard(&mut listener, &packet(0, 0, &[Chunk::Init(nobody)])), None);
    // An INIT must be alone in its packet, and the packet's tag must be 0.
    assert_eq!(heard(&mut listener, &packet(0, 0, &[Chunk::Init(init), Chunk::CookieAck])), None);
    assert_eq!(heard(&mut listener, &packet(0, 5, &[Chunk::Init(init)])), None);
}

#[test]
fn unknown_parameters_are_reported_as_their_high_bits_say() {
    let parameter = |kind: u16| {
        let [a, b] = kind.to_be_bytes();
        [a, b, 0, 4]
    };
    let reported = |kinds: &[u16]| {
        let bytes: Vec<u8> = kinds.iter().flat_map(|kind| parameter(*kind)).collect();
        let answer = heard(&mut listener(), &packet(0, 0, &[Chunk::Init(plain_init(&bytes))])).unwrap();
        let all = chunks(&answer);
        let [Chunk::InitAck(init)] = &all[..] else { panic!("{all:?}") };
        let report = |parameter| match parameter {
            Ok(Parameter::Unrecognized(bytes)) => Some(u16::from_be_bytes([bytes[0], bytes[1]])),
            _ => None,
        };
        init.parameters.iter().filter_map(report).collect::<Vec<_>>()
    };
    assert_eq!(reported(&[0x8ffe, 0xcffe]), [0xcffe]);
    assert_eq!(reported(&[0x3ffe, 0xcffe]), [0u16; 0]);
    assert_eq!(reported(&[0x7ffe, 0xcffe]), [0x7ffe]);
    assert_eq!(reported(&[0xcffe, 0xcffd]), [0xcffe, 0xcffd]);
}

/// RFC 9260, section 3.2.2: the report is bundled with the COOKIE ECHO.
#[test]
fn unknown_parameters_of_an_init_ack_are_reported_with_cookie_echo() {
    let mut world = World::still(1);
    world.fate(Box::new(|sent| if sent.from == 0 { vec![ms(10)] } else { vec![] }));
    world.run_for(ms(50));
    let (_, from, _, answer) = world.log[1].clone();
    let all = chunks(&answer);
    let ([Chunk::InitAck(init)], 1) = (&all[..], from) else { panic!("{all:?}") };
    let known = init.parameters.0.len().next_multiple_of(4);
    let mut parameters = init.parameters.0.to_vec();
    parameters.resize(known, 0);
    // Two parameters are reported, one with padding and one without. The one between them is not.
    parameters.extend([0xcf, 0xfe, 0, 5, 7, 0, 0, 0, 0x8f, 0xfe, 0, 4, 0xcf, 0xfd, 0, 8, 1, 2, 3, 4]);
    let changed = Init { parameters: Parameters(&parameters), ..*init };
    world.fate(Box::new(|_| vec![ms(10)]));
    world.inject(1, between(1), packet(1, tag(&answer), &[Chunk::InitAck(changed)]));
    let answered = world.log.len();
    world.run_for(ms(50));
    let (_, from, _, echo) = &world.log[answered];
    assert_eq!(*from, 0);
    let all = chunks(echo);
    let [Chunk::CookieEcho(_), Chunk::Error(causes)] = &all[..] else { panic!("{all:?}") };
    let told: Vec<_> = causes.iter().map(Result::unwrap).collect();
    let reported: &[u8] = &[0xcf, 0xfe, 0, 5, 7, 0, 0, 0, 0xcf, 0xfd, 0, 8, 1, 2, 3, 4];
    assert_eq!(told, [Cause::UnrecognizedParameters(reported)]);
}

#[test]
fn unknown_chunks_are_reported_as_their_high_bits_say() {
    let mut world = World::still(1);
    world.open();
    // The tag of packets to the caller is in the header of the INIT ACK.
    let to_caller = tag(&world.log[1].3);
    let answers = |world: &mut World, kind: u8| {
        let before = world.log.len();
        let bytes = [kind, 0, 0, 4];
        let unknown = Chunk::Unknown(sctp::Unknown { kind, bytes: &bytes });
        let info = [0, 1, 0, 8, 1, 2, 3, 4];
        let heartbeat = Chunk::Heartbeat(Parameters(&info));
        world.inject(1, between(1), packet(1, to_caller, &[unknown, heartbeat]));
        world.run_for(ms(50));
        let sent = world.log[before..].iter().filter(|(_, from, ..)| *from == 0);
        let kinds: Vec<String> =
            sent.flat_map(|(.., bytes)| chunks(bytes).iter().map(name).collect::<Vec<_>>()).collect();
        kinds
    };
    assert_eq!(answers(&mut world, 0x3e), [""; 0]);
    assert_eq!(answers(&mut world, 0x7e), ["Error"]);
    assert_eq!(answers(&mut world, 0xbd), ["HeartbeatAck"]);
    assert_eq!(answers(&mut world, 0xfe), ["Error", "HeartbeatAck"]);
}

fn name(chunk: &Chunk<'_>) -> String {
    let text = format!("{chunk:?}");
    text.split(['(', ' ']).next().unwrap_or_default().to_owned()
}

#[test]
fn simultaneous_shutdowns_close_both_ends() {
    let mut world = World::still(1);
    world.open();
    world.caller.shutdown();
    world.callee.as_mut().unwrap().shutdown();
    world.run_for(secs(10));
    assert_eq!(world.caller.phase(), Phase::Closed);
    assert_eq!(world.callee.as_ref().unwrap().phase(), Phase::Closed);
    assert_eq!(world.events[0].last(), Some(&Event::Closed));
    assert_eq!(world.events[1].last(), Some(&Event::Closed));
}

#[test]
fn every_packet_of_a_shutdown_may_be_lost() {
    for lost in 0..4 {
        let mut world = World::still(1);
        world.open();
        world.run_for(secs(1));
        let mut number = 0;
        world.fate(Box::new(move |_| {
            number += 1;
            if number == lost { vec![] } else { vec![ms(10)] }
        }));
        world.caller.shutdown();
        world.run_for(secs(1000));
        assert_eq!(world.caller.phase(), Phase::Closed, "{lost}");
        assert_eq!(world.callee.as_ref().unwrap().phase(), Phase::Closed, "{lost}");
        let ends = [world.events[0].last(), world.events[1].last()];
        assert_eq!(ends, [Some(&Event::Closed); 2], "{lost}");
    }
}

#[test]
fn an_abort_closes_both_ends_and_carries_the_reason() {
    let mut world = World::still(1);
    world.open();
    world.caller.abort(b"enough");
    world.run_for(secs(1));
    assert_eq!(world.events[0].last(), Some(&Event::Failed(Failure::AbortedHere)));
    let reason = b"enough".to_vec();
    assert_eq!(world.events[1].last(), Some(&Event::Failed(Failure::Aborted { reason })));
}
