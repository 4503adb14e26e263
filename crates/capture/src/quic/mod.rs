//! Analyses QUIC from qlog files: whether each packet declared lost was really lost, and whether
//! known rules would undo the congestion response.

mod judge;
pub mod qlog;

use crate::result::{Confidence, StackReaction};
use qlog::{Space, Trace};
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
    /// `initial`, `handshake` or `application`.
    pub space: &'static str,
    pub packet_number: u64,
    /// Bytes; 0 if the log does not show it.
    pub bytes: u32,
    /// The reason for the declaration, as in the log; `None` if the log has none.
    pub trigger: Option<String>,
    /// Number of its congestion event in the trace, from 1. One event has the losses of one
    /// recovery period (RFC 9002, section 7.3.2).
    pub event: u32,
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
    /// Number of the event in the trace, from 1.
    pub event: u32,
    /// When the first packet was declared lost, in milliseconds since the trace began.
    pub time_ms: f64,
    /// The number of packets declared lost.
    pub lost: usize,
    /// The number of these that were acknowledged after all.
    pub late: usize,
    /// Congestion window in bytes before the event; `None` if the log does not show it.
    pub cwnd_before: Option<u64>,
    /// The smallest window from the event until a round trip later, or until the next event.
    pub cwnd_after: Option<u64>,
    /// Whether the stack restored the window.
    pub stack_noticed: StackReaction,
    /// The results of the known rules.
    pub rules: [Rule; 3],
}

/// The result of a rule for undoing a congestion event.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Rule {
    /// The rule's name in the output.
    pub rule: &'static str,
    /// The stacks that use it, comma-separated; empty if there is none.
    pub stacks: &'static str,
    /// The share of the window reduction that it undoes: 1 for all of it.
    pub takes_back: f64,
    /// When it would have decided, in milliseconds since the trace began; `None` if it would not.
    pub time_ms: Option<f64>,
}

/// One end's log of one connection.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceSummary {
    pub file: String,
    /// `client`, `server` or `network`, if the log names it.
    pub vantage: Option<String>,
    /// Number of the other end's trace in the report, if there is one.
    pub other_end: Option<usize>,
    pub sent: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Records that could not be read.
    pub damaged: u64,
}

/// The results of all logs.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Losses {
    /// The traces, in the order of files.
    pub traces: Vec<TraceSummary>,
    /// Packets declared lost, in the order of traces and times.
    pub packets: Vec<LostPacket>,
    /// The congestion events of these packets.
    pub events: Vec<CongestionEvent>,
}

impl Losses {
    pub fn count(&self, verdict: LossVerdict) -> usize {
        self.packets.iter().filter(|one| one.verdict == verdict).count()
    }
}

/// Returns whether a file with these first bytes is a log: JSON, or a sequence of JSON texts.
pub fn is_log(first: &[u8]) -> bool {
    let begins = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii_start();
    matches!(begins.first(), Some(b'{' | 0x1e))
}

/// Judges all packets declared lost in some logs, which are given by name and text. Logs of both
/// ends of a connection are combined. They match if they name the same connection, or if there are
/// only two traces, one by the client and one by the server.
///
/// # Errors
/// Returns one line that names the file which is not qlog.
pub fn analyse(files: &[(&str, &str)]) -> Result<Losses, String> {
    let mut traces: Vec<(String, Trace)> = Vec::new();
    for (name, text) in files {
        let read = qlog::read(text).map_err(|error| format!("{name}: {error}"))?;
        traces.extend(read.into_iter().map(|trace| ((*name).to_owned(), trace)));
    }
    let mut losses = Losses::default();
    for (place, (file, trace)) in traces.iter().enumerate() {
        let other_end = other_end(&traces, place);
        let other = other_end.map(|place| &traces[place].1);
        judge::trace(place, trace, other, &mut losses);
        let count = |is: fn(&qlog::What) -> bool| trace.events.iter().filter(|event| is(&event.what)).count() as u64;
        losses.traces.push(TraceSummary {
            file: file.clone(),
            vantage: trace.vantage.clone(),
            other_end,
            sent: count(|what| matches!(what, qlog::What::Sent(_))),
            lost: count(|what| matches!(what, qlog::What::LostPacket { .. })),
            damaged: trace.damaged,
        });
    }
    Ok(losses)
}

fn other_end(traces: &[(String, Trace)], place: usize) -> Option<usize> {
    let this = &traces[place].1;
    let across = |other: &Trace| {
        matches!(
            (this.vantage.as_deref(), other.vantage.as_deref()),
            (Some("client"), Some("server")) | (Some("server"), Some("client"))
        )
    };
    let named = |other: &Trace| this.connection.is_some() && this.connection == other.connection;
    traces.iter().position(|(_, other)| across(other) && (named(other) || traces.len() == 2))
}

fn word(space: Space) -> &'static str {
    match space {
        Space::Initial => "initial",
        Space::Handshake => "handshake",
        Space::Application => "application",
    }
}
