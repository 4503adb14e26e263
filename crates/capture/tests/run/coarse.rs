//! Analyses of drawn TCP packets on a coarse clock. Times, positions and timestamps are often at
//! the limits of the analysis.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::fmt::Write;

use eifel_capture::analysis::{Analysis, Analyzer, Totals};
use eifel_capture::frame::read::Frame;
use eifel_packet::datagram;
use eifel_packet::ip::{Addresses, Ecn, Header};
use eifel_packet::segment::{Flags, Options, SackBlocks, Segment, Timestamps};
use eifel_packet::seq::Seq;
use eifel_testkit::random::Random;
use eifel_testkit::recorded::is_recorded;
use eifel_testkit::{digest, golden};

const CONVERSATIONS: u64 = 6000;
/// Cases per digest.
const TOGETHER: u64 = 60;
const MS: u64 = 1_000_000;
const BEGIN: u64 = 1_000_000_000_000;
const FIRST: u32 = u32::MAX - 2000;
const LEN: u32 = 100;

/// Returns one of these numbers, or sometimes the number before or after it.
fn near(random: &mut Random, choices: &[u64]) -> u64 {
    (random.one_of(choices) + random.one_of(&[1, 1, 1, 0, 2])).saturating_sub(1)
}

/// A client that sends data, and a server that acknowledges them. Positions count segments of
/// [`LEN`] bytes.
struct Talk {
    random: Random,
    now: u64,
    una: u32,
    nxt: u32,
    /// The number of bytes that the server has sent.
    back: u32,
    sack: bool,
    stamped: bool,
    /// Milliseconds per tick of the timestamp clock.
    tick: u64,
    heard: [u32; 2],
    gaps: &'static [u64],
    twins: bool,
    identification: u16,
    analyzer: Analyzer,
    frames: u64,
    last: (Vec<u8>, u32),
}

