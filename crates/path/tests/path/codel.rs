//! CoDel and FQ-CoDel: cases worked out by hand, and naive models that follow the RFCs step by step.

use crate::common::{MS, Run, burst, megabit, run, run_seeded, sized};
use crate::properties::{any_link, any_traffic};
use eifel_base::time::Duration;
use eifel_base::units::Rate;
use eifel_path::config::LinkConfig;
use eifel_path::parcel::{DropCause, Label, Labelled, Mark};
use eifel_path::queue::QueueConfig;
use eifel_path::queue::codel::{CodelConfig, Law};
use eifel_path::queue::fq_codel::FqCodelConfig;
use proptest::prelude::*;
use std::collections::VecDeque;

const LAW: Law = Law { target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: false };

fn codel(law: Law, limit_packets: u32) -> LinkConfig {
    LinkConfig { queue: QueueConfig::Codel(CodelConfig { law, limit_packets }), ..megabit() }
}

fn fq_codel(config: FqCodelConfig) -> LinkConfig {
    LinkConfig { queue: QueueConfig::FqCodel(config), ..megabit() }
}

const FQ: FqCodelConfig = FqCodelConfig { law: LAW, limit_packets: 10_240, queues: 1024, quantum_bytes: 1514 };

fn dropped_by(result: &Run, cause: DropCause) -> Vec<u32> {
    result.dropped.iter().filter(|&&(_, other)| other == cause).map(|&(handle, _)| handle).collect()
}

fn of_flow(flow: u32, one: Labelled) -> Labelled {
    Labelled { label: Label { flow, ..one.label }, ..one }
}

fn with_ecn((at, one): (u64, Labelled)) -> (u64, Labelled) {
    (at, Labelled { label: Label { takes_marks: true, ..one.label }, ..one })
}

/// Packets leave each 8 ms. That at 8 ms has waited too long, so from 108 ms on packets may be dropped: the 15th at
/// 112 ms. The next times to drop are 212, then 100 / sqrt(count) ms later each: 282.7, 340.4, 390.4, 435.2.
#[test]
fn drops_come_closer_by_the_square_root_of_their_count() {
    let result = run(&codel(LAW, 1000), &burst(0, 63));
    assert_eq!(dropped_by(&result, DropCause::Codel), [15, 29, 39, 47, 54, 61]);
    // The transmitter never stands still: 57 packets in 57 times 8 ms.
    assert_eq!(result.arrived.last(), Some(&(57 * 8 * MS + 100 * MS, 63)));
}

#[test]
fn the_last_packets_are_not_dropped() {
    // Behind the 61st only 1000 bytes are left, no more than the longest packet.
    let result = run(&codel(LAW, 1000), &burst(0, 62));
    assert_eq!(dropped_by(&result, DropCause::Codel), [15, 29, 39, 47, 54]);
}

#[test]
fn a_queue_that_drains_within_an_interval_loses_nothing() {
    assert_eq!(run(&codel(LAW, 1000), &burst(0, 14)).dropped, []);
}

#[test]
fn what_finds_no_room_is_dropped_at_the_tail() {
    // The first is in transmission, three wait.
    assert_eq!(run(&codel(LAW, 3), &burst(0, 5)).dropped, [(5, DropCause::Queue)]);
}

#[test]
fn packets_with_ecn_are_marked_in_place_of_each_drop_and_sent() {
    let traffic: Vec<_> = burst(0, 63).into_iter().map(with_ecn).collect();
    let result = run(&codel(Law { ecn: true, ..LAW }, 1000), &traffic);
    assert_eq!(result.dropped, []);
    assert_eq!(result.arrived.len(), 63);
    // Times to drop as above. Nothing is taken out besides, so the packets at 112, 216, 288, 344, 392, 440 and 480 ms.
    assert_eq!(result.marked, [15, 28, 37, 44, 50, 56, 61].map(|handle| (handle, Mark::Congestion)));
    let without = run(&codel(LAW, 1000), &traffic);
    assert_eq!((without.marked.len(), without.dropped.len()), (0, 6));
}

/// A queue that stands again within 16 intervals goes on with the drops of the last time, less the first.
#[test]
fn a_queue_that_stands_again_soon_is_dropped_from_at_once_as_often() {
    let again = |at: u64| (64..=126).map(move |handle| (at, sized(handle, 1000)));
    let gaps = |at: u64| {
        let traffic: Vec<_> = burst(0, 63).into_iter().chain(again(at * MS)).collect();
        let drops = dropped_by(&run(&codel(LAW, 1000), &traffic), DropCause::Codel);
        (drops[6] - 63, drops[7] - drops[6])
    };
    // Six drops before, the last of them counted from one: 100 / sqrt(5) = 44.7 ms, six packets.
    assert_eq!(gaps(1000), (15, 7));
    // 435.2 + 44.7 ms was the next time to drop. 16 intervals later it is forgotten.
    assert_eq!(gaps(2000), (15, 14));
}

