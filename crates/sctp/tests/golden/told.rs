//! Runs as text: packets chunk by chunk, and the events and messages of each application.

use std::fmt::Write;

use eifel_base::time::Instant;
use eifel_packet::sctp::{self, Chunk};
use eifel_recovery::association::PathId;
use eifel_sctp::{Association, Message};
use eifel_testkit::digest;

use crate::talk::World;

/// The longest text of a chunk that is printed in full, in bytes.
const LONGEST: usize = 120;

fn time(at: Instant) -> String {
    let nanos = at.since(Instant::ZERO).as_nanos();
    format!("{}.{:06}", nanos / 1_000_000_000, nanos / 1000 % 1_000_000)
}

/// Returns a chunk in one line. For a long chunk, that is the name and a digest of the rest.
fn chunk(chunk: &Chunk<'_>) -> String {
    match chunk {
        Chunk::Data(data) => format!(
            "DATA {:08x} flags {:02x} stream {} ssn {} ppid {:02x?} {} bytes {}",
            data.tsn.0,
            data.flags.0,
            data.stream,
            data.ssn,
            data.ppid,
            data.payload.len(),
            &digest(data.payload)[..4]
        ),
        Chunk::Sack(sack) => {
            let gaps: Vec<_> = sack.gaps.iter().map(|gap| (gap.start, gap.end)).collect();
            let twice: Vec<_> = sack.duplicates().map(|tsn| format!("{:08x}", tsn.0)).collect();
            let (tsn, window, flags) = (sack.cumulative.0, sack.a_rwnd, sack.flags.0);
            format!("SACK {tsn:08x} flags {flags:02x} window {window} gaps {gaps:?} twice {twice:?}")
        }
        other => {
            let text = format!("{other:?}");
            let name = text.split(['(', ' ']).next().unwrap_or_default();
            if text.len() > LONGEST { format!("{name} {}", digest(&text)) } else { text }
        }
    }
}

/// Returns all packets of a world, one per line: time, sender, path, tag and chunks.
pub fn packets(world: &World) -> String {
    let mut out = String::new();
    for (at, end, path, bytes) in &world.log {
        let _ = write!(out, "{} {} to {path}", time(*at), ["caller", "callee"][*end]);
        match sctp::parse(bytes) {
            Ok((header, chunks)) => {
                let chunks: Vec<_> = chunks.map(|read| read.map_or_else(|e| e.to_string(), |c| chunk(&c))).collect();
                let _ = writeln!(out, " tag {:08x}: {}", header.verification_tag, chunks.join("; "));
            }
            Err(error) => {
                let _ = writeln!(out, ": {error}");
            }
        }
    }
    out
}

fn message(message: &Message) -> String {
    let Message { stream, ppid, unordered, bytes, len, begins, ends, given_up: _ } = message;
    format!("{stream} {ppid:02x?} {unordered} {len} {begins} {ends} {}", &digest(bytes)[..4])
}

/// Returns the events and messages of both applications.
pub fn applications(world: &World) -> String {
    let mut out = String::new();
    for (end, name) in ["caller", "callee"].into_iter().enumerate() {
        for event in &world.events[end] {
            let _ = writeln!(out, "{name}: {event:?}");
        }
        for received in &world.received[end] {
            let _ = writeln!(out, "{name} receives {}", message(received));
        }
    }
    out
}

/// Returns everything visible of an end.
pub fn state(association: &mut Association) -> String {
    let mut out = format!(
        "{:?} {} {} {} {} {} {} {} {:?} {}",
        association.phase(),
        association.buffered(),
        association.is_readable(),
        association.inbound_streams(),
        association.streams(),
        association.send_room(),
        association.peer_window(),
        association.has_waiting(),
        association.initial_tsn(),
        association.has_events(),
    );
    let engine = association.engine();
    let (una, nxt) = (engine.una(), engine.nxt());
    let _ = write!(out, " {una} {nxt} {}", engine.data_under_way());
    for path in (0..engine.paths()).map(PathId) {
        let window = engine.window(path);
        let (pmdcs, flight, rto) = (engine.pmdcs(path), engine.flight(path), engine.rto(path));
        let _ = write!(out, " [{pmdcs} {flight} {rto:?} {window:?} {}]", engine.delivered_on(path));
    }
    let received: Vec<_> = (0..20).map(|position| association.has_received(position)).collect();
    let _ = write!(out, " {}", digest(format!("{received:?}")));
    for (path, event) in std::iter::from_fn(|| association.poll_engine_event()) {
        let _ = write!(out, " {}: {event:?}", path.0);
    }
    out
}
