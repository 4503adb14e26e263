//! QUIC by qlog: whether each packet that was declared lost had been lost, and what the known rules for undoing would have
//! made of it.

mod judge;
pub mod qlog;

use crate::verdict::{Confidence, Noticed};
use qlog::{Space, Trace};
use serde::Serialize;

/// Whether a packet that was declared lost was lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It has arrived.
    Spurious,
    /// It has not.
    Genuine,
    /// The log does not say.
    Undecidable,
}

/// A packet that was declared lost.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Lost {
    /// Number of its trace in the report.
    pub trace: usize,
    /// When it was declared lost, in milliseconds since the trace began.
    pub time_ms: f64,
    /// `initial`, `handshake` or `application`.
    pub space: &'static str,
    pub packet_number: u64,
    /// Bytes, 0 where the log does not say.
    pub bytes: u32,
    /// Why, in the log's word.
    pub trigger: Option<String>,
    /// Number of its congestion event in the trace, from 1: the losses of one recovery period (RFC 9002, section 7.3.2).
    pub event: u32,
    /// Whether it was lost.
    pub verdict: Fate,
    /// How sure that is.
    pub confidence: Confidence,
    /// Why.
    pub reason: &'static str,
    /// When it was acknowledged after all.
    pub acknowledged_ms: Option<f64>,
}

/// The losses of one recovery period.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CongestionEvent {
    /// Number of its trace in the report.
    pub trace: usize,
    /// Its number in the trace, from 1.
    pub event: u32,
    /// When the first packet was declared lost.
    pub time_ms: f64,
    /// Packets that were declared lost.
    pub lost: usize,
    /// Those of them that were acknowledged after all.
    pub late: usize,
    /// Congestion window in bytes before it.
    pub cwnd_before: Option<u64>,
    /// The smallest from there until a round trip later.
    pub cwnd_after: Option<u64>,
    /// Whether the stack gave the window back.
    pub stack_noticed: Noticed,
    /// The known rules' answers.
    pub rules: [Rule; 3],
}

/// A rule's answer whether a congestion event would be undone.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Rule {
    /// Its name.
    pub rule: &'static str,
    /// The stacks that have it.
    pub stacks: &'static str,
    /// The part of the window's reduction that it takes back: 1 is all of it.
    pub takes_back: f64,
    /// When it would have spoken.
    pub time_ms: Option<f64>,
}

/// One end's log of one connection.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TraceSummary {
    pub file: String,
    /// `client` or `server`, if the log says so.
    pub vantage: Option<String>,
    /// Number of the trace of the other end in the report, if there is one.
    pub other_end: Option<usize>,
    /// Packets sent.
    pub sent: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Records that could not be read.
    pub damaged: u64,
}

/// The losses in logs.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Losses {
    /// The traces, in the order of files.
    pub traces: Vec<TraceSummary>,
    /// Packets that were declared lost, in the order of traces and times.
    pub packets: Vec<Lost>,
    /// Their congestion events.
    pub events: Vec<CongestionEvent>,
}

impl Losses {
    /// How many packets got this verdict.
    pub fn count(&self, verdict: Fate) -> usize {
        self.packets.iter().filter(|one| one.verdict == verdict).count()
    }
}

/// Whether the first bytes of a file are those of a log: JSON, or a sequence of it.
pub fn is_log(first: &[u8]) -> bool {
    let begins = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii_start();
    matches!(begins.first(), Some(b'{' | 0x1e))
}

/// Judges every packet that was declared lost in some logs, each with its name and its text. Logs of both ends of a connection
/// are joined: by the connection they name, or, if there are two in all, because one is the client's and one the server's.
///
/// # Errors
/// One line that names the file that is no qlog.
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
            lost: count(|what| matches!(what, qlog::What::Lost { .. })),
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
