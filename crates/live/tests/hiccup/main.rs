//! The box in virtual time: it does to each packet what the scenario says.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod drops;
mod orders;
mod packets;
mod truth;

use eifel_base::time::{Duration, Instant};
use eifel_live::hiccup::label::Flows;
use eifel_live::hiccup::order::{Order, Trigger};
use eifel_live::hiccup::truth::{Judged, Truth};
use eifel_live::hiccup::{Direction, Fate, Hiccup, Transit};
use eifel_packet::ip::{self, Ecn};
use eifel_path::parcel::DropCause;
use eifel_sim::scenario::Scenario;
use packets::{data, marked, udp};
use std::collections::BTreeMap;

const MS: Duration = Duration::from_millis(1);

fn at(ms: u64) -> Instant {
    Instant::ZERO + MS * ms
}

fn scenario(link: &str, more: &str) -> Scenario {
    let text = format!(
        "duration_s = 60\n[point_to_point]\nrate_bps = 8_000_000\ndelay_ms = 10\n{link}\n{more}\n\
         [[flow]]\nname = \"main\"\nfrom = \"sender\"\nto = \"receiver\"\n\
         application = {{ kind = \"bulk\", bytes = 100_000 }}\n"
    );
    Scenario::parse(&text, "test.toml".as_ref()).unwrap()
}

fn hiccup(link: &str, more: &str, triggers: &[&str]) -> Hiccup {
    let triggers = triggers.iter().map(|text| Trigger::parse(text).unwrap()).collect();
    Hiccup::new(&scenario(link, more), triggers).unwrap()
}

/// Returns the packets that came out by `now`, and then those that were dropped.
fn gone(hiccup: &mut Hiccup, now: Instant) -> Vec<Transit> {
    hiccup.run(now);
    let mut gone: Vec<Transit> = hiccup.delivered().into_iter().map(|(passage, _)| passage).collect();
    gone.extend(hiccup.dropped());
    gone
}

#[test]
fn the_box_has_the_rate_and_delay_of_its_links() {
    let mut hiccup = hiccup("", "", &[]);
    // 1000 bytes take 1 ms at 8 Mbit/s.
    (0..3).for_each(|_| hiccup.take(at(5), Direction::There, udp(1, 1000)));
    hiccup.take(at(5), Direction::Back, udp(1, 500));
    let due: Vec<_> = gone(&mut hiccup, at(100)).iter().map(|passage| (passage.direction, passage.due)).collect();
    let back = (Direction::Back, at(15) + MS / 2);
    let there = |ms| (Direction::There, at(ms));
    assert_eq!(due, [back, there(16), there(17), there(18)]);
}

/// Returns the numbers of the packets that come out, by flow. `order` gives the flow of each packet
/// that comes in, and its time in milliseconds.
fn survivors(link: &str, order: impl Iterator<Item = (u16, u64)>) -> BTreeMap<u32, Vec<u64>> {
    let mut hiccup = hiccup(link, "", &[]);
    let mut survivors: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (flow, ms) in order {
        hiccup.take(at(ms), Direction::There, udp(flow, 100));
    }
    for passage in gone(&mut hiccup, at(1_000_000)) {
        if passage.fate == Fate::Delivered {
            survivors.entry(passage.seen.label.flow).or_default().push(passage.seen.number);
        }
    }
    survivors
}

/// Returns the ECN fields of the packets that come out. The checksums of their headers have to be
/// right.
fn fields(hiccup: &mut Hiccup) -> Vec<Ecn> {
    hiccup.run(at(1_000_000));
    let out = hiccup.delivered();
    out.iter().map(|(_, packet)| Ecn::of(ip::parse(packet).unwrap().header.traffic_class)).collect()
}

/// RED with an average that follows the queue at once. Up to the upper threshold, it marks packets
/// that take marks, and drops the others early.
#[test]
fn red_marks_ect_packets() {
    let red = "queue = { kind = \"red\", packets = 100, minimum_packets = 2, maximum_packets = 90, \
               maximum_probability = 1.0, weight = 1.0, wait = false, ecn = true }";
    let mut hiccup = hiccup(red, "", &[]);
    for number in 0..40 {
        let ecn = if number % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct };
        hiccup.take(at(0), Direction::There, marked(1 + 1000 * number, 1000, ecn));
    }
    let dropped = hiccup.dropped().len();
    let fields = fields(&mut hiccup);
    let count = |ecn| fields.iter().filter(|&&field| field == ecn).count();
    assert_eq!((fields.len() + dropped, count(Ecn::Ect1)), (40, 0));
    assert_eq!(count(Ecn::Ce) + count(Ecn::Ect0), 20, "nothing is dropped that takes a mark");
    assert!(
        count(Ecn::Ce) > 2 && dropped > 2 && count(Ecn::Ect0) > 2,
        "{} of 20 marked, {dropped} dropped",
        count(Ecn::Ce)
    );
}

