//! SACK blocks in the order that costs the sender most, with very many segments outstanding. A tiny
//! MSS makes the segments many.

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::{Flags, Options, Segment};
use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};
use eifel_tcp::settings::{ReceiveKind, WindowScale};
use eifel_tcp::{Connection, Settings};

use crate::Attack;
use crate::clock::{Costs, cpu_nanos};
use crate::draw::Draw;
use crate::trial::{Limit, Trial};
use crate::victim::{ISS, MSS, PORTS, Victim, data, engine, segment, stamped, with_sack, with_timestamps};

pub(super) const ATTACK: Attack = Attack {
    name: "t11-sack-cost",
    summary: "SACK blocks in the worst order with a million segments outstanding; a tiny MSS",
    source: "CVE-2019-11477, CVE-2019-11478, CVE-2019-11479, CVE-2019-5599",
    defence: "an ACK costs O(log n); no more pieces than segments; a floor for the peer's MSS",
    run,
};

/// The order in which the peer reports every other segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Ascending,
    Descending,
    Random,
    /// Ascending. Every second ACK carries a forged echo, which undoes the recovery begun by the
    /// ACK before.
    Undone,
}

impl Order {
    /// All orders with their names.
    pub const ALL: [(&'static str, Self); 4] = [
        ("ascending", Self::Ascending),
        ("descending", Self::Descending),
        ("random", Self::Random),
        ("undone", Self::Undone),
    ];
}

/// Makes a victim with this many segments outstanding, and floods it if `answered`. A tool that
/// counts instructions can judge how the cost grows. Measured time grows faster, because of caches
/// and other work on the machine.
pub fn flood(order: Order, segments: u64, answered: bool) {
    let blocks = reported(segments, order);
    let mut flood = Flood::new(segments);
    if answered {
        flood.run(segments, order, &blocks);
    }
}

fn run(trial: &mut Trial) {
    let segments = trial.times(1_000_000, 20_000);
    let (mut micros, mut growth, mut pieces) = (0f64, 0f64, 0);
    for (_, order) in Order::ALL {
        let [whole, half] = best(trial, [segments, segments / 2], order);
        micros = micros.max(whole.micros);
        growth = growth.max(whole.nanos as f64 / half.nanos as f64);
        pieces = pieces.max(whole.pieces);
    }
    trial.timed("an ACK, all but one in a thousand", "µs", micros, 20.0);
    trial.clocked("time for all ACKs, by that with half as many segments", "times", growth, Limit::None);
    trial.at_most("pieces on the scoreboard", "pieces", pieces, segments + 1);
    trial.exactly("MSS of 0 to 88 offered: payload of a full segment never below", "bytes", smallest_payload(), 76);
}

/// The cost of a flood of ACKs.
struct Cost {
    /// Microseconds that 999 of 1000 ACKs stay within.
    micros: f64,
    /// Nanoseconds for all ACKs together.
    nanos: u64,
    pieces: u64,
}

/// Returns the best of five runs for each number of segments, since other work on the machine only
/// adds cost. The numbers take turns, since that other work varies over time.
fn best(trial: &Trial, numbers: [u64; 2], order: Order) -> [Cost; 2] {
    let mut best = numbers.map(|_| Cost { micros: f64::INFINITY, nanos: u64::MAX, pieces: 0 });
    // Blocks are shuffled before the clock starts, since shuffling is no cost of the victim's.
    let blocks = numbers.map(|segments| reported(segments, order));
    for _ in 0..trial.times(5, 1) {
        for ((segments, blocks), best) in numbers.into_iter().zip(&blocks).zip(&mut best) {
            let mut flood = Flood::new(segments);
            let (nanos, ()) = cpu_nanos(|| flood.run(segments, order, blocks));
            best.micros = best.micros.min(flood.costs.most_micros());
            best.nanos = best.nanos.min(nanos);
            best.pieces = best.pieces.max(flood.pieces);
        }
    }
    best
}

struct Flood {
    victim: Victim,
    /// The position of the peer's next byte.
    seq: u64,
    costs: Costs,
    pieces: u64,
}

impl Flood {
    /// Makes a victim with this many segments outstanding.
    fn new(segments: u64) -> Self {
        let congest = Choice::named("reno").with("initial_window_segments", Value::Integer(segments as i64));
        // At most two segments leave per ACK. Otherwise the cost of sending would be measured.
        let pace = Choice::named("burst-limit").with("segments", Value::Integer(2));
        let config = Config { congest, pace, ..Config::default() };
        let settings =
            Settings { window_scale: WindowScale::Shift(14), receive: ReceiveKind::Drained, ..with_timestamps() };
        let mut victim = Victim::with_engine(&settings, 1 << 30, engine(&config));
        victim.connection.write_counted(segments * MSS);
        let mut seq = 1;
        while victim.connection.engine().nxt() < victim.connection.end() {
            victim.sends();
            // The peer's data acknowledges nothing and is no duplicate ACK. It releases the next
            // two segments.
            victim.gets(&stamped(data(seq, 1, 1), 0, 0));
            seq += 1;
        }
        victim.sends();
        victim.now = Instant::ZERO + Duration::from_millis(100);
        Self { victim, seq, costs: Costs::default(), pieces: 0 }
    }

