//! Rarely used rules: ICMP, one packet after a timeout, bundling, and a shutdown that takes too
//! long.

use eifel_base::time::{Duration, Instant};
use eifel_packet::sctp::Chunk;
use eifel_recovery::association::PathId;
use eifel_sctp::{Delivery, Event, Failure, IcmpError, Phase, Settings, TimestampChunk};

use crate::talk::{Fate, Sent, World, address, ms};

/// Returns the TSNs and payload lengths of a packet's DATA chunks.
fn data(bytes: &[u8]) -> Vec<(u32, usize)> {
    let sent = Sent { now: Instant::ZERO, from: 0, path: 0, bytes };
    let one = |chunk: &Chunk<'_>| match chunk {
        Chunk::Data(data) => Some((data.tsn.0, data.payload.len())),
        _ => None,
    };
    sent.chunks().iter().filter_map(one).collect()
}

/// Returns the tag of packets to the callee.
fn tag(world: &World) -> u32 {
    let (_, _, _, bytes) = world.log.iter().rfind(|(_, from, ..)| *from == 0).expect("the caller has sent something");
    u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]])
}

fn opened(paths: usize) -> World {
    let mut world = World::still(paths);
    world.open();
    world.run_for(Duration::from_secs(1));
    world
}

#[test]
fn icmp_with_a_wrong_tag_is_ignored() {
    let mut world = opened(2);
    let tag = tag(&world);
    let pmdcs = |world: &World| [0, 1].map(|path| world.caller.engine().pmdcs(PathId(path)));
    assert_eq!(pmdcs(&world), [1468, 1468]);
    let too_big = IcmpError::TooBig { mtu: 1000 };
    world.caller.handle_icmp(address(1, 1), tag ^ 1, None, too_big);
    world.caller.handle_icmp(address(1, 1), 0, Some(12_345), too_big);
    world.caller.handle_icmp([192, 0, 2, 1].into(), tag, None, too_big);
    assert_eq!(pmdcs(&world), [1468, 1468]);
    // Headers take 32 bytes and leave 971, rounded down to a multiple of four.
    world.caller.handle_icmp(address(1, 1), tag, None, IcmpError::TooBig { mtu: 1003 });
    assert_eq!(pmdcs(&world), [1468, 968]);
    world.caller.handle_icmp(address(1, 1), tag, None, too_big);
    assert_eq!(pmdcs(&world), [1468, 968]);
    // The PMDCS never grows again, and never falls below the minimum for IPv4.
    world.caller.handle_icmp(address(1, 1), tag, None, IcmpError::TooBig { mtu: 1400 });
    assert_eq!(pmdcs(&world), [1468, 968]);
    world.caller.handle_icmp(address(1, 1), tag, None, IcmpError::TooBig { mtu: 68 });
    assert_eq!(pmdcs(&world), [1468, 544]);
    // Messages are fragmented for the smallest path MTU (section 7.3).
    let before = world.log.len();
    world.transfer(0, 3, 5000);
    let longest = world.log[before..].iter().flat_map(|(.., bytes)| data(bytes)).map(|(_, len)| len).max();
    assert_eq!(longest, Some(544 - 16));
}

/// [rfc8540:3.1]
#[test]
fn icmp_unreachable_makes_an_address_inactive_and_icmp_no_sctp_ends_the_association() {
    let mut world = opened(2);
    let tag = tag(&world);
    for count in 1..=6 {
        assert!(!world.events[0].contains(&Event::Inactive(address(1, 1))), "{count}");
        world.caller.handle_icmp(address(1, 1), tag, None, IcmpError::Unreachable);
        world.settle();
    }
    assert!(world.events[0].contains(&Event::Inactive(address(1, 1))), "six errors are more than Path.Max.Retrans");
    world.caller.handle_icmp(address(1, 0), tag ^ 1, None, IcmpError::NoSctp);
    assert_eq!(world.caller.phase(), Phase::Established);
    world.caller.handle_icmp(address(1, 0), tag, None, IcmpError::NoSctp);
    world.settle();
    assert_eq!(world.events[0].last(), Some(&Event::Failed(Failure::NoSctp)));
}