#[test]
fn flows_take_turns_and_a_flow_without_backlog_goes_first() {
    // Flow 0 sends 6 packets at once; flow 1 sends one when the third is in transmission.
    let mut traffic: Vec<_> = burst(0, 6).into_iter().map(|(at, one)| (at, of_flow(0, one))).collect();
    traffic.push((17 * MS, of_flow(1, sized(7, 1000))));
    let result = run(&fq_codel(FQ), &traffic);
    assert_eq!(result.handles(), [1, 2, 3, 7, 4, 5, 6]);
    // The time of each is the transmitter's.
    assert_eq!(result.times(), (1..=7).map(|count| (count * 8 + 100) * MS).collect::<Vec<_>>());
}

#[test]
fn turns_are_by_bytes() {
    // 1500 bytes against five times 300: one packet of flow 0 for each five of flow 1, after the first turns.
    let large = (1..=3).map(|handle| (0, of_flow(0, sized(handle, 1500))));
    let small = (4..=18).map(|handle| (0, of_flow(1, sized(handle, 300))));
    let result = run(&fq_codel(FqCodelConfig { quantum_bytes: 1500, ..FQ }), &large.chain(small).collect::<Vec<_>>());
    assert_eq!(result.handles(), [1, 4, 5, 6, 7, 8, 2, 9, 10, 11, 12, 13, 3, 14, 15, 16, 17, 18]);
}

#[test]
fn an_overload_drops_half_of_the_longest_queue_from_its_head() {
    // Packet 1 is in transmission. Flow 0 has 8 waiting, flow 1 two; the eleventh is one too many.
    let mut traffic: Vec<_> = burst(0, 9).into_iter().map(|(at, one)| (at, of_flow(0, one))).collect();
    traffic.extend((10..=12).map(|handle| (0, of_flow(1, sized(handle, 1000)))));
    let result = run(&fq_codel(FqCodelConfig { limit_packets: 10, ..FQ }), &traffic);
    assert_eq!(result.dropped, [2, 3, 4, 5].map(|handle| (handle, DropCause::Queue)));
}

#[test]
fn each_flow_has_a_control_law_of_its_own() {
    // Flow 0 stands, flow 1 sends a packet every 50 ms: only the former loses any.
    let mut traffic: Vec<_> = burst(0, 80).into_iter().map(|(at, one)| (at, of_flow(0, one))).collect();
    traffic.extend((0..12).map(|number| (number * 50 * MS, of_flow(1, sized(1000 + number as u32, 200)))));
    traffic.sort_by_key(|&(at, one)| (at, one.parcel.handle));
    let dropped = dropped_by(&run(&fq_codel(FQ), &traffic), DropCause::Codel);
    assert!(!dropped.is_empty() && dropped.iter().all(|&handle| handle <= 80), "{dropped:?}");
}

#[test]
fn senseless_parameters_are_named() {
    let none = |config: LinkConfig| config.check().unwrap_err().to_string();
    let zero = Law { target: Duration::ZERO, ..LAW };
    assert_eq!(none(codel(zero, 10)), "queue.target_ms: 0; allowed: more than 0");
    assert_eq!(none(codel(LAW, 0)), "queue.packets: 0; allowed: 1 or more");
    assert_eq!(none(fq_codel(FqCodelConfig { queues: 0, ..FQ })), "queue.queues: 0; allowed: 1 or more");
    let unlimited = LinkConfig { capacity: eifel_path::config::Capacity::Unlimited, ..codel(LAW, 10) };
    let problem = "queue: an early drop on a link of unlimited capacity; allowed: a link with a rate or a trace";
    assert_eq!(none(unlimited), problem);
}

/// A packet of the naive models.
#[derive(Clone, Copy)]
struct Packet {
    timestamp: u64,
    one: Labelled,
}

impl Packet {
    fn bytes(&self) -> u64 {
        u64::from(self.one.parcel.bytes)
    }
}

/// What the naive models did, besides transmitting.
#[derive(Default)]
struct Log {
    dropped: Vec<(u32, DropCause)>,
    marked: Vec<(u32, Mark)>,
}

/// RFC 8289, section 5, with its names. 0 is "no time set".
#[derive(Clone, Default)]
struct NaiveCodel {
    queue: VecDeque<Packet>,
    first_above_time: u64,
    drop_next: u64,
    count: u64,
    lastcount: u64,
    dropping: bool,
}

impl NaiveCodel {
    fn control_law(law: &Law, t: u64, count: u64) -> u64 {
        t + (law.interval.as_nanos() as f64 / (count as f64).sqrt()) as u64
    }

