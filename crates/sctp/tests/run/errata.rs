//! RFC 8540's errata to RFC 4960, as included in RFC 9260, that have no other test. The ids in
//! brackets are those of `docs/reference/requirements.md`, which describes them.

use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{Causes, Chunk, Data, DataFlags, Init, Parameter, Parameters, Sack, SackFlags};
use eifel_packet::seq::Seq;
use eifel_recovery::association::PathId;
use eifel_sctp::{Delivery, Event, Failure, IcmpError, Phase};

use crate::opening::{between, chunks, packet, secs};
use crate::talk::{Fate, World, address, ms, parsed, polled};

fn opened(paths: usize) -> World {
    let mut world = World::still(paths);
    world.open();
    world.run_for(secs(1));
    world
}

fn init(world: &World) -> Init<'_> {
    let all = chunks(&world.log[0].3);
    let [Chunk::Init(init)] = all[..] else { panic!("the first packet is an INIT") };
    init
}

/// Sends chunks to the caller in the callee's name.
fn tell(world: &mut World, sent: &[Chunk<'_>]) {
    let tag = init(world).initiate_tag;
    let now = world.now;
    world.caller.handle(now, &between(1), &parsed(packet(1, tag, sent)));
}

fn is_heartbeat(bytes: &[u8]) -> bool {
    chunks(bytes).iter().any(|chunk| matches!(chunk, Chunk::Heartbeat(_)))
}

/// Returns the callee's first TSN.
fn callees_tsn(world: &World) -> u32 {
    let all = chunks(&world.log[1].3);
    let [Chunk::InitAck(init), ..] = all[..] else { panic!("the second packet is the INIT ACK") };
    init.initial_tsn.0
}

fn message(tsn: u32) -> Chunk<'static> {
    let flags = DataFlags::WHOLE.with(DataFlags::UNORDERED);
    Chunk::Data(Data { flags, tsn: Seq(tsn), stream: 0, ssn: 0, ppid: [0; 4], payload: b"told" })
}

/// [rfc8540:3.2]
#[test]
fn shutdown_is_ignored_in_shutdown_received() {
    let mut world = opened(1);
    for _ in 0..200 {
        world.callee.as_mut().unwrap().send(Delivery::default(), [1; 1000]).unwrap();
    }
    world.caller.shutdown();
    let received = |world: &mut World| world.callee.as_ref().unwrap().phase() == Phase::ShutdownReceived;
    world.run_until(secs(10), received);
    world.callee.as_mut().unwrap().shutdown();
    assert!(received(&mut world));
    // Only SHUTDOWN acknowledges the remaining data.
    world.run_until(secs(10), |world| world.caller.phase() == Phase::Closed);
    world.run_for(secs(1));
    assert_eq!(world.callee.as_ref().unwrap().phase(), Phase::Closed);
    let asked = |from: usize| {
        let all = world.log.iter().filter(move |(_, end, ..)| *end == from);
        all.filter(|(.., bytes)| chunks(bytes).iter().any(|chunk| matches!(chunk, Chunk::Shutdown { .. }))).count()
    };
    assert_eq!(asked(1), 0);
    assert!(asked(0) > 1);
    assert_eq!(world.received[0].len(), 200);
}

/// [rfc8540:3.6]
#[test]
fn heartbeat_failures_on_a_path_without_data_do_not_end_the_association() {
    for (path, lives) in [(1, true), (0, false)] {
        let mut world = opened(2);
        // Only HEARTBEATs are sent. The caller's HEARTBEATs to one address, or to both, are lost.
        world.fate(Box::new(move |sent| {
            let lost = sent.from == 0 && is_heartbeat(sent.bytes) && (sent.path == path || !lives);
            if lost { vec![] } else { vec![ms(10)] }
        }));
        world.run_for(secs(20_000));
        assert!(world.events[0].contains(&Event::Inactive(address(1, path))));
        let failed = world.events[0].contains(&Event::Failed(Failure::Unreachable));
        assert_eq!((world.caller.phase() == Phase::Established, failed), (lives, !lives));
    }
}

