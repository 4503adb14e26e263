//! Sequence numbers, timestamps and scaled windows at the ends of their ranges.

use eifel_base::time::{Duration, Instant};
use eifel_packet::seq::Seq;
use eifel_recovery::engine::Config;
use eifel_tcp::settings::{ReceiveKind, TimestampSettings, WindowScale};
use eifel_tcp::{Connection, Ports, Settings};
use eifel_testkit::connections::Pair;

use crate::Attack;
use crate::draw::Draw;
use crate::trial::Trial;
use crate::victim::{engine, settings};

pub(super) const ATTACK: Attack = Attack {
    name: "t17-wrap",
    summary: "sequence numbers and timestamps that wrap during the transfer, windows of every scale",
    source: "RFC 9293, section 3.4; RFC 7323, sections 2.3 and 5.2",
    defence: "sequence numbers become positions once; timestamps are compared by a type that knows the circle",
    run,
};

const BYTES: u64 = 60_000;

fn run(trial: &mut Trial) {
    let transfers = trial.times(2_000, 150);
    let mut draw = Draw::new(1, ATTACK.name);
    let (mut complete, mut same) = (0, 0);
    for seed in 0..transfers {
        let scale = (seed % 15) as u8;
        let near = |draw: &mut Draw| (draw.below(BYTES + 100) as u32).wrapping_neg();
        let wrapping =
            transfer(seed, scale, [near(&mut draw), near(&mut draw)], [(draw.below(4000) as u32).wrapping_neg(); 2]);
        // Runs the transfer without a wrap. Segments and times must not depend on the initial
        // numbers.
        let plain = transfer(seed, scale, [1 << 20; 2], [1 << 20; 2]);
        complete += u64::from(wrapping.complete && plain.complete);
        same += u64::from(wrapping == plain);
    }
    trial.exactly("transfers complete across the wrap", "transfers", complete, transfers);
    trial.exactly("of them the same as without a wrap, segment by segment", "transfers", same, transfers);
}

/// The comparable part of a transfer: each segment's time, sender, offset and length.
#[derive(PartialEq)]
struct Seen {
    complete: bool,
    segments: Vec<(Instant, usize, u64, u32)>,
}

/// Runs a transfer in both directions over a path that loses one segment in twenty. Clocks start at
/// `stamps` and tick every millisecond.
fn transfer(seed: u64, scale: u8, isns: [u32; 2], stamps: [u32; 2]) -> Seen {
    let mut draw = Draw::new(seed, "path");
    let end = |at: usize, passive: bool| {
        let stamp = TimestampSettings { offset: stamps[at], ..TimestampSettings::default() };
        let settings = Settings {
            timestamps: Some(stamp),
            window_scale: WindowScale::Shift(scale),
            receive_window: 30_000,
            receive: ReceiveKind::Drained,
            ..settings()
        };
        let ports = Ports { local: 1 + at as u16, remote: 2 - at as u16 };
        let make = if passive { Connection::listen } else { Connection::connect };
        make(&settings, engine(&Config::default()), ports, Seq(isns[at]))
    };
    let mut pair = Pair::new([end(0, false), end(1, true)]);
    let mut seen = Seen { complete: false, segments: Vec::new() };
    for connection in &mut pair.ends {
        connection.write_counted(BYTES);
    }
    loop {
        let now = pair.now;
        pair.send(|flying| {
            seen.segments.push((now, flying.from, flying.sent.start, flying.sent.segment.payload_len));
            (!draw.chance(0.05)).then_some(Duration::from_millis(50))
        });
        seen.complete = pair.ends.iter().all(|end| end.received() == BYTES && end.engine().una() == end.end());
        let due = pair.due();
        if seen.complete || due > Instant::ZERO + Duration::from_secs(10_000) {
            return seen;
        }
        pair.step(due);
        for end in &mut pair.ends {
            eifel_testkit::connections::events(end);
        }
    }
}