    fn dodequeue(&mut self, (law, maxpacket): (&Law, u64), now: u64) -> (Option<Packet>, bool) {
        let Some(p) = self.queue.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        let bytes: u64 = self.queue.iter().map(Packet::bytes).sum();
        let mut ok_to_drop = false;
        if now - p.timestamp < law.target.as_nanos() || bytes <= maxpacket {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + law.interval.as_nanos();
        } else if now >= self.first_above_time {
            ok_to_drop = true;
        }
        (Some(p), ok_to_drop)
    }

    /// Drops the packet, or marks it. Returns whether it was marked.
    fn drop(law: &Law, packet: Option<Packet>, log: &mut Log) -> bool {
        let Labelled { parcel, label } = packet.unwrap().one;
        if law.ecn && label.takes_marks {
            log.marked.push((parcel.handle, Mark::Congestion));
            return true;
        }
        log.dropped.push((parcel.handle, DropCause::Codel));
        false
    }

    fn dequeue(&mut self, with: (&Law, u64), now: u64, log: &mut Log) -> Option<Packet> {
        let law = with.0;
        let mut r = self.dodequeue(with, now);
        if self.dropping {
            if !r.1 {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                let marked = Self::drop(law, r.0, log);
                self.count += 1;
                if marked {
                    self.drop_next = Self::control_law(law, self.drop_next, self.count);
                    return r.0;
                }
                r = self.dodequeue(with, now);
                if !r.1 {
                    self.dropping = false;
                } else {
                    self.drop_next = Self::control_law(law, self.drop_next, self.count);
                }
            }
        } else if r.1 {
            if !Self::drop(law, r.0, log) {
                r = self.dodequeue(with, now);
            }
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            let since = i128::from(now) - i128::from(self.drop_next);
            if delta > 1 && since < i128::from(16 * law.interval.as_nanos()) {
                self.count = delta;
            }
            self.drop_next = Self::control_law(law, now, self.count);
            self.lastcount = self.count;
        }
        r.0
    }
}

/// RFC 8290, section 4, with a queue for each flow.
struct NaiveFq {
    config: FqCodelConfig,
    queues: Vec<(NaiveCodel, i64)>,
    new: Vec<usize>,
    old: Vec<usize>,
    maxpacket: u64,
}

impl NaiveFq {
    fn enqueue(&mut self, packet: Packet, log: &mut Log) {
        let flow = packet.one.label.flow as usize;
        self.maxpacket = self.maxpacket.max(packet.bytes());
        self.queues[flow].0.queue.push_back(packet);
        if !self.new.contains(&flow) && !self.old.contains(&flow) {
            self.new.push(flow);
            self.queues[flow].1 = i64::from(self.config.quantum_bytes);
        }
        let total: usize = self.queues.iter().map(|(codel, _)| codel.queue.len()).sum();
        if total > self.config.limit_packets as usize {
            let bytes = |flow: usize| -> u64 { self.queues[flow].0.queue.iter().map(Packet::bytes).sum() };
            let most = (0..self.queues.len()).map(bytes).max().unwrap();
            let longest: Vec<usize> = (0..self.queues.len()).filter(|&flow| bytes(flow) == most).collect();
            // Which of several is longest depends on the hash: the model is asked about one at a time.
            assert_eq!(longest.len(), 1, "ambiguous");
            let queue = &mut self.queues[longest[0]].0.queue;
            for packet in queue.drain(..(queue.len() / 2).clamp(1, 64)) {
                log.dropped.push((packet.one.parcel.handle, DropCause::Queue));
            }
        }
    }

    fn dequeue(&mut self, now: u64, log: &mut Log) -> Option<Packet> {
        loop {
            let from_new = !self.new.is_empty();
            let flow = *if from_new { self.new.first() } else { self.old.first() }?;
            let leave = |fq: &mut Self| if from_new { fq.new.remove(0) } else { fq.old.remove(0) };
            if self.queues[flow].1 <= 0 {
                self.queues[flow].1 += i64::from(self.config.quantum_bytes);
                leave(self);
                self.old.push(flow);
                continue;
            }
            match self.queues[flow].0.dequeue((&self.config.law, self.maxpacket), now, log) {
                Some(packet) => {
                    self.queues[flow].1 -= packet.bytes() as i64;
                    return Some(packet);
                }
                None => {
                    leave(self);
                    if from_new {
                        self.old.push(flow);
                    }
                }
            }
        }
    }
}

/// A queue of the naive models.
enum Naive {
    Codel { config: CodelConfig, codel: NaiveCodel, maxpacket: u64 },
    Fq(NaiveFq),
}

