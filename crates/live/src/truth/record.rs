//! Records one drawn scenario: the captures at three places, and the truth about each
//! retransmission there.

use super::draw::{Draw, Path as DrawnPath};
use super::lan::{self, Tapped};
use super::traffic::{Closes, Running};
use super::watched::Watched;
use crate::capture::Capture;
use crate::hiccup::log::Log;
use crate::hiccup::run::{Control, Relay};
use crate::hiccup::{Direction, Hiccup};
use crate::judge::frames::packets_of;
use crate::judge::{self, Judgement, Sources};
use crate::side::Side;
use crate::system::Error;
use crate::system::clock::Clock;
use crate::system::kernel::Watcher;
use crate::system::namespace::Namespace;
use crate::system::trace::Tracer;
use eifel_base::time::{Duration, Instant};
use eifel_capture::frame::source::{Stopped, frames_of};
use eifel_packet::segment::Segment;
use eifel_packet::seq;
use eifel_sim::scenario::Scenario;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The capture points, from the sender to the receiver.
pub const PLACES: [&str; 3] = ["sender", "between", "receiver"];

/// The capture of the sender's own kernel, beside the box's: [`Beside::Acks`] writes it.
pub const KERNEL: &str = "kernel";

/// Bytes kept of each packet: all headers, and nothing of the data.
pub(super) const KEPT: usize = 128;
/// How long packets are taken after the last connection has ended.
pub(super) const AFTER: Duration = Duration::from_millis(300);
const MTU: u32 = 1500;
/// The counters that a manifest lists.
const COUNTERS: [&str; 30] = [
    "RetransSegs",
    "TCPTimeouts",
    "TCPLossProbes",
    "TCPFastRetrans",
    "TCPSlowStartRetrans",
    "TCPSynRetrans",
    "TCPSpuriousRTOs",
    "TCPLossUndo",
    "TCPFullUndo",
    "TCPPartialUndo",
    "TCPDSACKUndo",
    "TCPDSACKRecv",
    "TCPDSACKOfoRecv",
    "TCPDSACKRecvSegs",
    "TCPDSACKIgnoredOld",
    "TCPDSACKIgnoredNoUndo",
    "TCPDSACKIgnoredDubious",
    "TCPSACKReorder",
    "TCPRenoReorder",
    "TCPTSReorder",
    "TCPSackRecovery",
    "TCPRenoRecovery",
    "TCPLossProbeRecovery",
    "TCPLostRetransmit",
    "TCPSackFailures",
    "TCPRenoFailures",
    "TCPLossFailures",
    "TCPOrigDataSent",
    "TCPDelivered",
    "PAWSEstab",
];

/// The lines of the watch in a recording's own files; see [`Beside::Watch`].
pub(super) const WATCH: &str = "watch.json";

/// Makes the recording in `folder`, and returns its entry in the manifest.
///
/// # Errors
/// Those of the system and of the connections. The files of a failed recording are removed.
pub fn record(draw: &Draw, folder: &Path, port: u16, beside: Beside) -> Result<Value, Error> {
    let own = folder.join(format!("{}.box", draw.name));
    let ran = match &draw.path {
        DrawnPath::Box { scenario, .. } => run(draw, scenario, &own, port, beside),
        DrawnPath::Lan(lan) => lan::run(draw, *lan, &own, port, beside),
    };
    let recorded = ran.and_then(|()| finish(draw, &own, folder));
    let failed = |error: std::io::Error| Error::new(own.display().to_string(), &error, "");
    if own.exists() {
        fs::remove_dir_all(&own).map_err(failed)?;
    }
    recorded.inspect_err(|_| {
        for place in PLACES {
            // The first error is the one to report.
            let _ = fs::remove_file(capture_of(folder, draw, place));
            let _ = fs::remove_file(truth_of(folder, draw, place));
        }
        let _ = fs::remove_file(watch_of(folder, draw));
    })
}

fn capture_of(folder: &Path, draw: &Draw, place: &str) -> PathBuf {
    folder.join(format!("{}.{place}.pcapng", draw.name))
}

fn truth_of(folder: &Path, draw: &Draw, place: &str) -> PathBuf {
    folder.join(format!("{}.{place}.truth.csv", draw.name))
}

fn watch_of(folder: &Path, draw: &Draw) -> PathBuf {
    folder.join(format!("{}.{WATCH}", draw.name))
}

/// What is recorded beside the box's own files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    Nothing,
    /// The packets at the sender's kernel, and its windows at each segment that it receives. It tells
    /// them of established connections only, so the sender closes last.
    Acks,
    /// What `eifel watch` says of the sender's connections.
    Watch,
}

