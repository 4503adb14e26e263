//! A random sender, receiver and path, and a capture somewhere on that path.
//!
//! This is not a model of a stack: the sender repairs by SACK, duplicate ACKs and timeouts, and
//! sometimes without a reason. So the analysis has to cope with unusual packet orders.

use std::collections::{BTreeMap, BTreeSet};

use eifel_capture::analysis::{Analysis, Analyzer};
use eifel_capture::frame::read::Frame;
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Ecn, Header};
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_testkit::random::Random;
use eifel_testkit::recorded::is_recorded;

const SENDER: u32 = 4_294_960_000;
const RECEIVER: u32 = 7;
/// Bytes per unit. Data are counted in units; a segment has one to three of them.
const UNIT: u32 = 500;
const MS: u64 = 1_000_000;
const BEGIN: u64 = 1_000_000_000_000;

/// The parameters of a conversation. Times are in nanoseconds, and chances are per thousand.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    stamps: bool,
    sack: bool,
    dsack: bool,
    /// The tick of the timestamp clock.
    tick: u64,
    /// One-way delays: from the sender to the capture point, and from there to the receiver.
    legs: [u64; 2],
    lost: u64,
    acks_lost: u64,
    late: u64,
    doubled: u64,
    /// Chance of a retransmission without a reason.
    idle: u64,
    /// Chance of an ACK that changes the window or carries data.
    other: u64,
    delayed_acks: bool,
    /// Whether new data leave first after a timeout (RFC 5682).
    forward: bool,
    /// A delay spike: packets that pass between the two times arrive at the second. `true` delays
    /// data, `false` delays ACKs.
    spike: (u64, u64, bool),
    window: u32,
    units: u32,
}

impl Setup {
    pub fn draw(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9) ^ 0xe1fe1);
        let mut one_of = |choices: &[u64]| choices[random.below(choices.len() as u64) as usize];
        let legs = [one_of(&[3, 20, 60]) * MS, one_of(&[20_000, 20_000, 15 * MS, 40 * MS])];
        let begins = 100 + one_of(&[50, 200, 400]);
        Self {
            stamps: one_of(&[0, 1, 1]) == 1,
            sack: one_of(&[0, 1, 1]) == 1,
            dsack: one_of(&[0, 1]) == 1,
            tick: one_of(&[1, 1, 4, 10, 100]) * MS,
            legs,
            lost: one_of(&[0, 10, 40]),
            acks_lost: one_of(&[0, 0, 50, 200]),
            late: one_of(&[0, 0, 20, 60]),
            doubled: one_of(&[0, 0, 10]),
            idle: one_of(&[0, 0, 5, 30]),
            other: one_of(&[0, 30]),
            delayed_acks: one_of(&[0, 1]) == 1,
            forward: one_of(&[0, 1]) == 1,
            spike: (begins * MS, (begins + one_of(&[0, 150, 400, 900])) * MS, one_of(&[0, 1]) == 1),
            window: one_of(&[4, 10, 24, 40]) as u32,
            units: one_of(&[60, 150, 300]) as u32,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    from_sender: bool,
    flags: Flags,
    /// In bytes, from the first one of the sender or receiver.
    seq: u32,
    ack: u32,
    len: u32,
    window: u16,
    stamps: (u32, u32),
    /// In units.
    blocks: [(u32, u32); 4],
    count: usize,
}

enum Event {
    Passes(Packet),
    Arrives(Packet),
    Expires(u64),
    Acknowledges,
}

pub struct Conversation {
    setup: Setup,
    random: Random,
    now: u64,
    serial: u64,
    events: BTreeMap<(u64, u64), Event>,
    analyzer: Analyzer,
    frame: u64,
    // State of the sender, in units.
    una: u32,
    nxt: u32,
    sacked: BTreeSet<u32>,
    /// The units repaired in this recovery.
    repaired: BTreeSet<u32>,
    duplicates: u32,
    recovers_to: u32,
    goes_back: bool,
    /// Whether new data leave before the next repair.
    forward: bool,
    window: u32,
    timer: u64,
    back_off: u32,
    /// The receiver's newest timestamp, and the end of its data.
    heard: (u32, u32),
    // State of the receiver.
    there: BTreeSet<u32>,
    expected: u32,
    last_acked: u32,
    /// The timestamp to echo, and the number of bytes sent.
    recent: u32,
    said: u32,
    held: u32,
    advertised: u16,
}

