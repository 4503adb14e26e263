//! Packets that leave a host: ECN marks, packets in pieces, and sending that may wait.

use super::{SECOND, opened, sender};
use crate::pair::{Pair, held};
use eifel_base::time::{Duration, Instant};
use eifel_live::host::{Handle, Host};
use eifel_live::recording::Recording;
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Ecn, Header};
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::Seq;
use eifel_sim::pattern;
use eifel_sim::record::Record;
use eifel_tcp::Settings;
use eifel_tcp::settings::{EcnUse, WindowScale};
use std::collections::VecDeque;

/// Returns a pair with one open connection on which nothing is under way, and its two ends.
fn open(settings: &Settings) -> (Pair, Handle, Handle) {
    let mut pair = Pair::new();
    pair.b.listen(80, 16, settings, &sender()).unwrap();
    let peer = "10.0.0.2:80".parse().unwrap();
    let from = pair.a.connect(pair.now, peer, settings, &sender()).unwrap();
    pair.run_for(SECOND);
    let [to] = opened(&mut pair.b)[..] else { panic!("one connection opens") };
    (pair, from, to)
}

pub fn all_packets(host: &mut Host, now: Instant) -> Vec<Vec<u8>> {
    let mut packet = Vec::new();
    std::iter::from_fn(|| host.poll_packet(now, &mut packet).then(|| packet.clone())).collect()
}

/// Returns a connection of the first host to a peer that agrees to ECN. The peer does not exist:
/// each test sends its segments.
fn with_marks() -> (Pair, Handle, Segment, Addresses) {
    let mut pair = Pair::new();
    let settings = Settings { ecn: EcnUse::Ask, timestamps: Some(Default::default()), ..held() };
    let call = pair.a.connect(pair.now, "10.0.0.2:80".parse().unwrap(), &settings, &sender()).unwrap();
    let [syn] = &all_packets(&mut pair.a, pair.now)[..] else { panic!("a SYN leaves") };
    let (header, syn, _) = datagram::parse(syn).unwrap();
    assert!(syn.flags.has(Flags::ECE.with(Flags::CWR)));
    let answer = Segment {
        source_port: 80,
        destination_port: syn.source_port,
        seq: Seq(1000),
        ack: Seq(syn.seq.0.wrapping_add(1)),
        flags: Flags::SYN.with(Flags::ACK).with(Flags::ECE),
        window: u16::MAX,
        ..Segment::EMPTY
    };
    let back = header.addresses.reversed();
    pair.a.handle_packet(pair.now, &packet(&back, &answer, &[]));
    all_packets(&mut pair.a, pair.now);
    let next = Segment { seq: Seq(1001), flags: Flags::ACK, ..answer };
    (pair, call, next, back)
}

fn packet(addresses: &Addresses, segment: &Segment, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    datagram::emit(&Header::new(*addresses), segment, payload, &mut bytes).unwrap();
    bytes
}

/// None of these ports has a listener.
#[test]
fn resets_leave_in_the_order_of_the_syns() {
    let mut pair = Pair::new();
    let addresses = Addresses::V4 { source: [10, 0, 0, 9].into(), destination: [10, 0, 0, 1].into() };
    for port in [7, 5, 6] {
        let call = Segment { source_port: 1000, destination_port: port, flags: Flags::SYN, ..Segment::EMPTY };
        pair.a.handle_packet(pair.now, &packet(&addresses, &call, &[]));
    }
    let resets = all_packets(&mut pair.a, pair.now);
    let ports: Vec<u16> = resets.iter().map(|reset| datagram::parse(reset).unwrap().1.source_port).collect();
    assert_eq!(ports, [7, 5, 6]);
}

#[test]
fn an_ecn_mark_is_received_and_echoed() {
    let (mut pair, _, next, back) = with_marks();
    let marked = Segment { payload_len: 5, ecn: Ecn::Ce, ..next };
    pair.a.handle_packet(pair.now, &packet(&back, &marked, b"hello"));
    let more = Segment { seq: Seq(1006), payload_len: 5, ..next };
    pair.a.handle_packet(pair.now, &packet(&back, &more, b"again"));
    pair.a.handle_timeout(pair.now + SECOND);
    let answers = all_packets(&mut pair.a, pair.now + SECOND);
    let (_, answer, _) = datagram::parse(answers.last().unwrap()).unwrap();
    assert!(answer.flags.has(Flags::ECE), "{answer:?}");
}

