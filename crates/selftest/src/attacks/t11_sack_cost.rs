//! SACK blocks in the order that costs the sender most, with very many segments outstanding; and a tiny MSS, which makes
//! segments many.

use eifel_packet::segment::{Flags, Options, Segment};
use eifel_recovery::engine::Config;
use eifel_recovery::registry::{Choice, Value};
use eifel_recovery::time::{Duration, Instant};
use eifel_tcp::settings::WindowScale;
use eifel_tcp::{Connection, Settings};

use crate::Attack;
use crate::clock::Costs;
use crate::draw::Draw;
use crate::trial::Trial;
use crate::victim::{ISS, MSS, PORTS, Victim, ack, engine, segment, stamped, with_sack, with_timestamps};

pub(super) const ATTACK: Attack = Attack {
    name: "t11-sack-cost",
    summary: "SACK blocks in the worst order with a million segments outstanding; a tiny MSS",
    source: "CVE-2019-11477, CVE-2019-11478, CVE-2019-11479, CVE-2019-5599",
    defence: "an ACK costs O(log n); no more pieces than segments; a floor for the peer's MSS",
    run,
};

/// The order in which every other segment is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Ascending,
    Descending,
    Random,
    /// In ascending order; then every second ACK carries a forged echo, which undoes the recovery that the one before began.
    Undone,
}

const ORDERS: [Order; 4] = [Order::Ascending, Order::Descending, Order::Random, Order::Undone];

fn run(trial: &mut Trial) {
    let segments = trial.times(1_000_000, 20_000);
    let (mut micros, mut growth, mut pieces) = (0f64, 0f64, 0);
    for order in ORDERS {
        let mut whole = flood(segments, order);
        let half = flood(segments / 2, order);
        micros = micros.max(whole.costs.most_micros());
        growth = growth.max(whole.costs.total() as f64 / half.costs.total() as f64);
        pieces = pieces.max(whole.pieces);
    }
    trial.timed("an ACK, all but one in a thousand", "µs", micros, 20.0);
    trial.timed("time for all ACKs, by that with half as many segments", "times", growth, 2.2);
    trial.at_most("pieces on the scoreboard", "pieces", pieces, segments + 1);
    trial.exactly("MSS of 0 to 88 offered: payload of a full segment never below", "bytes", smallest_payload(), 76);
}

struct Flooded {
    costs: Costs,
    pieces: u64,
}

/// So many segments are outstanding; every other one is reported, and then undone or not.
fn flood(segments: u64, order: Order) -> Flooded {
    let congest = Choice::named("reno").with("initial_window_segments", Value::Integer(segments as i64));
    // Two segments leave for an ACK at most, or what is measured would be what the ACKs let go.
    let pace = Choice::named("burst-limit").with("segments", Value::Integer(2));
    let config = Config { congest, pace, ..Config::default() };
    let settings = Settings { window_scale: WindowScale::Shift(14), ..with_timestamps() };
    let mut victim = Victim::with_engine(&settings, 1 << 30, engine(&config));
    victim.connection.write_counted(segments * MSS);
    victim.sends();
    victim.now = Instant::ZERO + Duration::from_millis(100);
    let mut flooded = Flooded { costs: Costs::default(), pieces: 0 };
    for block in reported(segments, order).chunks(2) {
        let forged = stamped(with_sack(ack(1), block), 0, 0);
        take(&mut victim, &forged, &mut flooded);
    }
    if order == Order::Undone {
        undo(&mut victim, segments, &mut flooded);
    }
    flooded
}

fn take(victim: &mut Victim, segment: &Segment, flooded: &mut Flooded) {
    flooded.costs.step(|| {
        victim.gets(segment);
        while victim.connection.poll_transmit(victim.now).is_some() {}
    });
    while victim.connection.poll_event().is_some() {}
    flooded.pieces = flooded.pieces.max(victim.connection.engine().scoreboard().sacked().count() as u64);
}

/// Blocks of one segment each, two an ACK; the lowest segments are kept for later.
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

/// By turns: one more block, which begins a recovery, and an ACK for the next segment that echoes the time before it.
fn undo(victim: &mut Victim, segments: u64, flooded: &mut Flooded) {
    for turn in 0..segments / 8 {
        // A round trip later: nothing is undone twice in one.
        victim.now = victim.now + Duration::from_millis(100);
        let hole = segments - 1 - 2 * turn;
        let block = (1 + hole * MSS, 1 + (hole + 1) * MSS);
        take(victim, &stamped(with_sack(ack(1 + turn * MSS), &[block]), 0, 0), flooded);
        take(victim, &stamped(ack(1 + (turn + 1) * MSS), 0, 0), flooded);
    }
}

/// The least that a full segment carries, whatever MSS below the floor a peer offers.
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