#[test]
fn icmp_that_quotes_an_init_is_checked_by_the_initiate_tag_until_the_init_ack() {
    let mut world = World::still(1);
    world.settle();
    let (.., bytes) = &world.log[0];
    let initiate = u32::from_be_bytes([bytes[16], bytes[17], bytes[18], bytes[19]]);
    world.caller.handle_icmp(address(1, 0), 0, Some(initiate ^ 1), IcmpError::NoSctp);
    assert_eq!(world.caller.phase(), Phase::CookieWait);
    let mut answered = World::still(1);
    answered.run_until(Duration::from_secs(1), |world| world.caller.phase() == Phase::CookieEchoed);
    answered.caller.handle_icmp(address(1, 0), 0, Some(initiate), IcmpError::NoSctp);
    assert_eq!(answered.caller.phase(), Phase::CookieEchoed);
    world.caller.handle_icmp(address(1, 0), 0, Some(initiate), IcmpError::NoSctp);
    assert_eq!(world.caller.phase(), Phase::Closed);
}

/// Section 7.2.3 [rfc8540:3.18]: after a timeout, one packet may be in flight until some of it is
/// acknowledged. This holds although cwnd is a packet, and rule B of section 6.1 would allow a
/// second one.
#[test]
fn one_packet_is_in_flight_after_a_timeout() {
    let mut world = opened(1);
    world.transfer(0, 100, 1000);
    // The last SACK arrives too.
    world.run_for(ms(300));
    let lost_until = world.now + Duration::from_secs(5);
    world.fate(Box::new(move |sent| if sent.from == 0 && sent.now < lost_until { vec![] } else { vec![ms(10)] }));
    let before = world.log.len();
    for _ in 0..20 {
        world.caller.send(Delivery::default(), vec![1; 600]).unwrap();
    }
    world.run_until(Duration::from_secs(60), |world| world.received[1].len() == 120);
    let sent: Vec<_> = world.log[before..].iter().filter(|(_, from, ..)| *from == 0).collect();
    let burst = sent.iter().take_while(|(at, ..)| *at == sent[0].0).count();
    // RTO.Min is a second and doubles: retransmissions at 1 and 3 s are lost, and the one at 7 s
    // arrives.
    let alone: Vec<_> =
        sent[burst..].iter().take(3).map(|(at, _, _, bytes)| (at.since(sent[0].0), data(bytes))).collect();
    let first = data(&sent[0].3)[0].0;
    for (index, (after, chunks)) in alone.iter().enumerate() {
        assert_eq!(after.as_nanos() / 1_000_000_000, [1, 3, 7][index], "{alone:?}");
        assert_eq!(chunks.iter().map(|(tsn, _)| *tsn).collect::<Vec<_>>(), [first, first + 1], "{alone:?}");
    }
}

#[test]
fn data_is_bundled_with_the_first_cookie_echo_only_if_set() {
    for wanted in [false, true] {
        let mut echoes = 0;
        let fate: Fate = Box::new(move |sent| {
            let echo = sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::CookieEcho(_)));
            echoes += u32::from(echo);
            if echo && echoes == 1 { vec![] } else { vec![ms(10)] }
        });
        let mut world = World::new(1, |_, settings| settings.data_with_cookie = wanted, fate);
        world.caller.send(Delivery::default(), *b"early").unwrap();
        world.run_until(Duration::from_secs(60), |world| !world.received[1].is_empty());
        let carried: Vec<usize> = world
            .log
            .iter()
            .filter(|(_, from, _, bytes)| *from == 0 && bytes[12] == 10)
            .map(|(.., bytes)| data(bytes).len())
            .collect();
        assert_eq!(carried, if wanted { [1, 0] } else { [0, 0] });
        assert_eq!(world.received[1].len(), 1, "once, although the data's first packet was lost");
    }
}