#[test]
fn offloaded_segments_carry_the_same_ecn_marks_as_single_ones() {
    let (mut pair, call, ..) = with_marks();
    pair.a.connection(call).unwrap().write(&pattern::bytes(0, 3000));
    let (_, leaving) = pair.a.poll_super_segment(pair.now).unwrap();
    let mut large = Vec::new();
    leaving.append_to(&mut large);
    assert_eq!(Ecn::of(large[1]), Ecn::Ect0);
}

#[test]
fn offloaded_segments_carry_the_same_bytes_as_single_ones() {
    let (mut pair, from, _) = open(&Settings { timestamps: Some(Default::default()), ..held() });
    // The buffer is a ring: the second write goes around its end, in two pieces.
    for (at, count) in [(0, 40_000), (40_000, 50_000)] {
        pair.a.connection(from).unwrap().write(&pattern::bytes(at, count));
        let mut carried = Vec::new();
        while let Some((how, leaving)) = pair.a.poll_super_segment(pair.now) {
            let mut packet = Vec::new();
            leaving.append_to(&mut packet);
            assert_eq!(packet.len(), leaving.len());
            carried.extend_from_slice(&packet[usize::from(how.headers_len)..]);
        }
        assert!(!carried.is_empty());
        assert_eq!(carried, pattern::bytes(at, carried.len()));
        // Runs until all data sent is acknowledged.
        let mut acknowledged = pair.a.connection(from).unwrap().engine().nxt();
        while acknowledged > pair.a.connection(from).unwrap().engine().una() {
            pair.run_for(SECOND);
            acknowledged = pair.a.connection(from).unwrap().engine().nxt();
        }
    }
}

#[test]
fn sending_is_batched_behind_pure_acks_of_a_loss_free_connection_only() {
    let (mut pair, from, to) = open(&held());
    // Enough data that an acknowledgement leaves a part of the window outstanding.
    pair.a.connection(from).unwrap().write(&pattern::bytes(0, 60_000));
    let sent = all_packets(&mut pair.a, pair.now);
    assert!(sent.len() >= 4, "{}", sent.len());
    let acknowledge = |pair: &mut Pair, which: std::ops::Range<usize>| {
        for packet in &sent[which] {
            pair.b.handle_packet(pair.now, packet);
        }
        all_packets(&mut pair.b, pair.now)
    };
    pair.now += Duration::from_millis(5);
    for packet in acknowledge(&mut pair, 0..2) {
        assert!(!pair.a.may_wait());
        pair.a.handle_packet(pair.now, &packet);
    }
    // The connection becomes quiet with the first acknowledgement.
    let before = pair.a.may_wait();
    all_packets(&mut pair.a, pair.now);
    let later = acknowledge(&mut pair, 2..4);
    assert!(!later.is_empty());
    later.iter().for_each(|packet| pair.a.handle_packet(pair.now, packet));
    assert!(pair.a.may_wait() || before, "bare acknowledgements of new data");
    // Data, and acknowledgements that report a gap, are answered at once.
    pair.b.connection(to).unwrap().write(b"an answer");
    for packet in all_packets(&mut pair.b, pair.now) {
        pair.a.handle_packet(pair.now, &packet);
    }
    assert!(!pair.a.may_wait());
    for packet in acknowledge(&mut pair, 5..sent.len()) {
        pair.a.handle_packet(pair.now, &packet);
        assert!(!pair.a.may_wait(), "it reports a gap");
    }
}

#[test]
fn a_recording_at_a_receiver_counts_the_segment_that_fills_its_window() {
    let settings = Settings { receive_window: 10_000, window_scale: WindowScale::Off, ..held() };
    let mut pair = Pair::new();
    let recording = Recording::receiving(Record::all(), &sender());
    recording.attach(&mut pair.b);
    pair.b.listen(80, 16, &settings, &sender()).unwrap();
    let from = pair.a.connect(pair.now, "10.0.0.2:80".parse().unwrap(), &settings, &sender()).unwrap();
    pair.run_for(SECOND);
    let [to] = opened(&mut pair.b)[..] else { panic!("one connection opens") };
    assert_eq!(pair.a.connection(from).unwrap().write(&[7; 20_000]), 20_000);
    // The application does not read: the window closes, and window probes are refused.
    pair.run_for(Duration::from_secs(30));
    assert_eq!(pair.b.connection(to).unwrap().received(), 10_000);
    let now = pair.now;
    drop(pair);
    let arrivals = recording.finish(now).unwrap().0.arrivals;
    assert_eq!(arrivals.new_bytes.iter().sum::<i64>(), 10_000);
    let refused: Vec<_> = (0..arrivals.t_ns.len()).filter(|&row| arrivals.new_bytes[row] == 0).collect();
    assert!(!refused.is_empty() && refused.iter().all(|&row| !arrivals.in_order[row]));
}