impl Conversation {
    pub fn new(setup: Setup, seed: u64) -> Self {
        Self {
            setup,
            random: Random(seed),
            now: 0,
            serial: 0,
            events: BTreeMap::new(),
            analyzer: Analyzer::default(),
            frame: 0,
            una: 0,
            nxt: 0,
            sacked: BTreeSet::new(),
            repaired: BTreeSet::new(),
            duplicates: 0,
            recovers_to: 0,
            goes_back: false,
            forward: false,
            window: 4,
            timer: 0,
            back_off: 0,
            heard: (0, 1),
            there: BTreeSet::new(),
            expected: 0,
            last_acked: 0,
            recent: 0,
            said: 1,
            held: 0,
            advertised: 60_000,
        }
    }

    /// Runs until the sender has sent everything. Returns the analysis of the capture.
    pub fn run(mut self) -> Analysis {
        let [before, after] = self.setup.legs;
        let hello = |from_sender, flags, ack, stamps| Packet {
            from_sender,
            flags,
            seq: u32::from(flags == Flags::ACK),
            ack,
            len: 0,
            window: 60_000,
            stamps,
            blocks: [(0, 0); 4],
            count: 0,
        };
        let answered = 2 * after + before;
        let acked = self.stamp(answered);
        self.show(before, &hello(true, Flags::SYN, 0, (self.stamp(0), 0)));
        let offer = hello(false, Flags::SYN.with(Flags::ACK), 1, (self.stamp(before + after), self.stamp(0)));
        self.show(answered, &offer);
        self.now = 2 * (before + after);
        self.heard.0 = offer.stamps.0;
        let last = hello(true, Flags::ACK, 1, (self.stamp(self.now).max(acked), self.heard.0));
        self.at(before, Event::Passes(last));
        self.fill();
        while let Some(((now, _), event)) = self.events.pop_first() {
            self.now = now;
            match event {
                Event::Passes(packet) => {
                    self.show(now, &packet);
                    self.travel(packet, true);
                }
                Event::Arrives(packet) if packet.from_sender => self.receive(&packet),
                Event::Arrives(packet) => self.hear(&packet),
                Event::Expires(timer) if timer == self.timer && self.una < self.nxt => self.expire(),
                Event::Acknowledges if self.held > 0 => self.acknowledge(None),
                Event::Expires(_) | Event::Acknowledges => {}
            }
            if self.frame > 3000 {
                break;
            }
        }
        let mut found = self.analyzer.finish();
        for one in &mut found.retransmissions {
            one.first_told.retain(|told| is_recorded("detect", told.detector));
        }
        found
    }

    fn at(&mut self, later: u64, event: Event) {
        self.serial += 1;
        self.events.insert((self.now + later, self.serial), event);
    }

    fn stamp(&self, nanos: u64) -> u32 {
        (nanos / self.setup.tick) as u32 + 1
    }

    /// Sends a packet over one of its two legs.
    fn travel(&mut self, packet: Packet, passed: bool) {
        let Setup { legs, lost, acks_lost, late, doubled, spike: (from, to, of_data), .. } = self.setup;
        let lost = if packet.from_sender { lost } else { acks_lost };
        if self.random.chance(lost) && packet.len + packet.ack > 1 {
            return;
        }
        let leg = legs[usize::from(packet.from_sender == passed)];
        let mut takes = leg;
        if self.random.chance(late) {
            takes += self.random.below(40) * MS;
        }
        if (from..to).contains(&self.now) && packet.from_sender == of_data && leg >= MS {
            takes += to - self.now;
        }
        let event = || if passed { Event::Arrives(packet) } else { Event::Passes(packet) };
        self.at(takes, event());
        if self.random.chance(doubled) {
            let more = self.random.below(5) * MS;
            self.at(takes + more, event());
        }
    }