/// Section 6.1: if no retransmission is left, new data fills the packet.
#[test]
fn new_data_is_bundled_with_retransmissions() {
    let mut world = opened(1);
    world.transfer(0, 50, 1400);
    let mut lost = false;
    world.fate(Box::new(move |sent| {
        let first = sent.from == 0 && !data(sent.bytes).is_empty() && !std::mem::replace(&mut lost, true);
        if first { vec![] } else { vec![ms(10)] }
    }));
    let before = world.log.len();
    let mut left = 40;
    world.run_until(Duration::from_secs(60), |world| {
        // A small chunk is lost. Others are written as SACKs arrive, before the next packet leaves.
        if left > 0 && world.caller.engine().nxt() - world.caller.engine().una() < 6 {
            world.caller.send(Delivery::default(), vec![left as u8; 300]).unwrap();
            left -= 1;
        }
        world.received[1].len() == 90
    });
    let mut seen = std::collections::BTreeSet::new();
    let mut mixed = 0;
    for (_, from, _, bytes) in &world.log[before..] {
        if *from == 0 {
            let chunks: Vec<bool> = data(bytes).iter().map(|(tsn, _)| seen.insert(*tsn)).collect();
            assert!(chunks.is_sorted(), "what is sent again stands first: {chunks:?}");
            mixed += u32::from(chunks.first() == Some(&false) && chunks.last() == Some(&true));
        }
    }
    assert!(mixed > 0);
}

/// The smallest chunks take more of the receive buffer than of the advertised window. A packet that
/// finds room is accepted whole, so no chunk is sent twice while the application reads.
#[test]
fn small_chunks_within_the_window_leave_once() {
    for values in [false, true] {
        let mut world = World::new(1, |_, settings| settings.receive_buffer = 1500, Box::new(|_| vec![ms(10)]));
        (world.values, world.reads_at_once) = (values, true);
        world.open();
        for _ in 0..1500 {
            world.caller.send(Delivery::default(), [1]).unwrap();
        }
        world.run_until(Duration::from_secs(60), |world| world.received[1].len() == 1500);
        let sent = world.log.iter().filter(|(_, from, ..)| *from == 0).map(|(.., bytes)| data(bytes).len());
        assert_eq!(sent.sum::<usize>(), 1500, "values: {values}");
    }
}

/// T5-shutdown-guard (section 9.2): any packet of the peer, here its HEARTBEATs, restarts the
/// T2-shutdown timer. The guard limits this.
#[test]
fn a_shutdown_that_the_peer_never_completes_ends_by_the_guard() {
    let mut world = opened(1);
    // The callee gets no SHUTDOWN.
    world.fate(Box::new(|sent| {
        let shutdown = sent.chunks().iter().any(|chunk| matches!(chunk, Chunk::Shutdown { .. }));
        if sent.from == 0 && shutdown && data(sent.bytes).is_empty() { vec![] } else { vec![ms(10)] }
    }));
    let start = world.now;
    world.caller.shutdown();
    while world.caller.phase() != Phase::Closed {
        assert!(world.now.since(start) < Duration::from_secs(400));
        world.run_for(ms(500));
    }
    world.settle();
    assert_eq!(world.events[0].last(), Some(&Event::Failed(Failure::Unreachable)));
    let took = world.now.since(start).as_nanos() / 1_000_000_000;
    assert!((299..=301).contains(&took), "five times RTO.Max: {took} s");
}

/// A duplicate report does not acknowledge data again.
#[test]
fn duplicate_chunks_do_not_enlarge_the_advertised_window() {
    let grown = |doubled: bool| {
        let mut world = opened(1);
        world.fate(Box::new(move |sent| {
            let copies = if doubled && sent.from == 0 && !data(sent.bytes).is_empty() { 2 } else { 1 };
            vec![ms(10); copies]
        }));
        world.transfer(0, 300, 1400);
        world.caller.engine().window(PathId(0)).cwnd
    };
    let (once, twice) = (grown(false), grown(true));
    assert!(twice <= once, "{twice} {once}");
}

/// RFC 1323, section 3.3: echoes of SACKs with only a cumulative TSN are samples too.
#[test]
fn round_trips_are_sampled_while_something_is_always_outstanding() {
    let stamped = |_: usize, settings: &mut Settings| settings.timestamp_chunk = TimestampChunk::Agreed;
    let later = Instant::ZERO + Duration::from_secs(1);
    let slower: Fate = Box::new(move |sent| vec![ms(if sent.now < later { 20 } else { 50 })]);
    let mut world = World::new(1, stamped, slower);
    world.open();
    world.run_for(Duration::from_secs(1));
    for _ in 0..400 {
        world.caller.send(Delivery::default(), vec![0; 1000]).unwrap();
        world.run_for(ms(20));
    }
    let told = world.caller.engine().snapshot(PathId(0));
    let srtt = told.srtt.expect("the handshake was a sample");
    assert!(told.samples > 150 && ms(100) <= srtt && srtt <= ms(125), "{srtt:?} of {} samples", told.samples);
}
