//! Compares CoDel and FQ-CoDel with naive models that follow the RFCs step by step.

use crate::codel::{LAW, with_ecn};
use crate::common::{MS, Run, megabit, run, run_seeded};
use crate::properties::{any_link, any_traffic};
use eifel_base::time::Duration;
use eifel_base::units::Rate;
use eifel_path::config::LinkConfig;
use eifel_path::parcel::{DropCause, Labelled, Mark};
use eifel_path::queue::QueueConfig;
use eifel_path::queue::codel::{CodelConfig, Law};
use eifel_path::queue::fq_codel::FqCodelConfig;
use proptest::prelude::*;
use std::collections::VecDeque;

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

/// The drops and marks of the naive models.
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
            // If several queues are longest, the choice depends on the hash. The model allows only
            // one.
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

    /// Steps a transmitter of this rate, followed by a delay of 100 ms, through time.
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

/// Lets every third packet take marks.
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
        // With this seed each of the three flows has its own queue. The limit is out of reach,
        // because the model cannot choose among several longest queues.
        let config = FqCodelConfig { law, limit_packets: 10_240, queues: 65_536, quantum_bytes };
        let link = LinkConfig { queue: QueueConfig::FqCodel(config), ..LinkConfig::plain(rate, megabit().delay) };
        let queues = vec![(NaiveCodel::default(), 0); 3];
        let naive = Naive::Fq(NaiveFq { config, queues, new: Vec::new(), old: Vec::new(), maxpacket: 512 });
        prop_assert_eq!(run_seeded(&link, &traffic, 1), naive.run(rate, &traffic));
    }

    /// With an endless target, CoDel's departures are those that a plain queue computes in advance,
    /// also over recorded links, changing rates and spikes.
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