/// Faults change any packet. A packet that cannot be parsed passes unchanged.
#[test]
fn the_box_forwards_ecn_marks_and_faults_rewrite_them() {
    let carried = |link: &str| {
        let mut hiccup = hiccup(link, "", &[]);
        [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]
            .into_iter()
            .zip(0..)
            .for_each(|(ecn, number)| hiccup.take(at(0), Direction::There, marked(1 + 1000 * number, 1000, ecn)));
        fields(&mut hiccup)
    };
    assert_eq!(carried(""), [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    assert_eq!(carried("ecn_faults = { clear = 1.0 }"), [Ecn::NotEct; 4]);
    assert_eq!(carried("ecn_faults = { forge = 1.0 }"), [Ecn::Ce; 4]);
    let mut hiccup = hiccup("ecn_faults = { forge = 1.0 }", "", &[]);
    hiccup.take(at(0), Direction::There, vec![0x45; 7]);
    hiccup.run(at(1_000_000));
    assert_eq!(hiccup.delivered()[0].1, [0x45; 7]);
}

#[test]
fn the_fate_of_a_flows_nth_packet_depends_only_on_the_seed() {
    let link = "loss = { kind = \"random\", rate = 0.3 }";
    let alone = survivors(link, (0..200).map(|number| (1, number)));
    // Other times, and another flow in between.
    let slow = survivors(link, (0..200).map(|number| (1, 7 * number * number)));
    let mixed = survivors(link, (0..600).map(|number| (if number % 3 == 0 { 1 } else { 2 }, number)));
    assert_eq!(alone[&0], slow[&0]);
    assert_eq!(alone[&0], mixed[&0]);
    assert!(alone[&0].len() > 100 && alone[&0].len() < 180);
    let second: Vec<u64> = mixed[&1].iter().copied().take_while(|&number| number <= 200).collect();
    assert_ne!(alone[&0], second, "each flow has its own draws");
}

#[test]
fn the_box_gives_packets_the_fates_of_the_simulated_run() {
    let link = "loss = { kind = \"random\", rate = 0.05 }";
    let text = scenario(link, "");
    let record = eifel_sim::record::Record::named(["drops", "transmissions"]).unwrap();
    let outcome = eifel_sim::run(&text, 0, record).unwrap();
    // All packets that the simulator's sender has put onto the link: the SYN, and data, which
    // carries all acknowledgements.
    let fates: Vec<bool> = outcome.tables.transmissions.fate.iter().map(|&fate| fate == 2).collect();
    let mut hiccup = Hiccup::new(&text, Vec::new()).unwrap();
    for number in 0..fates.len() as u64 {
        hiccup.take(at(10 * number), Direction::There, udp(1, 1000));
    }
    let mut found: Vec<(u64, bool)> = gone(&mut hiccup, at(1_000_000))
        .iter()
        .map(|passage| (passage.seen.number, passage.fate == Fate::Dropped(DropCause::Random)))
        .collect();
    found.sort_unstable();
    let found: Vec<bool> = found.into_iter().map(|(_, lost)| lost).collect();
    assert_eq!(found, fates);
    assert!(found.contains(&true));
}

#[test]
fn the_box_reorders_by_the_exact_count_and_drops_the_listed_segments() {
    let link = "reorder = { flow = \"main\", segments = [2], length = 3 }\n\
                drops = { flow = \"main\", segments = [4], copies = 2 }";
    let mut hiccup = hiccup(link, "", &[]);
    // Segments 1 to 7, then 4 again, twice.
    for (ms, number) in [1, 2, 3, 4, 5, 6, 7, 4, 4].into_iter().enumerate() {
        hiccup.take(at(ms as u64), Direction::There, data(1 + 100 * (number - 1), 100));
    }
    let (out, lost): (Vec<_>, Vec<_>) =
        gone(&mut hiccup, at(1000)).into_iter().partition(|passage| passage.fate == Fate::Delivered);
    let label = |passage: &Transit| (passage.seen.label.segment, passage.seen.label.copy);
    // A packet that is dropped after the reordering would still count for its length. Segment 4 is
    // dropped before.
    assert_eq!(out.iter().map(label).collect::<Vec<_>>(), [(1, 0), (3, 0), (5, 0), (6, 0), (2, 0), (7, 0), (4, 2)]);
    assert_eq!(lost.iter().map(label).collect::<Vec<_>>(), [(4, 0), (4, 1)]);
}

#[test]
fn an_order_holds_all_packets_and_releases_them_together() {
    let mut hiccup = hiccup("", "", &["segment 2: hold 0.5 there"]);
    for number in 0..3 {
        hiccup.take(at(1 + number), Direction::There, data(1 + 100 * number, 100));
    }
    hiccup.take(at(3), Direction::Back, udp(9, 100));
    let due: Vec<_> = gone(&mut hiccup, at(1000)).iter().map(|passage| (passage.direction, passage.due)).collect();
    // The order comes with the second segment, at 2 ms. Packets that have not arrived by then are
    // held, the first segment too.
    let held = (Direction::There, at(502));
    assert_eq!(due.iter().filter(|&&one| one == held).count(), 3);
    assert_eq!(due.iter().filter(|(direction, _)| *direction == Direction::Back).count(), 1);
    hiccup.obey(at(1000), Order::parse("hold").unwrap());
    hiccup.take(at(1001), Direction::There, udp(1, 100));
    assert!(gone(&mut hiccup, at(5000)).is_empty());
    hiccup.obey(at(6000), Order::parse("toggle").unwrap());
    assert_eq!(gone(&mut hiccup, at(6000))[0].due, at(6000));
    hiccup.obey(at(7000), Order::parse("drop 2").unwrap());
    (0..3).for_each(|_| hiccup.take(at(7000), Direction::There, udp(1, 100)));
    let fates: Vec<_> = gone(&mut hiccup, at(8000)).iter().map(|passage| passage.fate).collect();
    assert_eq!(fates, [Fate::Delivered, Fate::Ordered, Fate::Ordered]);
}

#[test]
fn a_spike_of_the_scenario_holds_as_in_the_simulator() {
    let spike = "[[spike]]\nlinks = [\"bottleneck\"]\nholds = \"arriving\"\nat = [{ start_s = 0.1, end_s = 0.4 }]\n";
    let mut hiccup = hiccup("", spike, &[]);
    for ms in [80, 95, 200, 380, 395] {
        hiccup.take(at(ms), Direction::There, udp(1, 1000));
    }
    let due: Vec<_> = gone(&mut hiccup, at(1000)).iter().map(|passage| passage.due).collect();
    assert_eq!(due, [at(91), at(400), at(400), at(400), at(406)]);
}

#[test]
fn duplicates_are_delivered_and_counted_as_copies() {
    let mut hiccup = hiccup("duplicate = { rate = 1.0 }", "", &[]);
    hiccup.take(at(0), Direction::There, udp(1, 100));
    let fates: Vec<_> = gone(&mut hiccup, at(100)).iter().map(|passage| passage.fate).collect();
    assert_eq!(fates, [Fate::Delivered, Fate::Copied]);
    assert_eq!(hiccup.left().count(), 0);
}

#[test]
fn a_retransmission_is_spurious_if_an_earlier_copy_came_out_even_later() {
    let link = "drops = { flow = \"main\", segments = [3] }";
    let mut hiccup = hiccup(link, "", &["segment 2: hold 0.5"]);
    let mut truth = Truth::default();
    // Segments 1 to 3, with 3 lost; then 2 and 3 again, and 2 and 3 in one.
    let sent = [(1, 100), (101, 100), (201, 100), (101, 100), (201, 100), (101, 200)];
    for (place, (start, len)) in sent.into_iter().enumerate() {
        hiccup.take(at(place as u64), Direction::There, data(start, len));
        let entered = hiccup.last().unwrap().clone();
        truth.enters(&entered, place as u64 + 1);
    }
    let named =
        |judged: Vec<Judged>| -> Vec<_> { judged.iter().map(|one| (one.frame, one.nth, one.spurious)).collect() };
    let mut passages = gone(&mut hiccup, at(10_000));
    // The fate of segment 3, which was dropped, is noted last. Until then all later segments wait.
    let dropped = passages.pop().unwrap();
    passages.iter().for_each(|passage| truth.ends(passage));
    assert_eq!(named(truth.judged()), []);
    truth.ends(&dropped);
    assert_eq!(named(truth.judged()), [(4, 2, true), (5, 2, false), (6, 3, true)]);
    assert_eq!(named(truth.finish()), []);
}

/// Flows beyond 65 536 count as the last one, so a port scan costs the box no memory.
#[test]
fn flows_beyond_the_limit_share_one_label() {
    let mut flows = Flows::default();
    let from = |number: u32| {
        let mut packet = udp(number as u16, 40);
        packet[23] = (number >> 16) as u8;
        packet
    };
    let mut flow = |number| flows.see(Direction::There, &from(number)).label.flow;
    assert!((0..65_536).all(|number| flow(number) == number));
    assert_eq!([65_536, 65_537, 65_535, 3].map(&mut flow), [65_535, 65_535, 65_535, 3]);
    // Packets that cannot be parsed are a flow of their own, and are numbered.
    let mut flows = Flows::default();
    assert_eq!(flows.see(Direction::There, &udp(1, 40)).label.flow, 0);
    for number in 1..3 {
        let seen = flows.see(Direction::There, &[0x10; 30]);
        assert_eq!((seen.label.flow, seen.label.segment, seen.label.copy, seen.number), (1, 0, 0, number));
        assert_eq!((seen.protocol, seen.identification, seen.tcp, seen.data), (0, 0, None, None));
    }
}

/// Positions of a connection follow those of an earlier connection between the same ends.
#[test]
fn a_new_connection_of_the_same_four_tuple_continues_the_positions() {
    let mut flows = Flows::default();
    let mut positions = |packet: &[u8]| flows.see(Direction::There, packet).data.map(|data| (data.start, data.end));
    let syn = |seq| {
        let mut segment = packets::segment(1, 0);
        (segment.seq, segment.flags) = (eifel_packet::seq::Seq(seq), eifel_packet::segment::Flags::SYN);
        packets::packet(&segment)
    };
    assert_eq!(positions(&syn(0xffff_ffff)), None);
    assert_eq!(positions(&data(1, 1000)), Some((1, 1001)));
    assert_eq!(positions(&data(1001, 500)), Some((1001, 1501)));
    // The same SYN once more begins no connection.
    assert_eq!(positions(&syn(0xffff_ffff)), None);
    assert_eq!(positions(&data(1501, 500)), Some((1501, 2001)));
    assert_eq!(positions(&syn(4999)), None);
    assert_eq!(positions(&data(5001, 100)), Some((2002, 2102)));
    assert_eq!(positions(&syn(9999)), None);
    assert_eq!(positions(&data(10_001, 100)), Some((2103, 2203)));
}

/// Each connection of a flow numbers its own segments and copies. The numbers of packets go on.
#[test]
fn segment_numbers_restart_after_a_new_syn() {
    let syn = |seq| {
        let mut segment = packets::segment(1, 0);
        (segment.seq, segment.flags) = (eifel_packet::seq::Seq(seq), eifel_packet::segment::Flags::SYN);
        packets::packet(&segment)
    };
    let sent = [
        // A connection older than the box: positions count from the first data seen.
        (data(7001, 100), (1, 0), Some((1, 101))),
        (data(7101, 100), (2, 0), Some((101, 201))),
        (data(7001, 100), (1, 1), Some((1, 101))),
        (data(7001, 300), (1, 2), Some((1, 301))),
        // The new data in the segment before has a number of its own, 3.
        (data(7301, 100), (4, 0), Some((301, 401))),
        (syn(0x8000_0000), (0, 0), None),
        (data(0x8000_0002, 50), (1, 0), Some((402, 452))),
        (data(0x8000_0034, 50), (2, 0), Some((452, 502))),
        (data(0x8000_0002, 50), (1, 1), Some((402, 452))),
        (syn(0x8000_0000), (0, 0), None),
        (data(0x8000_0034, 50), (2, 1), Some((452, 502))),
        // A bare acknowledgement is no data segment.
        (data(0x8000_0066, 0), (0, 0), None),
        (syn(5), (0, 0), None),
        (data(7, 10), (1, 0), Some((503, 513))),
        (data(7, 10), (1, 1), Some((503, 513))),
    ];
    let mut flows = Flows::default();
    for (number, (packet, label, positions)) in (1..).zip(sent) {
        let seen = flows.see(Direction::There, &packet);
        let found = seen.data.map(|data| (data.start, data.end));
        assert_eq!((seen.label.segment, seen.label.copy), label, "packet {number}");
        assert_eq!((seen.number, seen.label.flow, found), (number, 0, positions), "packet {number}");
    }
}