    fn run(&mut self, segments: u64, order: Order, blocks: &[(u64, u64)]) {
        for two in blocks.chunks(2) {
            self.take(0, two);
        }
        if order == Order::Undone {
            self.undo(segments);
        }
    }

    /// Alternates two ACKs. The first adds a block, which begins a recovery. The second
    /// acknowledges the next segment and echoes an older time.
    fn undo(&mut self, segments: u64) {
        for turn in 0..segments / 8 {
            // A round trip passes, since an undo is granted once per round trip.
            self.victim.now += Duration::from_millis(100);
            let hole = segments - 1 - 2 * turn;
            self.take(turn, &[(1 + hole * MSS, 1 + (hole + 1) * MSS)]);
            self.take(turn + 1, &[]);
        }
    }

    /// Sends an ACK for this many segments, with these blocks.
    fn take(&mut self, segments: u64, blocks: &[(u64, u64)]) {
        let forged = stamped(with_sack(segment(Flags::ACK, self.seq, 1 + segments * MSS), blocks), 0, 0);
        let Self { victim, costs, .. } = self;
        costs.step(|| {
            victim.gets(&forged);
            while eifel_testkit::connections::next(&mut victim.connection, victim.now).is_some() {}
        });
        while victim.connection.poll_event().is_some() {}
        self.pieces = self.pieces.max(victim.connection.engine().scoreboard().sacked().count() as u64);
    }
}

/// Lists one-segment blocks, two per ACK. The lowest segments are kept for later.
fn reported(segments: u64, order: Order) -> Vec<(u64, u64)> {
    let mut blocks: Vec<(u64, u64)> =
        (segments / 4..segments).step_by(2).map(|at| (1 + at * MSS, 1 + (at + 1) * MSS)).collect();
    match order {
        Order::Ascending | Order::Undone => {}
        Order::Descending => blocks.reverse(),
        Order::Random => {
            let mut draw = Draw::new(1, ATTACK.name);
            for at in (1..blocks.len()).rev() {
                blocks.swap(at, draw.below(at as u64 + 1) as usize);
            }
        }
    }
    blocks
}

/// Returns the smallest payload of a full segment, over all MSS values up to the floor.
fn smallest_payload() -> u64 {
    let payloads = (0..=88).map(|mss| {
        let mut victim = Victim {
            connection: Connection::listen(&with_timestamps(), engine(&Config::default()), PORTS, ISS),
            now: Instant::ZERO,
        };
        let syn = segment(Flags::SYN, 0, 0);
        victim.gets(&stamped(Segment { options: Options { mss: Some(mss), ..syn.options }, ..syn }, 0, 0));
        u64::from(victim.connection.mss())
    });
    payloads.min().unwrap_or(0)
}
