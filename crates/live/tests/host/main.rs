//! Two hosts without a device: packets go from one to the other in virtual time.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod client;
mod hostile;
mod iperf;
mod outgoing;
mod pair;
mod proxy;
mod super_segment;
mod time_wait;

use eifel_base::time::{Duration, Instant};
use eifel_live::apps::body::Body;
use eifel_live::apps::server::{self, Server};
use eifel_live::apps::{Amount, Notice};
use eifel_live::host::{Handle, Host, HostEvent};
use eifel_live::station::{Application, Next};
use eifel_packet::ip::{self, Addresses, Version};
use eifel_packet::{datagram, icmp};
use eifel_recovery::engine;
use eifel_sim::pattern;
use eifel_tcp::settings::SendKind;
use eifel_tcp::{Event, Settings, State};
use pair::{Pair, held};
use std::net::SocketAddr;

const SECOND: Duration = Duration::from_secs(1);

fn sender() -> engine::Config {
    engine::Config::default()
}

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn connect(pair: &mut Pair, peer: &str) -> Handle {
    pair.a.connect(pair.now, address(peer), &held(), &sender()).unwrap()
}

fn events(host: &mut Host) -> Vec<(Handle, HostEvent)> {
    std::iter::from_fn(|| host.poll_event()).collect()
}

fn opened(host: &mut Host) -> Vec<Handle> {
    let of = |(handle, happening)| matches!(happening, HostEvent::Opened { .. }).then_some(handle);
    events(host).into_iter().filter_map(of).collect()
}

#[test]
fn a_stream_arrives_byte_for_byte_over_both_versions() {
    for peer in ["10.0.0.2:80", "[fd00::2]:80"] {
        let mut pair = Pair::new();
        pair.b.listen(80, 16, &held(), &sender()).unwrap();
        let from = connect(&mut pair, peer);
        pair.run_for(SECOND);
        let [to] = opened(&mut pair.b)[..] else { panic!("one connection opens") };
        let (mut written, mut read) = (0, Vec::new());
        while read.len() < 300_000 {
            let connection = pair.a.connection(from).unwrap();
            written += connection.write(&pattern::bytes(written as u64, 300_000 - written));
            pair.run_for(Duration::from_millis(10));
            let mut room = vec![0; 1 << 16];
            let count = pair.b.connection(to).unwrap().read(&mut room);
            read.extend_from_slice(&room[..count]);
        }
        assert!(read == pattern::bytes(0, 300_000));
        assert_eq!((pair.a.counts(), pair.b.counts()), Default::default());
    }
}

#[test]
fn many_connections_end_independently() {
    let mut pair = Pair::new();
    pair.b.listen(80, 2000, &held(), &sender()).unwrap();
    let calls: Vec<Handle> = (0..1000).map(|_| connect(&mut pair, "10.0.0.2:80")).collect();
    pair.run_for(SECOND);
    assert_eq!(opened(&mut pair.b).len(), 1000);
    for (number, &call) in calls.iter().enumerate() {
        let connection = pair.a.connection(call).unwrap();
        connection.write(format!("{number}").as_bytes());
        connection.shutdown_write();
    }
    pair.run_for(SECOND);
    let mut said = Vec::new();
    for (handle, happening) in events(&mut pair.b) {
        if let (HostEvent::Event(Event::PeerClosed), Some(connection)) = (happening, pair.b.connection(handle)) {
            let mut room = [0; 8];
            let count = connection.read(&mut room);
            said.push(String::from_utf8_lossy(&room[..count]).parse::<usize>().unwrap());
            connection.shutdown_write();
        }
    }
    said.sort_unstable();
    assert!(said.into_iter().eq(0..1000));
    pair.run_for(SECOND);
    // The ends that closed first are in TIME-WAIT for 60 s. The other ends are gone.
    assert_eq!((pair.a.connections(), pair.b.connections()), (1000, 0));
    pair.run_for(SECOND * 61);
    assert_eq!(pair.a.connections(), 0);
    assert!(pair.a.connection(calls[0]).is_none(), "a handle never names another connection");
}

/// RFC 6056, section 3.3.3: a port follows the one that was given out last.
#[test]
fn connections_to_one_peer_use_consecutive_ports() {
    let mut pair = Pair::new();
    let mut packet = Vec::new();
    let mut ports = Vec::new();
    for _ in 0..20 {
        connect(&mut pair, "10.0.0.2:80");
        assert!(pair.a.poll_packet(pair.now, &mut packet));
        ports.push(datagram::parse(&packet).unwrap().1.source_port);
    }
    let next = |port: u16| if port == u16::MAX { 49_152 } else { port + 1 };
    assert!(ports.windows(2).all(|two| two[1] == next(two[0])), "{ports:?}");
}