    // Methods of the sender.

    fn send(&mut self, from: u32, units: u32) {
        let packet = Packet {
            from_sender: true,
            flags: Flags::ACK,
            seq: 1 + from * UNIT,
            ack: self.heard.1,
            len: units * UNIT,
            window: 60_000,
            stamps: (self.stamp(self.now), self.heard.0),
            blocks: [(0, 0); 4],
            count: 0,
        };
        self.travel(packet, false);
    }

    fn fill(&mut self) {
        let idle = self.una == self.nxt;
        while self.nxt < self.setup.units && self.nxt - self.una < self.window {
            let units = [2, 2, 2, 2, 1, 3][self.random.below(6) as usize].min(self.setup.units - self.nxt);
            self.send(self.nxt, units);
            self.nxt += units;
        }
        if idle {
            self.restart();
        }
    }

    /// Sends data again, not always in the same segments.
    fn resend(&mut self, from: u32) {
        let units = [2, 2, 2, 1, 3][self.random.below(5) as usize].min(self.nxt - from);
        self.repaired.extend(from..from + units);
        self.send(from, units);
    }

    fn restart(&mut self) {
        self.timer += 1;
        let round_trip = 2 * (self.setup.legs[0] + self.setup.legs[1]);
        let rto = (round_trip + 200 * MS) << self.back_off.min(6);
        self.at(rto, Event::Expires(self.timer));
    }

    fn expire(&mut self) {
        self.back_off += 1;
        (self.recovers_to, self.goes_back, self.duplicates) = (self.nxt, true, 0);
        self.forward = self.setup.forward;
        self.repaired.clear();
        self.window = (self.window / 2).max(4);
        self.resend(self.una);
        self.restart();
    }

    fn hear(&mut self, packet: &Packet) {
        let ack = packet.ack.saturating_sub(1) / UNIT;
        self.heard = (self.heard.0.max(packet.stamps.0), self.heard.1.max(packet.seq + packet.len));
        let before = self.sacked.len();
        for (from, to) in &packet.blocks[..packet.count] {
            self.sacked.extend((*from).max(self.una)..*to);
        }
        let news = self.sacked.len() > before;
        if ack > self.una {
            self.una = ack;
            self.sacked = self.sacked.split_off(&ack);
            (self.duplicates, self.back_off) = (0, 0);
            self.restart();
            if std::mem::take(&mut self.forward) {
                self.window = self.nxt - self.una + 4;
            } else if self.una < self.recovers_to {
                self.repair();
            } else {
                self.goes_back = false;
                self.window = (self.window + 2).min(self.setup.window);
            }
        } else if ack == self.una && self.nxt > self.una && (news || !self.setup.sack) {
            self.duplicates += 1;
            if self.duplicates == 3 && self.una >= self.recovers_to {
                self.recovers_to = self.nxt;
                self.repaired.clear();
                self.window = (self.window / 2).max(4);
                self.resend(self.una);
                self.restart();
            } else if self.setup.sack && self.una < self.recovers_to {
                self.repair();
            }
        }
        if self.nxt > self.una && self.random.chance(self.setup.idle) {
            let from = self.una + self.random.below(u64::from(self.nxt - self.una)) as u32;
            self.resend(from);
        }
        self.fill();
    }

    /// Sends the next missing data.
    fn repair(&mut self) {
        let highest =
            if self.goes_back { self.recovers_to } else { self.sacked.last().copied().unwrap_or(self.una + 1) };
        let missing =
            (self.una..highest).filter(|unit| !self.sacked.contains(unit) && !self.repaired.contains(unit)).take(3);
        let missing: Vec<u32> = missing.collect();
        let mut next = 0;
        for unit in missing {
            if unit >= next && unit < self.nxt {
                self.resend(unit);
                next = unit + 3;
            }
        }
    }

    // Methods of the receiver.

