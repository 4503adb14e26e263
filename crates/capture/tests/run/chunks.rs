//! Analyses of drawn SCTP packets and of their anonymised copies. Times lie at and near the limits
//! of the analysis. Few tags and ports are drawn, so that associations collide.

use std::collections::BTreeMap;
use std::fmt::Write;

use eifel_capture::analysis::Analyzer;
use eifel_capture::frame::read::Frame;
use eifel_capture::report::anonymise::Anonymiser;
use eifel_testkit::random::Random;
use eifel_testkit::recorded::is_recorded;
use eifel_testkit::{digest, golden};

const CONVERSATIONS: u64 = 3000;
/// Cases per digest.
const TOGETHER: u64 = 30;
const MS: u64 = 1_000_000;
const BEGIN: u64 = 1_000_000_000_000;
const FIRST: u32 = u32::MAX - 20;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// Returns a chunk, padded to four bytes.
fn chunk(kind: u8, value: &[u8]) -> Vec<u8> {
    let length = (value.len() as u16 + 4).to_be_bytes();
    let mut bytes = [&[kind, 3], &length[..], value].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The positions of one end's data.
#[derive(Clone, Copy)]
struct Flow {
    una: u32,
    nxt: u32,
}

/// The packets between two ends.
struct Talk {
    random: Random,
    ways: [Flow; 2],
    /// The verification tags in packets to the client and to the server.
    tags: [u32; 2],
    ports: [u16; 2],
    now: u64,
    gaps: &'static [u64],
    identification: u16,
}

impl Talk {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let way = Flow { una: 0, nxt: 0 };
        let near: &[u64] = &[0, MS / 2, MS, 3 * MS, 4 * MS];
        let far: &[u64] = &[0, MS, 4 * MS, 25 * MS, 50 * MS, 100 * MS, 150 * MS, 200 * MS, 600 * MS];
        let gaps = random.one_of(&[near, far, far]);
        Self { random, ways: [way; 2], tags: [1, 2], ports: [7, 9], now: BEGIN, gaps, identification: 0 }
    }

    fn data(&mut self, side: usize, again: bool) -> Vec<u8> {
        let way = &mut self.ways[side];
        let number = if again && way.nxt > 0 {
            let least = way.una.saturating_sub(2);
            least + self.random.below(u64::from(way.nxt - least)) as u32
        } else {
            let number = way.nxt + u32::from(self.random.below(8) == 0) * self.random.below(3) as u32;
            way.nxt = number + 1;
            number
        };
        let len = self.random.one_of(&[0, 1, 100, 400]);
        let head = words(&[FIRST.wrapping_add(number), 0, 7]);
        match self.random.below(6) {
            0 => chunk(64, &[head, vec![7; len + 4]].concat()),
            _ => chunk(0, &[head, vec![7; len]].concat()),
        }
    }

    /// Returns the other end's SACK of the data of end `side`.
    fn sack(&mut self, side: usize) -> Vec<u8> {
        let way = &mut self.ways[side];
        let room = way.nxt - way.una;
        let cumulative = way.una + self.random.below(u64::from(room) + 1) as u32 * self.random.below(2) as u32;
        way.una = cumulative;
        let beyond = u64::from(way.nxt - cumulative) + 1;
        let mut gaps = Vec::new();
        for _ in 0..self.random.below(4) {
            let first = 1 + self.random.below(beyond) as u32;
            gaps.push(first << 16 | (first + self.random.below(3) as u32));
        }
        let nxt = u64::from(self.ways[side].nxt) + 1;
        let duplicates: Vec<u32> =
            (0..self.random.below(5) / 3).map(|_| FIRST.wrapping_add(self.random.below(nxt) as u32)).collect();
        // Some SACKs are old.
        let old = u32::from(self.random.below(12) == 0);
        let tsn = FIRST.wrapping_add(cumulative).wrapping_sub(1 + old);
        let counts = (gaps.len() as u32) << 16 | duplicates.len() as u32;
        match self.random.below(5) {
            0 => {
                chunk(16, &words(&[&[tsn, 5000, counts & 0xffff_0000, counts << 16], &gaps[..], &duplicates].concat()))
            }
            _ => chunk(3, &words(&[&[tsn, 5000, counts], &gaps[..], &duplicates].concat())),
        }
    }

    fn other(&mut self, side: usize) -> Vec<u8> {
        let kind = self.random.one_of(&[1, 2, 4, 4, 5, 5, 6, 7, 9, 10, 10, 11, 11, 14, 192, 194]);
        let mine = FIRST.wrapping_add(self.ways[side].una + self.random.below(3) as u32).wrapping_sub(1);
        let others = FIRST.wrapping_add(self.ways[1 - side].nxt).wrapping_sub(1 + self.random.below(2) as u32);
        match kind {
            1 | 2 => chunk(kind, &words(&[self.tags[side], 5000, 10 << 16 | 10, FIRST])),
            4 | 5 => chunk(kind, &[0, 1, 0, 6, self.random.below(2) as u8, 9]),
            7 => chunk(kind, &words(&[others])),
            192 | 194 => chunk(kind, &words(&[mine])),
            _ => chunk(kind, &[]),
        }
    }

    fn chunk(&mut self, side: usize) -> Vec<u8> {
        match self.random.below(20) {
            0..8 => self.data(side, false),
            8..12 => self.data(side, true),
            12..17 => self.sack(1 - side),
            _ => self.other(side),
        }
    }

    fn packet(&mut self, side: usize, chunks: &[u8], tag: u32) -> Vec<u8> {
        self.identification += 1;
        let ports = if side == 0 { self.ports } else { [self.ports[1], self.ports[0]] };
        let sctp =
            [ports.map(u16::to_be_bytes).concat(), words(&[tag, u32::from(self.identification)]), chunks.to_vec()];
        let sctp = sctp.concat();
        let server = [10, 0, 1, u8::from(self.random.below(8) == 0)];
        let client = [10, 0, 0, 2 + u8::from(self.random.below(20) == 0)];
        let (source, destination) = if side == 0 { (client, server) } else { (server, client) };
        let mut bytes = vec![0x45, 0];
        bytes.extend((sctp.len() as u16 + 20).to_be_bytes());
        bytes.extend(self.identification.to_be_bytes());
        bytes.extend([0, 0, 64, 132, 0, 0]);
        [bytes, source.to_vec(), destination.to_vec(), sctp].concat()
    }

    /// Returns the first packets of both ends, which announce their verification tags.
    fn handshake(&mut self) -> Vec<(u64, Vec<u8>)> {
        let tags = self.tags;
        let steps = [(0, 1, 0), (1, 2, tags[0]), (0, 10, tags[1]), (1, 11, tags[0])];
        let mut shown = Vec::new();
        for (side, kind, tag) in steps.into_iter().take(self.random.below(5) as usize) {
            let value = if kind < 3 { words(&[tags[side], 5000, 10 << 16 | 10, FIRST]) } else { Vec::new() };
            self.now += self.random.near(self.gaps);
            let bytes = self.packet(side, &chunk(kind, &value), tag);
            shown.push((self.now, bytes));
        }
        shown
    }

    fn run(mut self) -> Vec<(u64, Vec<u8>)> {
        let mut shown = self.handshake();
        for _ in 0..8 + self.random.below(40) {
            self.now += self.random.near(self.gaps);
            if self.random.below(16) == 0 && !shown.is_empty() {
                shown.push((self.now, shown[shown.len() - 1].1.clone()));
                continue;
            }
            if self.random.below(40) == 0 {
                (self.tags, self.ports) =
                    self.random.one_of(&[([1, 2], [7, 9]), ([3, 2], [7, 9]), ([1, 3], [9, 7]), ([2, 1], [9, 9])]);
                shown.extend(self.handshake());
            }
            let side = usize::from(self.random.below(3) == 0);
            let mut chunks = self.chunk(side);
            while self.random.below(4) == 0 {
                chunks.extend(self.chunk(side));
            }
            let tag = if self.random.below(30) == 0 { self.random.below(4) as u32 } else { self.tags[1 - side] };
            let bytes = self.packet(side, &chunks, tag);
            shown.push((self.now, bytes));
        }
        shown
    }
}