impl Beside {
    /// Begins the watch of the sender, if there is to be one.
    pub(super) fn watched(self, sender: &Namespace) -> Result<Option<Watched>, Error> {
        if self == Self::Watch { Watched::begin(sender).map(Some) } else { Ok(None) }
    }
}

/// Runs the connections through the box, which writes its files into `own`.
///
/// # Errors
/// Those of the system and of the connections.
pub fn run(draw: &Draw, scenario: &str, own: &Path, port: u16, beside: Beside) -> Result<(), Error> {
    let scenario = Scenario::parse(scenario, Path::new(&draw.name)).map_err(Error::of("draw a scenario"))?;
    let hiccup = Hiccup::new(&scenario, Vec::new()).map_err(Error::of("draw a scenario"))?;
    let (near, far) = (Namespace::new()?, Namespace::new()?);
    let tuns = [Side::NEAR.device(&near, MTU, true)?, Side::FAR.device(&far, MTU, true)?];
    for (namespace, tun) in [&near, &far].into_iter().zip(&tuns) {
        namespace.set(&draw.kernel_settings())?;
        draw.limit_segments(namespace, tun.name())?;
    }
    let clock = Clock::start();
    let log = Log::create(own, clock)?;
    let watcher = Watcher::begin(&near, clock, own, PLACES[0])?;
    let acks = beside == Beside::Acks;
    let tracer = Tracer::begin(clock, &own.join("trace.csv"), Side::addresses(), acks.then_some(port))?;
    let tap = if acks { Some(Tapped::begin(&near, KERNEL)?) } else { None };
    let watched = beside.watched(&near)?;
    let relay = Relay::new(hiccup, tuns, clock, Control::default(), Some(log));
    let running = Running::begin(&near, &far, draw.traffic, port, if acks { Closes::Last } else { Closes::First })?;
    let mut over: Option<Instant> = None;
    relay.run(|| {
        if over.is_none() && running.is_over() {
            over = Some(clock.now());
        }
        Ok(over.is_some_and(|over| clock.now().since(over) >= AFTER))
    })?;
    if let Some(tap) = tap {
        tap.finish(own, clock)?;
    }
    if let Some(watched) = watched {
        watched.finish(&own.join(WATCH))?;
    }
    watcher.finish()?;
    tracer.finish()?;
    running.finish()
}

/// Writes captures and truth of all places, and returns the entry of the manifest.
fn finish(draw: &Draw, own: &Path, folder: &Path) -> Result<Value, Error> {
    let sources = Sources { folder: own, sender: None, receiver: None, direction: Direction::There };
    let judgement = judge::join(sources)?;
    let back = judge::join(Sources { direction: Direction::Back, ..sources })?;
    let captures = PLACES.map(|place| own.join(format!("{place}.pcapng")));
    // The box has no capture in between: there, packets are those of the receiver, but earlier.
    let (between, behind_us, passed) = match draw.path {
        DrawnPath::Box { behind_us, .. } => (&captures[2], behind_us, None),
        DrawnPath::Lan(_) => {
            let passed = judge::join(Sources { receiver: Some(&captures[1]), ..sources })?;
            (&captures[1], [0; 2], Some(passed))
        }
    };
    let same: BTreeMap<u64, u64> = copy(&captures[0], &capture_of(folder, draw, PLACES[0]), [0; 2])?;
    let between = copy(between, &capture_of(folder, draw, PLACES[1]), behind_us)?;
    let at_receiver = copy(&captures[2], &capture_of(folder, draw, PLACES[2]), [0; 2])?;
    for (place, frames) in PLACES.into_iter().zip([&same, &between, &at_receiver]) {
        let there = passed.as_ref().filter(|_| place == PLACES[1]).unwrap_or(&judgement);
        let rows = |judgement: &Judgement, at_its_sender: bool| {
            judgement.truth(|one| {
                let frame = if at_its_sender { Some(one.judged.frame) } else { one.receiver_frame };
                frame.and_then(|frame| frames.get(&frame).copied())
            })
        };
        let at_sender = place == PLACES[0];
        let mut lines = [rows(there, at_sender), rows(&back, !at_sender)].concat();
        lines.sort();
        let traced = traced(&capture_of(folder, draw, place))?;
        let line = |(frame, line): &(u64, String)| format!("{line},{}\n", u8::from(traced.contains(frame)));
        let text: String = [format!("{},traced\n", judge::TRUTH)].into_iter().chain(lines.iter().map(line)).collect();
        let path = truth_of(folder, draw, place);
        fs::write(&path, text).map_err(|error| Error::new(path.display().to_string(), &error, ""))?;
    }
    let mut entry = manifest(draw, (&judgement, &back), &own.join("sender.counters.csv"))?;
    if own.join(WATCH).exists() {
        let path = watch_of(folder, draw);
        let failed = |error: std::io::Error| Error::new(path.display().to_string(), &error, "");
        fs::copy(own.join(WATCH), &path).map_err(failed)?;
        entry["watch"] = causes(&fs::read_to_string(&path).map_err(failed)?);
    }
    Ok(entry)
}

