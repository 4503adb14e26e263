//! The peer's receive window against a naive model of RFC 9260, section 6.2.1. After each SACK, the
//! room is a_rwnd minus the outstanding data, counted chunk by chunk. The peer's SACKs are random,
//! in window and gaps, and may renege.

use std::collections::{BTreeMap, VecDeque};

use eifel_base::time::Instant;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::{self, Chunk, Gap, Gaps, Header, Sack, SackFlags, Writer};
use eifel_packet::seq::Seq;
use eifel_recovery::association::PathId;
use eifel_recovery::registry::Choice;
use eifel_sctp::{Association, Delivery, Phase};

use crate::talk::{Dice, PORTS, World, address, ms, parsed, polled};

/// Length of a message in bytes. Each message is one chunk.
const LONGEST: u64 = 1400;

/// A sender, and the state of its peer's window as visible from outside.
struct Pair {
    association: Association,
    dice: Dice,
    tag: u32,
    first: u32,
    /// Length of each sent chunk, by TSN from 0, and whether the peer has it.
    left: BTreeMap<u32, (i64, bool)>,
    /// First chunk that the cumulative TSN does not acknowledge.
    una: u32,
    a_rwnd: i64,
    /// Lengths of the waiting messages.
    waiting: VecDeque<i64>,
    /// Whether the timer has expired, and no chunk that was unreported before has been acknowledged
    /// since.
    expired: bool,
    now: Instant,
    /// Number of new chunks sent, of probes among them, and of checks with a window that was too
    /// small.
    seen: [u32; 3],
}

impl Pair {
    fn open(seed: u64) -> Self {
        let mut world = World::new(
            1,
            |_, settings| {
                settings.engine.path.pace = Choice::named("none");
                settings.association_max_retransmits = 1000;
                settings.path_max_retransmits = 1000;
                settings.heartbeat_interval = None;
                settings.receive_buffer = 20_000;
            },
            Box::new(|_| vec![ms(10)]),
        );
        world.open();
        let (_, mut chunks) = sctp::parse(&world.log[0].3).unwrap();
        let Some(Ok(Chunk::Init(init))) = chunks.next() else { panic!("the first packet is an INIT") };
        let (tag, first) = (init.initiate_tag, init.initial_tsn.0);
        Self {
            tag,
            first,
            dice: Dice(seed),
            left: BTreeMap::new(),
            una: 0,
            a_rwnd: 20_000,
            waiting: VecDeque::new(),
            expired: false,
            now: world.now,
            association: world.caller,
            seen: [0; 3],
        }
    }

    fn outstanding(&self) -> i64 {
        self.left.values().filter(|(_, has)| !has).map(|(len, _)| len).sum()
    }

    /// Takes all packets sent, and checks new chunks against the model.
    fn sends(&mut self, case: &str) {
        while let Some((_, bytes)) = polled(&mut self.association, self.now) {
            for chunk in sctp::parse(&bytes).unwrap().1 {
                let Ok(Chunk::Data(data)) = chunk else { continue };
                let (tsn, len) = (data.tsn.0.wrapping_sub(self.first), data.payload.len() as i64);
                if self.left.contains_key(&tsn) || tsn < self.una {
                    continue;
                }
                let outstanding = self.outstanding();
                let probe = outstanding == 0 && len > self.a_rwnd;
                assert!(probe || len <= self.a_rwnd - outstanding, "{case}: {len} bytes, {outstanding} outstanding");
                assert_eq!(self.waiting.pop_front(), Some(len), "{case}: a message is one chunk");
                self.left.insert(tsn, (len, false));
                self.seen[0] += 1;
                self.seen[1] += u32::from(probe);
            }
        }
        // If cwnd and the timer allow it, free space in the window must be used.
        let outstanding = self.outstanding();
        let engine = self.association.engine();
        let marked = engine.data_under_way() as i64 != outstanding;
        if let Some(next) = self.waiting.front()
            && !marked
            && !self.expired
            && engine.flight(PathId(0)) < engine.window(PathId(0)).cwnd
        {
            assert!(*next > self.a_rwnd - outstanding, "{case}: {next} bytes wait, {outstanding} outstanding");
            self.seen[2] += 1;
        }
    }

    /// The peer acknowledges some chunks, and advertises a window.
    fn acknowledges(&mut self) {
        let high = self.left.last_key_value().map_or(self.una, |(tsn, _)| tsn + 1);
        let step = if self.dice.once_in(3) { 0 } else { self.dice.below(u64::from(high - self.una) + 1) as u32 };
        self.una += step;
        self.expired &= self.left.range(..self.una).all(|(_, (_, has))| *has);
        self.left.retain(|tsn, _| *tsn >= self.una);
        let reported: Vec<u32> =
            self.left.keys().copied().filter(|tsn| *tsn > self.una && self.dice.once_in(3)).collect();
        // A SACK may lack space beyond its last block, so earlier reports there stay valid. A SACK
        // without blocks reneges on all reports.
        let known = reported.last().copied().unwrap_or(u32::MAX);
        for (tsn, chunk) in self.left.range_mut(..=known) {
            chunk.1 = reported.contains(tsn);
        }
        let gap = |tsn: &u32| Gap { start: (tsn - self.una + 1) as u16, end: (tsn - self.una + 1) as u16 }.to_bytes();
        let gaps: Vec<[u8; 4]> = reported.iter().map(gap).collect();
        self.a_rwnd = [0, 0, 500, 3000, 60_000][self.dice.below(5) as usize];
        let cumulative = Seq(self.first.wrapping_add(self.una).wrapping_sub(1));
        let (flags, a_rwnd) = (SackFlags::default(), self.a_rwnd as u32);
        let sack = Sack { flags, cumulative, a_rwnd, gaps: Gaps(&gaps), duplicates: &[] };
        let header = Header { source_port: PORTS.remote, destination_port: PORTS.local, verification_tag: self.tag };
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&header, &mut bytes);
        writer.chunk(&Chunk::Sack(sack)).unwrap();
        writer.finish();
        let back = Addresses::new(address(1, 0), address(0, 0)).unwrap();
        self.association.handle(self.now, &back, &parsed(&bytes));
    }

    fn step(&mut self) {
        match self.dice.below(6) {
            0..=1 => {
                for _ in 0..self.dice.below(8) {
                    let len = 1 + self.dice.below(LONGEST);
                    self.association.send(Delivery::default(), vec![0; len as usize]).unwrap();
                    self.waiting.push_back(len as i64);
                }
            }
            2..=4 => {
                self.now += ms(self.dice.below(100));
                self.acknowledges();
            }
            _ => {
                let due = self.association.poll_timeout();
                if due != Instant::NEVER {
                    self.now = self.now.max(due);
                    self.expired |= self.outstanding() > 0;
                    self.association.handle_timeout(self.now);
                }
            }
        }
    }
}

/// [rfc8540:3.7] [rfc8540:3.39]
#[test]
fn the_sender_keeps_to_the_peer_window_of_a_naive_model() {
    let mut seen = [0; 3];
    for seed in 0..200 {
        let mut pair = Pair::open(seed);
        for step in 0..150 {
            pair.step();
            assert_ne!(pair.association.phase(), Phase::Closed, "seed {seed}, step {step}");
            pair.sends(&format!("seed {seed}, step {step}"));
        }
        seen = [0, 1, 2].map(|index| seen[index] + pair.seen[index]);
    }
    let [new, probes, full] = seen;
    assert!(new > 10_000 && probes > 100 && full > 1000, "new {new}, probes {probes}, full {full}");
}