#[test]
fn verdicts_on_drawn_chunks_match_the_golden() {
    let (mut text, mut together) = (String::new(), String::new());
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 0..CONVERSATIONS {
        let (mut analyzer, mut copy) = (Analyzer::default(), Anonymiser::new(Vec::new()).unwrap());
        let mut random = Random(!seed);
        for (number, (nanos, bytes)) in (1..).zip(Talk::new(seed).run()) {
            let wire_len = bytes.len() as u32;
            // A few packets are cut off.
            let kept = if random.below(40) == 0 { random.below(bytes.len() as u64) as usize } else { bytes.len() };
            let frame = Frame { number, nanos, link: 101, interface: 0, wire_len, bytes: &bytes[..kept] };
            analyzer.frame(&frame);
            copy.frame(&frame).unwrap();
        }
        let mut found = analyzer.finish();
        for one in &mut found.retransmissions {
            one.first_told.retain(|told| is_recorded("detect", told.detector));
        }
        for one in &found.retransmissions {
            *counts.entry(format!("{}, {:?}: {}", one.cause.name(), one.verdict, one.reason)).or_default() += 1;
        }
        writeln!(together, "{found:?} {}", digest(copy.finish().unwrap())).unwrap();
        if seed % TOGETHER == TOGETHER - 1 {
            writeln!(text, "up to {seed}: {}", digest(std::mem::take(&mut together))).unwrap();
        }
    }
    for (said, count) in counts {
        writeln!(text, "{count} {said}").unwrap();
    }
    golden!("chunks.txt", text);
}