/// Returns how many lines of a watch name each cause.
fn causes(lines: &str) -> Value {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for line in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        *counts.entry(line["cause"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    json!(counts)
}

/// Copies a capture without comments and data. Packets to the receiver are `shift_us[0]` earlier
/// in the copy, packets from it `shift_us[1]` later: as a capture point sees them that is so far
/// away. Returns the number of each frame in the copy.
fn copy(from: &Path, to: &Path, shift_us: [u64; 2]) -> Result<BTreeMap<u64, u64>, Error> {
    let mut frames: Vec<(u64, u64, u32, Vec<u8>)> = Vec::new();
    let take = |frame: &eifel_capture::frame::read::Frame<'_>| {
        let bytes = &frame.bytes[..frame.bytes.len().min(KEPT)];
        let nanos = match is_to_receiver(bytes) {
            true => frame.nanos.saturating_sub(shift_us[0] * 1000),
            false => frame.nanos + shift_us[1] * 1000,
        };
        frames.push((nanos, frame.number, frame.wire_len, bytes.to_vec()));
    };
    frames_of(from, take, |_| Ok(())).map_err(|stopped| match stopped {
        Stopped::ByFile(message) | Stopped::ByCaller(message) => Error::new("read", &message, ""),
    })?;
    frames.sort_by_key(|&(nanos, number, ..)| (nanos, number));
    let mut capture = Capture::create(to, Clock::start())?;
    let place = capture.place("eifel truth")?;
    let mut numbers = BTreeMap::new();
    for (next, (nanos, number, wire_len, bytes)) in (1..).zip(&frames) {
        capture.note_cut(*nanos, place, bytes, *wire_len)?;
        numbers.insert(*number, next);
    }
    capture.finish()?;
    Ok(numbers)
}

/// Returns the frames of data of which the capture shows a trace: an earlier copy of their first byte
/// has passed, or data behind it. To a capture point behind the loss, a retransmission of the
/// newest data is the first transmission.
fn traced(capture: &Path) -> Result<BTreeSet<u64>, Error> {
    let (mut newest, mut traced) = (BTreeMap::new(), BTreeSet::new());
    packets_of(capture, |packet, _, frame| {
        let Segment { source_port, destination_port, seq, payload_len, .. } = packet.segment;
        let direction = (packet.addresses.source(), source_port, destination_port);
        let (first, end) = newest.entry(direction).or_insert((seq, 0));
        let start = seq::unwrap(*end, *first, seq);
        if start < *end {
            traced.insert(frame);
        }
        *end = (*end).max(start + u64::from(payload_len));
    })?;
    Ok(traced)
}

/// Returns whether a packet has the receiver's address as its destination.
fn is_to_receiver(packet: &[u8]) -> bool {
    match packet.first().map(|first| first >> 4) {
        Some(4) => packet.get(16..20) == Some(&Side::FAR.v4().octets()),
        _ => packet.get(24..40) == Some(&Side::FAR.v6().octets()),
    }
}

fn manifest(draw: &Draw, (judgement, back): (&Judgement, &Judgement), counters: &Path) -> Result<Value, Error> {
    let text = fs::read_to_string(counters).map_err(|error| Error::new(counters.display().to_string(), &error, ""))?;
    let last = |name: &str| {
        let value = text.lines().rev().find_map(|line| line.split_once(&format!(",{name},")));
        value.and_then(|(_, value)| value.parse::<u64>().ok()).unwrap_or_default()
    };
    let retransmissions = &judgement.retransmissions;
    let count = |of: fn(&judge::Retransmission) -> bool| retransmissions.iter().filter(|one| of(one)).count();
    Ok(json!({
        "name": draw.name,
        "class": draw.class.name(),
        "scenario": match &draw.path {
            DrawnPath::Box { scenario, .. } => scenario.clone(),
            DrawnPath::Lan(lan) => format!("{lan:?}"),
        },
        "joins_segments": draw.joins_segments,
        "kernel_settings": draw.kernel.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect::<serde_json::Map<_, _>>(),
        "traffic": format!("{:?}", draw.traffic),
        "retransmissions": retransmissions.len(),
        "spurious": count(|one| one.judged.spurious),
        "back": back.retransmissions.len(),
        "without_cause": count(|one| one.cause.is_none()),
        "not_at_sender": judgement.not_at_sender,
        "not_at_receiver": judgement.not_at_receiver,
        "counters": COUNTERS.into_iter().map(|name| (name.to_owned(), json!(last(name)))).collect::<serde_json::Map<_, _>>(),
    }))
}