/// A body is written ahead by a station's turn of 256 KiB and a quarter, and by no byte more.
#[test]
fn a_body_is_written_no_further_ahead_than_a_turn_and_a_quarter() {
    let mut pair = Pair::new();
    let settings = Settings { send: SendKind::Held { buffer: 1 << 20 }, ..held() };
    let call = pair.a.connect(pair.now, address("10.0.0.2:80"), &settings, &sender()).unwrap();
    assert!(pair.a.poll_packet(pair.now, &mut Vec::new()));
    let mut body = Body::new(Amount::Bytes(1 << 20));
    assert!(!body.write(pair.now, pair.a.connection(call).unwrap()));
    assert_eq!(body.written(), 5 << 16);
}

#[test]
fn a_connection_to_a_closed_port_is_refused() {
    let mut pair = Pair::new();
    let call = connect(&mut pair, "10.0.0.2:81");
    pair.run_for(SECOND);
    assert_eq!(pair.b.counts().reset, 1);
    let news = events(&mut pair.a);
    assert!(
        matches!(&news[..], [(first, HostEvent::Event(Event::Refused)), (_, HostEvent::Ended(_))] if *first == call)
    );
}

#[test]
fn the_number_of_connections_is_bounded() {
    let mut pair = Pair::made(1500, 3);
    pair.b.listen(80, 16, &held(), &sender()).unwrap();
    for _ in 0..5 {
        connect(&mut pair, "10.0.0.2:80");
    }
    pair.run_for(SECOND);
    assert_eq!((opened(&mut pair.b).len(), pair.b.connections()), (3, 3));
    assert!(pair.b.counts().refused >= 2);
    assert!(pair.b.listen(80, 16, &held(), &sender()).is_err());
}

#[test]
fn an_icmp_error_reaches_its_connection_and_no_other() {
    let mut pair = Pair::new();
    let calls = [connect(&mut pair, "10.0.0.2:80"), connect(&mut pair, "10.0.0.2:80")];
    let mut packet = Vec::new();
    let mut syns = Vec::new();
    while pair.a.poll_packet(pair.now, &mut packet) {
        syns.push(packet.clone());
    }
    // Port unreachable, about the second SYN.
    let quoted = &syns[1][..28];
    let mut message = vec![3, 3, 0, 0, 0, 0, 0, 0];
    message.extend_from_slice(quoted);
    let checksum = eifel_packet::checksum::Sum::default().bytes(&message).finish();
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    let addresses = Addresses::V4 { source: [10, 0, 0, 9].into(), destination: [10, 0, 0, 1].into() };
    let mut bytes = Vec::new();
    ip::emit(&ip::Header::new(addresses), icmp::PROTOCOL_V4, message.len(), &mut bytes).unwrap();
    bytes.extend(message);
    pair.a.handle_packet(pair.now, &bytes);
    while pair.a.poll_packet(pair.now, &mut packet) {}
    let news = events(&mut pair.a);
    assert!(matches!(&news[..], [(one, HostEvent::Event(Event::Unreachable)), _] if *one == calls[1]), "{news:?}");
    assert_eq!(pair.a.connection(calls[0]).unwrap().state(), State::SynSent);
    // The connection is gone, so the same message belongs to none.
    pair.a.handle_packet(pair.now, &bytes);
    assert_eq!(pair.a.counts().stray_icmp, 1);
}

#[test]
fn segments_fit_the_devices_mtu() {
    for (peer, version) in [("10.0.0.2:80", Version::V4), ("[fd00::2]:80", Version::V6)] {
        let mut pair = Pair::made(1300, usize::MAX);
        connect(&mut pair, peer);
        let mut packet = Vec::new();
        assert!(pair.a.poll_packet(Instant::ZERO, &mut packet));
        let (_, syn, _) = datagram::parse(&packet).unwrap();
        assert_eq!(u32::from(syn.options.mss.unwrap()), 1300 - version.header_len() - 20);
    }
}

#[test]
fn malformed_packets_are_counted_and_ignored() {
    let mut pair = Pair::new();
    pair.b.listen(80, 16, &held(), &sender()).unwrap();
    connect(&mut pair, "10.0.0.2:80");
    let mut syn = Vec::new();
    assert!(pair.a.poll_packet(Instant::ZERO, &mut syn));
    for place in 0..syn.len() {
        let mut damaged = syn.clone();
        damaged[place] ^= 0x40;
        pair.b.handle_packet(Instant::ZERO, &damaged);
        pair.b.handle_packet(Instant::ZERO, &syn[..place]);
    }
    assert!(!pair.b.may_send());
    assert_eq!(pair.b.counts().malformed, 2 * syn.len() as u64);
}