/// [rfc8540:3.13]
#[test]
fn an_answered_heartbeat_resets_the_association_error_counter() {
    let mut world = World::new(
        1,
        |_, settings| (settings.association_max_retransmits, settings.path_max_retransmits) = (3, 100),
        Box::new(|_| vec![ms(10)]),
    );
    world.open();
    let mut asked = 0;
    world.fate(Box::new(move |sent| {
        let heartbeat = sent.from == 0 && is_heartbeat(sent.bytes);
        asked += u32::from(heartbeat);
        if heartbeat && asked % 4 != 0 { vec![] } else { vec![ms(10)] }
    }));
    world.run_for(secs(3000));
    assert_eq!(world.caller.phase(), Phase::Established);
    world.fate(Box::new(|_| vec![]));
    world.run_for(secs(3000));
    assert_eq!(world.caller.phase(), Phase::Closed, "a fourth error in a row is one too many");
}

/// [rfc8540:3.17]
#[test]
fn setting_the_primary_address_does_not_confirm_it() {
    let fate: Fate = Box::new(|sent| if sent.path == 1 { vec![] } else { vec![ms(10)] });
    let mut world = World::new(2, |_, _| {}, fate);
    world.open();
    assert!(world.caller.set_primary(address(1, 1)));
    let before = world.log.len();
    world.transfer(0, 20, 1000);
    assert!(world.log[before..].iter().all(|(_, _, path, bytes)| *path == 0 || is_heartbeat(bytes)));
}

/// [rfc8540:3.19]
#[test]
fn an_init_that_crosses_our_init_is_answered_at_the_address_that_we_called() {
    let stranger = [192, 0, 2, 9].into();
    let mut listed = Vec::new();
    Parameter::Ipv4([10, 0, 0, 2].into()).emit(&mut listed);
    for (source, parameters, answers) in [
        (address(1, 0), &[][..], true),
        (stranger, &listed[..], true),
        // Neither the source nor a listed address was called.
        (stranger, &[], false),
    ] {
        let mut world = World::still(1);
        world.settle();
        let call = Init { initiate_tag: 77, parameters: Parameters(parameters), ..init(&world) };
        let addresses = Addresses::new(source, address(0, 0)).unwrap();
        let bytes = packet(1, 0, &[Chunk::Init(call)]);
        let now = world.now;
        world.caller.handle(now, &addresses, &parsed(&bytes));
        let answer = polled(&mut world.caller, now);
        let destination = answer.as_ref().map(|(addresses, _)| addresses.destination());
        assert_eq!(destination, answers.then_some(address(1, 0)));
        assert!(answer.is_none_or(|(_, answer)| matches!(chunks(&answer)[..], [Chunk::InitAck(_)])));
        assert_eq!(world.caller.phase(), Phase::CookieWait);
    }
}

/// [rfc8540:3.23]
#[test]
fn a_shutdown_that_is_never_answered_is_reported_at_both_ends() {
    let mut world = World::new(1, |_, settings| settings.heartbeat_interval = None, Box::new(|_| vec![ms(10)]));
    world.open();
    world.run_for(secs(1));
    // SHUTDOWN ACK is sent, but neither it nor any later packet arrives.
    world.fate(Box::new(|sent| {
        let shutdown = chunks(sent.bytes).iter().any(|chunk| matches!(chunk, Chunk::Shutdown { .. }));
        if shutdown { vec![ms(10)] } else { vec![] }
    }));
    world.caller.shutdown();
    world.run_for(secs(3000));
    for end in 0..2 {
        assert_eq!(world.events[end].last(), Some(&Event::Failed(Failure::Unreachable)), "end {end}");
    }
}

/// [rfc8540:3.24]
#[test]
fn a_sack_is_delayed_by_at_most_500_ms() {
    for tuned in [false, true] {
        let change = move |_: usize, settings: &mut eifel_sctp::Settings| {
            settings.sack_delay = if tuned { ms(1) } else { secs(10) };
            settings.sack_every = 1000;
        };
        let mut world = World::new(1, change, Box::new(|_| vec![ms(10)]));
        world.open();
        world.transfer(0, 1, 100);
        world.run_for(secs(5));
        if tuned {
            world.callee.as_mut().unwrap().set_delayed_sacks(secs(10), 1000);
        }
        let before = world.now;
        world.transfer(0, 1, 100);
        world.run_until(secs(20), |world| world.caller.engine().una() == world.caller.engine().nxt());
        assert_eq!(world.now.since(before), ms(520), "tuned: {tuned}");
    }
}

