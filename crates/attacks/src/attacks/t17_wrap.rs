//! Sequence numbers, timestamps and scaled windows at the ends of their ranges.

use std::collections::BTreeMap;

use eifel_base::time::{Duration, Instant};
use eifel_packet::segment::Segment;
use eifel_packet::seq::Seq;
use eifel_recovery::engine::Config;
use eifel_tcp::settings::{ReceiveKind, TimestampSettings, WindowScale};
use eifel_tcp::{Connection, Ports, Settings};

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
        // The same transfer without a wrap. Segments and times must not depend on where numbers
        // begin.
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

/// Runs a transfer in both directions over a path that loses one segment in twenty. Clocks tick
/// every millisecond from `stamps` on.
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
    let mut ends = [end(0, false), end(1, true)];
    let mut seen = Seen { complete: false, segments: Vec::new() };
    let mut flying: BTreeMap<(Instant, u64), (usize, Segment)> = BTreeMap::new();
    let (mut now, mut number) = (Instant::ZERO, 0);
    for connection in &mut ends {
        connection.write_counted(BYTES);
    }
    while now < Instant::ZERO + Duration::from_secs(10_000) {
        for (at, end) in ends.iter_mut().enumerate() {
            while let Some(out) = eifel_talk::next(end, now) {
                seen.segments.push((now, at, out.start, out.segment.payload_len));
                number += 1;
                if !draw.chance(0.05) {
                    flying.insert((now + Duration::from_millis(50), number), (1 - at, out.segment));
                }
            }
        }
        seen.complete = ends.iter().all(|end| end.received() == BYTES && end.engine().una() == end.end());
        let arrival = flying.first_key_value().map_or(Instant::NEVER, |(key, _)| key.0);
        let due = ends[0].poll_timeout().min(ends[1].poll_timeout()).min(arrival);
        if seen.complete || due == Instant::NEVER {
            break;
        }
        now = due;
        if arrival == due
            && let Some((_, (to, segment))) = flying.pop_first()
        {
            ends[to].handle_segment(now, &segment, &[]);
        }
        for end in &mut ends {
            if end.poll_timeout() <= now {
                end.handle_timeout(now);
            }
            while end.poll_event().is_some() {}
        }
    }
    seen
}