impl Talk {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let near: &[u64] = &[0, MS / 4, MS, 3 * MS, 100 * MS, 300 * MS];
        let far: &[u64] = &[0, MS, 4 * MS, 25 * MS, 50 * MS, 100 * MS, 150 * MS, 200 * MS, 300 * MS];
        let (gaps, tick) = (random.one_of(&[near, far, far]), random.one_of(&[1, 4, 10, 100]));
        let [sack, stamped, twins] = [random.below(3) > 0, random.below(3) > 0, random.below(3) == 0];
        Self {
            random,
            now: BEGIN,
            una: 0,
            nxt: 0,
            back: 0,
            sack,
            stamped,
            tick,
            heard: [0; 2],
            gaps,
            twins,
            identification: 0,
            analyzer: Analyzer::default(),
            frames: 0,
            last: Default::default(),
        }
    }

    fn show(&mut self) {
        let (bytes, wire_len) = self.last.clone();
        self.frames += 1;
        let number = self.frames;
        self.analyzer.frame(&Frame { number, nanos: self.now, link: 101, interface: 0, wire_len, bytes: &bytes });
        if self.twins && self.random.below(3) > 0 {
            self.now += near(&mut self.random, &[20_000, 900_000, MS]);
            let number = number + 1;
            self.frames += 1;
            self.analyzer.frame(&Frame { number, nanos: self.now, link: 101, interface: 0, wire_len, bytes: &bytes });
        }
    }

    /// Adds a packet of end `side` with positions in bytes.
    fn packet(&mut self, side: usize, flags: Flags, (seq, ack): (u32, u32), len: u32, options: Options) {
        let clock = ((self.now - BEGIN) / (self.tick * MS)) as u32 + 1;
        let value = if self.random.below(20) == 0 { clock.saturating_sub(1) } else { clock };
        let echo = self.heard[1 - side];
        let timestamps = self.stamped.then_some(Timestamps { value, echo });
        let firsts = if side == 0 { [FIRST, 7] } else { [7, FIRST] };
        let (source_port, destination_port) = if side == 0 { (1000, 80) } else { (80, 1000) };
        let segment = Segment {
            source_port,
            destination_port,
            seq: Seq(firsts[0].wrapping_add(seq)),
            ack: Seq(firsts[1].wrapping_add(ack)),
            flags,
            window: if self.random.below(16) == 0 { 900 } else { 1000 },
            options: Options { timestamps, ..options },
            payload_len: len,
            ecn: Ecn::NotEct,
        };
        let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let mut header = Header::new(if side == 0 { addresses } else { addresses.reversed() });
        self.identification += 1;
        header.identification = self.identification;
        let mut bytes = Vec::new();
        datagram::emit(&header, &segment, &[], &mut bytes).unwrap();
        let wire_len = bytes.len() as u32 + len;
        self.last = (bytes, wire_len);
        self.show();
        // The echoed timestamp is not always the newest one.
        if self.random.below(5) > 0 {
            self.heard[side] = value;
        }
    }

    fn data(&mut self, again: bool) {
        let count = 1 + u32::from(self.random.below(6) == 0);
        let number = if again && self.nxt > 0 {
            let least = self.una.saturating_sub(2);
            least + self.random.below(u64::from(self.nxt - least)) as u32
        } else {
            // Sometimes the data before it were not captured.
            self.nxt + u32::from(self.random.below(12) == 0) * self.random.below(3) as u32
        };
        self.nxt = self.nxt.max(number + count);
        let (len, half) = if self.random.below(30) == 0 { (LEN / 2, LEN / 2) } else { (count * LEN, 0) };
        self.packet(0, Flags::ACK, (1 + number * LEN + half, 1 + self.back), len, Options::default());
    }

    fn ack(&mut self) {
        let room = u64::from(self.nxt - self.una);
        let mut sack = SackBlocks::EMPTY;
        let position = |number: u32| Seq(FIRST.wrapping_add(1 + number * LEN));
        let mut number = self.una;
        match self.random.below(8) {
            0..4 => number += self.random.below(room + 1) as u32,
            4 => number = number.saturating_sub(1),
            _ => {}
        }
        self.una = self.una.max(number);
        if self.sack {
            if self.random.below(8) == 0 && self.nxt > 0 {
                let left = self.random.below(u64::from(number) + 1) as u32;
                sack.push(position(left), position(left + 1));
            }
            for _ in 0..self.random.below(3) {
                let left = number + 1 + self.random.below(room + 1) as u32;
                sack.push(position(left), position((left + 1 + self.random.below(2) as u32).min(self.nxt)));
            }
        }
        let data = LEN * u32::from(self.random.below(20) == 0);
        self.packet(1, Flags::ACK, (1 + self.back, 1 + number * LEN), data, Options { sack, ..Options::default() });
        self.back += data;
    }

    /// Sends up to seven windows, all of which arrive and are acknowledged.
    fn calm(&mut self) {
        for _ in 0..self.random.below(8) {
            self.now += near(&mut self.random, &[0, 50 * MS, 100 * MS, 300 * MS]);
            for number in self.nxt..self.nxt + 1 + self.random.below(2) as u32 {
                self.packet(0, Flags::ACK, (1 + number * LEN, 1 + self.back), LEN, Options::default());
                self.nxt = number + 1;
            }
            self.now += near(&mut self.random, &[MS, 50 * MS, 100 * MS]);
            self.una = self.nxt;
            self.packet(1, Flags::ACK, (1 + self.back, 1 + self.nxt * LEN), 0, Options::default());
        }
    }

    fn run(mut self) -> (Totals, Analysis) {
        let offer =
            Options { mss: Some(LEN as u16), window_scale: Some(1), sack_permitted: self.sack, ..Options::default() };
        if self.random.below(4) > 0 {
            self.packet(0, Flags::SYN, (0, 0), 0, offer);
            self.now += near(&mut self.random, self.gaps);
            self.packet(1, Flags::SYN.with(Flags::ACK), (0, 1), 0, offer);
            self.now += near(&mut self.random, &[0, MS, 50 * MS]);
            self.packet(0, Flags::ACK, (1, 1), 0, Options::default());
        }
        for _ in 0..8 + self.random.below(60) {
            if self.random.below(24) == 0 {
                self.calm();
            }
            self.now += near(&mut self.random, self.gaps);
            match self.random.below(20) {
                0..7 => self.data(false),
                7..11 => self.data(true),
                11..19 => self.ack(),
                // Segments that repeat data without a loss, and segments that end a connection.
                _ => match self.random.below(4) {
                    0 => self.packet(0, Flags::ACK, ((self.nxt * LEN), 1), 1, Options::default()),
                    1 => self.packet(0, Flags::ACK, ((self.nxt * LEN), 1), 0, Options::default()),
                    2 => self.packet(1, Flags::ACK.with(Flags::FIN), (1 + self.back, 1), 0, Options::default()),
                    _ => {
                        let begins = self.random.below(2) as u32 * 5000;
                        self.packet(0, Flags::SYN, (begins, 0), 0, offer);
                    }
                },
            }
        }
        (self.analyzer.totals(), self.analyzer.finish())
    }
}

#[test]
fn verdicts_on_drawn_segments_match_the_golden() {
    let (mut text, mut together) = (String::new(), String::new());
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 0..CONVERSATIONS {
        let (totals, mut found) = Talk::new(seed).run();
        for one in &mut found.retransmissions {
            one.first_told.retain(|told| is_recorded("detect", told.detector));
        }
        for one in &found.retransmissions {
            *counts.entry(format!("{}, {:?}: {}", one.cause.name(), one.verdict, one.reason)).or_default() += 1;
        }
        writeln!(together, "{totals:?} {found:?}").unwrap();
        if seed % TOGETHER == TOGETHER - 1 {
            writeln!(text, "up to {seed}: {}", digest(std::mem::take(&mut together))).unwrap();
        }
    }
    for (said, count) in counts {
        writeln!(text, "{count} {said}").unwrap();
    }
    golden!("coarse.txt", text);
}