/// [rfc8540:3.25]
#[test]
fn chunks_are_processed_in_order_until_one_stops_the_packet() {
    let mut world = opened(1);
    let tsn = callees_tsn(&world);
    let call = init(&world);
    let copy = Init { parameters: Parameters(&[]), ..call };
    tell(&mut world, &[message(tsn), Chunk::Init(copy), message(tsn.wrapping_add(1))]);
    world.settle();
    assert_eq!((world.received[0].len(), world.caller.phase()), (1, Phase::Established));
    // An unknown chunk with such a type also ends the packet. Earlier chunks have been processed.
    let unknown = eifel_packet::sctp::Unknown { kind: 0x3e, bytes: &[0x3e, 0, 0, 4] };
    tell(&mut world, &[message(tsn.wrapping_add(1)), Chunk::Unknown(unknown), message(tsn.wrapping_add(2))]);
    world.settle();
    assert_eq!(world.received[0].len(), 2);
}

/// [rfc8540:3.28]
#[test]
fn a_window_update_is_sent_for_each_quarter_of_the_buffer() {
    let mut world = World::new(1, |_, settings| settings.receive_buffer = 16_000, Box::new(|_| vec![ms(10)]));
    world.open();
    world.reading[1] = false;
    for _ in 0..16 {
        world.caller.send(Delivery::default(), [1; 1000]).unwrap();
    }
    world.run_for(ms(900));
    assert_eq!(world.caller.peer_window(), 0);
    let mut told = Vec::new();
    for _ in 0..16 {
        world.callee.as_mut().unwrap().receive().unwrap();
        world.run_for(ms(50));
        told.push(world.caller.peer_window());
    }
    told.dedup();
    assert_eq!(told, [0, 4000, 8000, 12_000, 16_000]);
}

/// [rfc8540:3.29]
#[test]
fn replies_take_the_path_of_control_chunks_and_sacks_the_path_of_data() {
    let mut world = opened(2);
    assert!(world.callee.as_mut().unwrap().set_primary(address(0, 1)));
    let before = world.log.len();
    world.transfer(1, 20, 1000);
    world.run_for(secs(100));
    let mut asked = [0; 2];
    for (index, (_, from, path, bytes)) in world.log.iter().enumerate() {
        for chunk in chunks(bytes) {
            match chunk {
                // Data uses the second path, and so do its SACKs.
                Chunk::Data(_) | Chunk::Sack(_) => assert!(index >= before && *path == 1, "from {from}"),
                Chunk::Heartbeat(_) => asked[*path] += 1,
                Chunk::HeartbeatAck(_) => asked[*path] -= 1,
                _ => {}
            }
        }
    }
    assert_eq!(asked, [0, 0], "each path has as many answers as questions");
}

/// [rfc8540:3.31]
#[test]
fn the_limit_of_a_burst_leaves_cwnd_as_it_is() {
    let mut world = opened(1);
    // Packets arrive one by one, so that each SACK allows some more.
    let mut free = world.now;
    world.fate(Box::new(move |sent| {
        free = free.max(sent.now) + ms(1);
        vec![free.since(sent.now) + ms(10)]
    }));
    world.transfer(0, 200, 1400);
    let cwnd = world.caller.engine().window(PathId(0)).cwnd;
    assert!(cwnd > 10 * 1468, "{cwnd}");
    let before = world.log.len();
    for _ in 0..20 {
        world.caller.send(Delivery::default(), [1; 1400]).unwrap();
    }
    world.settle();
    assert_eq!(world.log.len() - before, 4, "Max.Burst");
    assert_eq!(world.caller.engine().window(PathId(0)).cwnd, cwnd);
}