    fn receive(&mut self, packet: &Packet) {
        if packet.len == 0 {
            return;
        }
        let from = (packet.seq - 1) / UNIT;
        let to = from + packet.len / UNIT;
        let known = to <= self.expected || (from..to).all(|unit| self.there.contains(&unit));
        if from <= self.last_acked {
            self.recent = self.recent.max(packet.stamps.0);
        }
        let in_order = from == self.expected && self.there.is_empty();
        self.there.extend(from.max(self.expected)..to.max(self.expected));
        while self.there.remove(&self.expected) {
            self.expected += 1;
        }
        if in_order && !known && self.setup.delayed_acks && self.held == 0 {
            self.held = 1;
            self.at(40 * MS, Event::Acknowledges);
        } else {
            self.acknowledge(Some((from, to, known)));
        }
    }

    fn acknowledge(&mut self, last: Option<(u32, u32, bool)>) {
        self.held = 0;
        self.last_acked = self.expected;
        let (mut blocks, mut count) = ([(0, 0); 4], 0);
        let most = if self.setup.stamps { 3 } else { 4 };
        if self.setup.sack {
            let mut add = |block| {
                if count < most && !blocks[..count].contains(&block) {
                    blocks[count] = block;
                    count += 1;
                }
            };
            let runs = self.runs();
            if let Some((from, to, known)) = last {
                if known && self.setup.dsack {
                    add((from, to));
                }
                // The block with the latest segment comes first (RFC 2018).
                runs.iter().filter(|run| run.0 <= from && to <= run.1).for_each(|run| add(*run));
            }
            runs.iter().rev().for_each(|run| add(*run));
        }
        let mut len = 0;
        if self.random.chance(self.setup.other) {
            self.advertised += 1;
        } else if self.random.chance(self.setup.other) {
            len = 100;
        }
        let packet = Packet {
            from_sender: false,
            flags: Flags::ACK,
            seq: self.said,
            ack: 1 + self.expected * UNIT,
            len,
            window: self.advertised,
            stamps: (self.stamp(self.now), self.recent),
            blocks,
            count,
        };
        self.said += len;
        self.travel(packet, false);
    }

    fn runs(&self) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for unit in &self.there {
            match runs.last_mut() {
                Some(last) if last.1 == *unit => last.1 += 1,
                _ => runs.push((*unit, *unit + 1)),
            }
        }
        runs
    }

    // Methods of the capture.

    fn show(&mut self, now: u64, packet: &Packet) {
        let mut sack = SackBlocks::EMPTY;
        let position = |unit: u32| Seq(SENDER.wrapping_add(1 + unit * UNIT));
        for (from, to) in &packet.blocks[..packet.count] {
            sack.push(position(*from), position(*to));
        }
        let (value, echo) = packet.stamps;
        let options = Options {
            mss: packet.flags.has(Flags::SYN).then_some(1460),
            sack_permitted: packet.flags.has(Flags::SYN) && self.setup.sack,
            timestamps: self.setup.stamps.then_some(Timestamps { value, echo }),
            sack,
            ..Options::default()
        };
        let (here, there) = if packet.from_sender { (SENDER, RECEIVER) } else { (RECEIVER, SENDER) };
        let (source_port, destination_port) = if packet.from_sender { (1000, 80) } else { (80, 1000) };
        let segment = Segment {
            source_port,
            destination_port,
            seq: Seq(here.wrapping_add(packet.seq)),
            ack: Seq(there.wrapping_add(packet.ack)),
            flags: packet.flags,
            window: packet.window,
            options,
            payload_len: packet.len,
            ecn: Ecn::NotEct,
        };
        let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let addresses = if packet.from_sender { addresses } else { addresses.reversed() };
        let mut header = Header::new(addresses);
        header.identification = self.frame as u16 + 1;
        let mut bytes = Vec::new();
        datagram::emit(&header, &segment, &[], &mut bytes).expect("it fits a packet");
        self.frame += 1;
        let wire_len = bytes.len() as u32 + packet.len;
        let (number, nanos) = (self.frame, BEGIN + now);
        self.analyzer.frame(&Frame { number, nanos, link: 101, interface: 0, wire_len, bytes: &bytes });
    }
}
