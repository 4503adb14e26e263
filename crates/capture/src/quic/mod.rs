//! Analyses QUIC from qlog files, and other transports from their records: whether each packet declared lost
//! was really lost, and whether known rules would undo the congestion response.

mod acks;
mod clock;
pub(crate) mod csv;
mod events;
mod facts;
mod judge;
mod later;
mod pair;
mod path;
pub mod qlog;
mod received;
pub mod rules;
pub(crate) mod text;
mod window;
#[cfg(feature = "files")]
pub(crate) mod xpl;

pub use later::Later;

use crate::result::{Confidence, StackReaction};
use eifel_base::time::Instant;
use qlog::{Space, Trace, What};
use serde::Serialize;

/// Whether a packet that was declared lost was really lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum LossVerdict {
    /// It arrived.
    Spurious,
    /// It did not arrive.
    Genuine,
    /// The log does not show it.
    Undecidable,
}

/// A packet that was declared lost.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LostPacket {
    /// Number of its trace in the report.
    pub trace: usize,
    /// When it was declared lost, in milliseconds since the trace began.
    pub time_ms: f64,
    /// The path whose packet numbers these are; `None` if all paths share them.
    pub path_id: Option<u64>,
    /// `initial`, `handshake` or `application`.
    pub space: &'static str,
    pub packet_number: u64,
    /// Bytes; 0 if the log does not show it.
    pub bytes: u32,
    /// The reason for the declaration, as in the log; `None` if the log has none.
    pub trigger: Option<String>,
    /// Number of its congestion event in the trace, from 1. One event has the losses of one
    /// recovery period (RFC 9002, section 7.3.2). `None` if the loss is no sign of congestion: the
    /// packet held only ACK frames, or probed for a larger MTU.
    pub event: Option<u32>,
    /// Whether it was really lost.
    pub verdict: LossVerdict,
    /// How sure the verdict is.
    pub confidence: Confidence,
    pub reason: &'static str,
    /// When it was acknowledged after all, in milliseconds; `None` if it was not.
    pub acknowledged_ms: Option<f64>,
}

/// The losses of one recovery period.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CongestionEvent {
    /// Number of its trace in the report.
    pub trace: usize,
    /// The path; `None` if all paths share their packet numbers.
    pub path_id: Option<u64>,
    /// Number of the event in the trace, from 1.
    pub event: u32,
    /// When the first packet was declared lost, in milliseconds since the trace began.
    pub time_ms: f64,
    /// The number of packets declared lost.
    pub lost: usize,
    /// The number of these that the log counts and does not name.
    pub unnamed: u64,
    /// The number of these that were acknowledged after all.
    pub late: usize,
    /// Congestion window in bytes before the event; `None` if the log does not show it.
    pub cwnd_before: Option<u64>,
    /// The smallest window from the event until a round trip later, or until the next event.
    pub cwnd_after: Option<u64>,
    /// Whether the stack restored the window, and whether that did harm.
    pub stack_noticed: StackReaction,
    /// When it restored the window, in milliseconds since the trace began; `None` if it did not.
    pub restored_ms: Option<f64>,
    /// The results of the known rules; empty if the log does not name the packets or has no ACKs.
    pub rules: Vec<Rule>,
}

/// The result of a rule for undoing a congestion event.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Rule {
    /// The rule's name in the output.
    pub rule: &'static str,
    /// The stacks that use it, with their versions, comma-separated; empty if there is none.
    pub stacks: &'static str,
    /// The share of the window reduction that it undoes: 1 for all of it.
    pub takes_back: f64,
    /// When it would have decided, in milliseconds since the trace began; `None` if it would not.
    pub time_ms: Option<f64>,
}

/// A rule's origin.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Origin {
    /// The rule's name in the output.
    pub rule: &'static str,
    /// The stacks that use it, with the versions that were read, comma-separated.
    pub stacks: &'static str,
    /// Where it is in the sources of these stacks.
    pub source: &'static str,
}