/// [rfc8540:3.33]
#[test]
fn an_error_chunk_before_a_sack_is_accepted() {
    let mut world = opened(1);
    world.fate(Box::new(|_| vec![]));
    world.caller.send(Delivery::default(), [1; 100]).unwrap();
    world.settle();
    let cumulative = init(&world).initial_tsn;
    let sack = Sack {
        flags: SackFlags::default(),
        cumulative,
        a_rwnd: 65_536,
        gaps: eifel_packet::sctp::Gaps(&[]),
        duplicates: &[],
    };
    tell(&mut world, &[Chunk::Error(Causes(&[0, 1, 0, 8, 0, 9, 0, 0])), Chunk::Sack(sack)]);
    world.settle();
    assert!(matches!(world.events[0].last(), Some(Event::RemoteError(_))));
    assert_eq!(world.caller.engine().una(), 1);
}

/// [rfc8540:3.36]
#[test]
fn a_port_that_is_unreachable_is_no_error() {
    let v4 = |code| IcmpError::v4(3, code, 1000);
    assert_eq!(
        [2, 3, 4, 1].map(v4),
        [Some(IcmpError::NoSctp), None, Some(IcmpError::TooBig { mtu: 1000 }), Some(IcmpError::Unreachable)]
    );
    assert_eq!([IcmpError::v4(11, 0, 0), IcmpError::v4(4, 0, 0), IcmpError::v4(12, 2, 0)], [None; 3]);
    let v6 = |(kind, code)| IcmpError::v6(kind, code, 1400);
    assert_eq!(
        [(1, 3), (1, 4), (2, 0), (4, 1), (4, 0), (3, 0)].map(v6),
        [
            Some(IcmpError::Unreachable),
            None,
            Some(IcmpError::TooBig { mtu: 1400 }),
            Some(IcmpError::NoSctp),
            None,
            None
        ]
    );
}

/// [rfc8540:3.41]
#[test]
fn an_init_ack_with_a_host_name_is_aborted() {
    let mut world = World::still(1);
    world.settle();
    let parameters = [&[0, 11, 0, 8, b'h', b'o', b's', b't'][..], &[0, 7, 0, 8, 1, 2, 3, 4]].concat();
    let answer = Init { initiate_tag: 77, parameters: Parameters(&parameters), ..init(&world) };
    let bytes = packet(1, init(&world).initiate_tag, &[Chunk::InitAck(answer)]);
    let now = world.now;
    world.caller.handle(now, &between(1), &parsed(&bytes));
    let (_, abort) = polled(&mut world.caller, now).unwrap();
    let all = chunks(&abort);
    let [Chunk::Abort { causes, .. }] = &all[..] else { panic!("{all:?}") };
    assert!(format!("{:?}", causes.iter().next()).contains("UnresolvableAddress"));
    assert_eq!(world.caller.phase(), Phase::Closed);
}

/// [rfc8540:3.42]
#[test]
fn an_init_from_an_address_type_that_it_does_not_list_is_answered() {
    let mut listener = crate::opening::listener();
    let parameters = [0, 12, 0, 6, 0, 6, 0, 0];
    let world = {
        let mut world = World::still(1);
        world.settle();
        world
    };
    let call = Init { parameters: Parameters(&parameters), ..init(&world) };
    let answer = crate::opening::heard(&mut listener, &packet(0, 0, &[Chunk::Init(call)])).unwrap();
    assert!(matches!(chunks(&answer)[..], [Chunk::InitAck(_)]));
}

/// RFC 9260, sections 7.3 and 10: a path MTU reported by ICMP is accepted down to the minimum of
/// IPv6.
#[test]
fn an_ipv6_path_mtu_is_never_below_1280_bytes() {
    let here = "fd00::1".parse().unwrap();
    let there = "fd00::2".parse().unwrap();
    let settings = eifel_sctp::Settings { addresses: vec![here], ..crate::talk::settings(0, 1) };
    let ports = crate::talk::PORTS;
    let mut caller = eifel_sctp::Association::connect(Instant::ZERO, &settings, ports, &[there], 0).unwrap();
    let (_, bytes) = polled(&mut caller, Instant::ZERO).unwrap();
    let all = chunks(&bytes);
    let [Chunk::Init(init)] = all[..] else { panic!("an INIT") };
    caller.handle_icmp(there, 0, Some(init.initiate_tag), IcmpError::TooBig { mtu: 600 });
    assert_eq!(caller.engine().pmdcs(PathId(0)), 1280 - 40 - 12);
}