/// The peer does not answer. Each SYN is retransmitted one and three seconds after its own first
/// transmission, whatever other connections do.
#[test]
fn each_connections_timer_expires_at_its_own_time() {
    let at = |millis| Instant::ZERO + Duration::from_millis(millis);
    let (mut pair, mut sent, mut expected, mut packet) = (Pair::new(), Vec::new(), Vec::new(), Vec::new());
    let mut starts = [0, 1, 300, 700, 1500, 9000].map(at).into_iter().peekable();
    // More turns than alarms and calls.
    for _ in 0..100 {
        let call = starts.peek().copied().unwrap_or(Instant::NEVER);
        pair.now = call.min(pair.a.poll_timeout());
        if pair.now >= at(6000) {
            break;
        }
        pair.a.handle_timeout(pair.now);
        if call == pair.now {
            starts.next();
            connect(&mut pair, "10.0.0.2:80");
            expected.extend([0, 1, 3].map(|seconds| call + SECOND * seconds));
        }
        while pair.a.poll_packet(pair.now, &mut packet) {
            sent.push(pair.now);
        }
    }
    expected.sort_unstable();
    assert_eq!(sent, expected);
}

/// At most 1024 unsent answers are kept. They leave in the order of the segments that they answer.
#[test]
fn queued_replies_are_bounded_and_in_order_with_and_without_offload() {
    for large in [false, true] {
        let mut pair = Pair::new();
        let mut syns = Vec::new();
        for _ in 0..1100 {
            connect(&mut pair, "10.0.0.2:81");
            let mut syn = Vec::new();
            assert!(pair.a.poll_packet(pair.now, &mut syn));
            syns.push(datagram::parse(&syn).unwrap().1.source_port);
            pair.b.handle_packet(pair.now, &syn);
        }
        assert_eq!(pair.b.counts().reset, 1100);
        let mut answered = Vec::new();
        loop {
            let mut packet = Vec::new();
            match large {
                false if !pair.b.poll_packet(pair.now, &mut packet) => break,
                false => {}
                true => match pair.b.poll_super_segment(pair.now) {
                    None => break,
                    Some((how, leaving)) => {
                        assert_eq!((how.unit, how.ip_len, how.headers_len, how.is_v6), (0, 20, 52, false));
                        leaving.append_to(&mut packet);
                    }
                },
            }
            answered.push(u16::from_be_bytes([packet[22], packet[23]]));
        }
        assert_eq!(answered, syns[..1024], "large: {large}");
    }
}

/// A station that is stopped asks its application to stop. An answering end then resets its
/// connections, and is done.
/// The lines of concurrent streams are told apart by their numbers.
#[test]
fn the_streams_of_a_server_are_numbered_in_the_order_of_their_calls() {
    let mut pair = Pair::new();
    let (settings, every) = (held(), SECOND);
    let plan = server::Plan { port: 80, settings, sender: sender(), calls: Some(3), checked: false, every };
    let told = std::cell::RefCell::new(Vec::new());
    let watch = |_: Instant, news: &Notice<'_>| {
        if let Notice::Interval(interval) = news {
            told.borrow_mut().push((interval.stream, interval.bytes));
        }
    };
    let mut answer = Server::begin(&mut pair.b, plan, Box::new(watch)).unwrap();
    for bytes in [100, 200, 300] {
        let call = connect(&mut pair, "10.0.0.2:80");
        pair.run_for(SECOND / 10);
        answer.turn(pair.now, &mut pair.b).unwrap();
        let connection = pair.a.connection(call).unwrap();
        connection.write(&pattern::bytes(0, bytes));
    }
    pair.run_for(SECOND);
    answer.turn(pair.now, &mut pair.b).unwrap();
    let mut told = told.take();
    told.sort_unstable();
    assert_eq!(told, [(1, 100), (2, 200), (3, 300)]);
}

#[test]
fn a_stopped_server_returns_all_data_read_so_far() {
    let mut pair = Pair::new();
    let every = Duration::from_millis(400);
    let (settings, calls) = (held(), Some(5));
    let plan = server::Plan { port: 80, settings, sender: sender(), calls, checked: true, every };
    let told = std::cell::RefCell::new(Vec::new());
    let watch = |now: Instant, news: &Notice<'_>| {
        if let Notice::Interval(interval) = news {
            told.borrow_mut().push((now, interval.bytes));
        }
    };
    let mut answer = Server::begin(&mut pair.b, plan, Box::new(watch)).unwrap();
    let from = connect(&mut pair, "10.0.0.2:80");
    pair.run_for(SECOND);
    pair.a.connection(from).unwrap().write(&pattern::bytes(0, 5000));
    let mut next = Next::Done;
    for _ in 0..10 {
        pair.run_for(Duration::from_millis(100));
        next = answer.turn(pair.now, &mut pair.b).unwrap();
    }
    let Next::Turn(due) = next else { panic!("it waits for four more calls") };
    assert!(due > pair.now && due <= pair.now + every, "{due:?}");
    answer.stop(pair.now, &mut pair.b);
    pair.run_for(SECOND);
    assert_eq!(answer.turn(pair.now, &mut pair.b).unwrap(), Next::Done);
    assert!(events(&mut pair.a).iter().any(|(_, of)| matches!(of, HostEvent::Event(Event::Reset))));
    let reads = answer.finish();
    assert_eq!((reads.len(), reads[0].bytes, pair.b.connections()), (1, 5000, 0));
    assert_eq!(told.borrow().iter().map(|&(_, bytes)| bytes).sum::<u64>(), 5000);
}