#[test]
fn a_host_reports_pending_events_and_packets() {
    let state = |host: &Host| (host.has_events(), host.may_send());
    let mut pair = Pair::new();
    pair.b.listen(80, 16, &held(), &sender()).unwrap();
    assert_eq!((state(&pair.a), state(&pair.b)), ((false, false), (false, false)));
    pair.a.connect(pair.now, "10.0.0.2:80".parse().unwrap(), &held(), &sender()).unwrap();
    assert_eq!(state(&pair.a), (false, true), "a SYN may leave");
    let [syn] = &all_packets(&mut pair.a, pair.now)[..] else { panic!("a SYN leaves") };
    assert_eq!(state(&pair.a), (false, false));
    pair.b.handle_packet(pair.now, syn);
    assert_eq!(state(&pair.b), (false, true), "the answer belongs to no connection yet");
    let [answer] = &all_packets(&mut pair.b, pair.now)[..] else { panic!("an answer leaves") };
    assert_eq!(state(&pair.b), (false, false));
    pair.a.handle_packet(pair.now, answer);
    assert_eq!(state(&pair.a), (true, true), "it is connected, and acknowledges");
    assert_eq!(std::iter::from_fn(|| pair.a.poll_event()).count(), 1);
    assert_eq!(state(&pair.a), (false, true));
    let [last] = &all_packets(&mut pair.a, pair.now)[..] else { panic!("an ACK leaves") };
    pair.b.handle_packet(pair.now, last);
    assert!(pair.b.has_events());
    assert_eq!(opened(&mut pair.b).len(), 1);
    assert!(!pair.b.has_events());
}

/// A few packets of both directions are lost.
#[test]
fn sending_is_deferred_only_after_a_plain_ack_of_an_idle_sender() {
    let (mut pair, from, to) = open(&held());
    let mut under_way = VecDeque::new();
    let (mut sent, mut room, mut written) = (0_u64, vec![0; 1 << 16], [0; 2]);
    // Counts of packets, by whether a packet was a bare acknowledgement, and whether the sender was
    // quiet before and after it.
    let mut seen = [0_u32; 8];
    for _ in 0..4000 {
        for (place, host, end) in [(0, &mut pair.a, from), (1, &mut pair.b, to)] {
            host.handle_timeout(pair.now);
            let connection = host.connection(end).unwrap();
            while connection.read(&mut room) > 0 {}
            // The other end sends data now and then.
            if place == 0 || pair.now.as_nanos() / 100_000_000 % 3 == 0 {
                written[place] += connection.write(&pattern::bytes(written[place] as u64, 10_000));
            }
            for packet in all_packets(host, pair.now) {
                sent += 1;
                if sent % 150 > 0 {
                    under_way.push_back((pair.now + Duration::from_millis(5), place, packet));
                }
            }
        }
        pair.now += Duration::from_millis(1);
        while under_way.front().is_some_and(|&(at, ..)| at <= pair.now)
            && let Some((_, from_place, packet)) = under_way.pop_front()
        {
            let (host, end) = if from_place == 0 { (&mut pair.b, to) } else { (&mut pair.a, from) };
            let (_, segment, payload) = datagram::parse(&packet).unwrap();
            let bare = payload.is_empty() && segment.flags == Flags::ACK;
            let before = host.connection(end).unwrap().engine().is_quiet();
            host.handle_packet(pair.now, &packet);
            let after = host.connection(end).unwrap().engine().is_quiet();
            assert_eq!(host.may_wait(), bare && before && after, "{segment:?}");
            seen[usize::from(bare) * 4 + usize::from(before) * 2 + usize::from(after)] += 1;
            if host.may_wait() {
                host.handle_packet(pair.now, &packet[..9]);
                assert!(!host.may_wait(), "what cannot be read is no acknowledgement");
            }
        }
    }
    // All three are true, and each is false while the others are true.
    assert!([7, 3, 5, 6].iter().all(|&place| seen[place] > 2), "{seen:?}");
}