/// One end's log of one connection.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceSummary {
    pub file: String,
    /// `client`, `server` or `network`, if the log or its first packet tells; `sender` or `receiver` in records.
    pub vantage: Option<String>,
    /// The original destination connection ID or the group of its connection, if the log has one.
    pub connection: Option<String>,
    /// Number of the other end's trace in the report, if there is one.
    pub other_end: Option<usize>,
    /// Milliseconds from its first event to its last one.
    pub duration_ms: f64,
    pub sent: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// The number of these that the log counts and does not name.
    pub unnamed: u64,
    /// Records that could not be read.
    pub damaged: u64,
    /// What limits the results, in sentences.
    pub notes: Vec<&'static str>,
}

/// The results of all logs.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Losses {
    /// The traces, in the order of files.
    pub traces: Vec<TraceSummary>,
    /// Packets declared lost, in the order of traces and times.
    pub packets: Vec<LostPacket>,
    /// What was acknowledged of the packets after each of them, for `eifel advise`. `None` if a packet's sending is not
    /// shown, or if it was declared lost for another reason.
    #[serde(skip)]
    pub later: Vec<Option<Later>>,
    /// The congestion events of these packets.
    pub events: Vec<CongestionEvent>,
    /// The rules of stacks, in the order of each event's results.
    pub rules: Vec<Origin>,
}

impl Losses {
    pub fn count(&self, verdict: LossVerdict) -> usize {
        self.packets.iter().filter(|one| one.verdict == verdict).count()
    }
}

/// Returns whether a file with these first bytes is a log: JSON, a sequence of JSON texts, records as
/// comma-separated values, or JavaScript, which [`analyse`] refuses by name.
pub fn is_log(first: &[u8]) -> bool {
    let begins = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii_start();
    let text = String::from_utf8_lossy(begins);
    matches!(begins.first(), Some(b'{' | 0x1e)) || qlog::is_script(&text) || facts::is_facts(&text)
}

/// Judges all packets declared lost in some logs, which are given by name and text. Logs of both
/// ends of a connection are combined if they name the same connection. If they name none, they are
/// combined if their packets and times can only be of one connection.
///
/// # Errors
/// Returns one line that names the file which is no log, and its fault.
pub fn analyse(files: &[(&str, &str)]) -> Result<Losses, String> {
    let mut traces: Vec<(String, Trace)> = Vec::new();
    for (name, text) in files {
        traces.extend(read(name, text)?.into_iter().map(|trace| ((*name).to_owned(), trace)));
    }
    let (ends, why_not_joined) = pair::other_ends(&traces.iter().map(|(_, trace)| trace).collect::<Vec<_>>());
    let origin = |entry: &&rules::Entry| Origin { rule: entry.name, stacks: entry.stacks, source: entry.source };
    let mut losses = Losses { rules: rules::RULES.iter().map(origin).collect(), ..Losses::default() };
    for (place, (file, trace)) in traces.iter().enumerate() {
        let other = ends[place].map(|end| (&traces[end.place].1, end.shown));
        let judge::Limits { unnamed, mut notes } = judge::trace(place, trace, other, &mut losses);
        notes.extend(why_not_joined);
        let count = |is: fn(&What) -> bool| trace.events.iter().filter(|event| is(&event.what)).count() as u64;
        let mut names = trace.names.original.iter().chain(&trace.names.groups).chain(&trace.names.of_events);
        losses.traces.push(TraceSummary {
            file: file.clone(),
            vantage: trace.vantage.clone(),
            connection: names.next().cloned(),
            other_end: ends[place].map(|end| end.place),
            duration_ms: trace.duration_ms,
            sent: count(|what| matches!(what, What::Sent { .. })),
            lost: count(|what| matches!(what, What::Lost { .. })) + unnamed,
            unnamed,
            damaged: trace.damaged,
            notes,
        });
    }
    Ok(losses)
}

/// Reads the traces of one file.
fn read(name: &str, text: &str) -> Result<Vec<Trace>, String> {
    let read = if facts::is_facts(text) { facts::read(name, text) } else { qlog::read(text) };
    read.map_err(|error| format!("{name}: {error}"))
}

fn word(space: Space) -> &'static str {
    match space {
        Space::Initial => "initial",
        Space::Handshake => "handshake",
        Space::Application => "application",
    }
}

/// Converts milliseconds since a trace began.
fn instant(ms: f64) -> Instant {
    Instant::from_nanos((ms.max(0.0) * 1e6) as u64)
}