impl Naive {
    fn enqueue(&mut self, packet: Packet, log: &mut Log) {
        match self {
            Self::Codel { config, codel, .. } if codel.queue.len() >= config.limit_packets as usize => {
                log.dropped.push((packet.one.parcel.handle, DropCause::Queue));
            }
            Self::Codel { codel, maxpacket, .. } => {
                *maxpacket = packet.bytes().max(*maxpacket);
                codel.queue.push_back(packet);
            }
            Self::Fq(fq) => fq.enqueue(packet, log),
        }
    }

    fn dequeue(&mut self, now: u64, log: &mut Log) -> Option<Packet> {
        match self {
            Self::Codel { config, codel, maxpacket } => codel.dequeue((&config.law, *maxpacket), now, log),
            Self::Fq(fq) => fq.dequeue(now, log),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Codel { codel, .. } => codel.queue.is_empty(),
            Self::Fq(fq) => fq.queues.iter().all(|(codel, _)| codel.queue.is_empty()),
        }
    }

    /// Steps a transmitter of this rate, with 100 ms behind it, through time.
    fn run(mut self, rate: Rate, traffic: &[(u64, Labelled)]) -> Run {
        let (mut log, mut arrived, mut free_at) = (Log::default(), Vec::new(), 0);
        let mut begin = |queue: &mut Self, now: u64, free_at: &mut u64, log: &mut Log| {
            if let Some(packet) = queue.dequeue(now, log) {
                *free_at = now + rate.time_for(packet.one.parcel.bytes).as_nanos();
                arrived.push((*free_at + 100 * MS, packet.one.parcel.handle));
            }
        };
        let last = (u64::MAX, None);
        for (at, one) in traffic.iter().map(|&(at, one)| (at, Some(one))).chain([last]) {
            while !self.is_empty() && free_at <= at {
                begin(&mut self, free_at, &mut free_at, &mut log);
            }
            if let Some(one) = one {
                self.enqueue(Packet { timestamp: at, one }, &mut log);
                if free_at <= at {
                    begin(&mut self, at, &mut free_at, &mut log);
                }
            }
        }
        Run { arrived, dropped: log.dropped, doubled: Vec::new(), marked: log.marked }
    }
}

prop_compose! {
    fn any_law()(target in 1u64..60, interval in 1u64..200, ecn: bool) -> Law {
        Law { target: Duration::from_millis(target), interval: Duration::from_millis(interval), ecn }
    }
}

/// Every third packet takes marks.
fn some_with_ecn(traffic: Vec<(u64, Labelled)>) -> Vec<(u64, Labelled)> {
    traffic.into_iter().map(|each| if each.1.parcel.handle % 3 == 0 { with_ecn(each) } else { each }).collect()
}

proptest! {
    #[test]
    fn codel_agrees_with_a_naive_model(
        law in any_law(), limit_packets in 1u32..100, bps in 100_000u64..2_000_000, traffic in any_traffic(),
    ) {
        let (rate, traffic) = (Rate::from_bps(bps).unwrap(), some_with_ecn(traffic));
        let config = CodelConfig { law, limit_packets };
        let link = LinkConfig { queue: QueueConfig::Codel(config), ..LinkConfig::plain(rate, megabit().delay) };
        let naive = Naive::Codel { config, codel: NaiveCodel::default(), maxpacket: 512 };
        prop_assert_eq!(run(&link, &traffic), naive.run(rate, &traffic));
    }

    #[test]
    fn fq_codel_agrees_with_a_naive_model(
        law in any_law(), quantum_bytes in 1u32..4000, bps in 100_000u64..2_000_000, traffic in any_traffic(),
    ) {
        let (rate, traffic) = (Rate::from_bps(bps).unwrap(), some_with_ecn(traffic));
        // With this seed the three flows have a queue each. The limit is out of reach: see the case above.
        let config = FqCodelConfig { law, limit_packets: 10_240, queues: 65_536, quantum_bytes };
        let link = LinkConfig { queue: QueueConfig::FqCodel(config), ..LinkConfig::plain(rate, megabit().delay) };
        let queues = vec![(NaiveCodel::default(), 0); 3];
        let naive = Naive::Fq(NaiveFq { config, queues, new: Vec::new(), old: Vec::new(), maxpacket: 512 });
        prop_assert_eq!(run_seeded(&link, &traffic, 1), naive.run(rate, &traffic));
    }

    /// With an endless target, parcels leave when departures that are computed in advance say so: over recorded links,
    /// changing rates and spikes too.
    #[test]
    fn codel_that_never_acts_is_a_plain_queue(mut link in any_link(), traffic in any_traffic()) {
        let law = Law { target: Duration::from_secs(100_000), ..LAW };
        link.elements.clear();
        link.queue = QueueConfig::Codel(CodelConfig { law, limit_packets: 1000 });
        let served = run(&link, &traffic);
        link.queue = QueueConfig::Unlimited;
        prop_assert_eq!(served, run(&link, &traffic));
    }
}
