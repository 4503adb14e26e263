//! The report of an analysis, in its published shape.
//!
//! Frames count from 1 in their file, as Wireshark counts them. A report of several files numbers these in the order in which
//! they were analysed: by the time of their first frame.

mod csv;

use std::collections::BTreeMap;

use crate::analysis::{Analysis, Analyzer, Frames};
use crate::error::Error;
use crate::flow::Summary;
use crate::quic::Losses;
use crate::read::Reader;
use crate::sender::Cause;
use crate::verdict::{Confidence, Noticed, Verdict};
use serde::Serialize;

/// Bytes of a capture in memory that are read at a time.
const PIECE: usize = 1 << 16;

/// One segment that sent something again.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Retransmission {
    /// Number of its file in the report.
    pub capture: usize,
    /// Number of its frame in the file, from 1.
    pub frame: u64,
    /// When it was seen, in seconds since 1970.
    pub time_s: f64,
    /// Number of its connection in the report.
    pub connection: u64,
    /// Which end sent it.
    pub sender: End,
    /// Its number on the wire: `seq`, or `tsn`.
    #[serde(flatten)]
    pub number: Number,
    /// Bytes of payload.
    pub bytes: u32,
    /// 2 is the first retransmission.
    pub copy: usize,
    /// Why it was sent.
    pub cause: Cause,
    /// The cause by another reading of the trace, which explains it nearly as well; `None` if there is no such reading.
    pub other_cause: Option<Cause>,
    /// Whether it was needed.
    pub verdict: Verdict,
    /// How sure that is.
    pub confidence: Confidence,
    /// Why it is judged so.
    pub reason: &'static str,
    /// The frame that shows it.
    pub evidence_frame: Option<u64>,
    /// The course of the sender's flight afterwards.
    pub stack_noticed: Noticed,
    /// Bytes that were under way before it, and not soon after it was answered; `None` if it was needed or that cannot be told.
    pub window_lost_bytes: Option<u64>,
    /// From the first retransmission of its time of trouble until as much was under way again.
    pub flight_back_ms: Option<f64>,
    /// For each detector that would have judged: what it would have said, and when.
    pub first_told: Vec<Told>,
}

/// The number that a protocol gives what it sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// TCP's sequence number.
    Seq(u32),
    /// SCTP's transmission sequence number.
    Tsn(u32),
}

impl Number {
    /// The number, whichever protocol it is of.
    pub fn value(self) -> u32 {
        let (Self::Seq(number) | Self::Tsn(number)) = self;
        number
    }
}

/// An end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The one that was seen first.
    Client,
    /// The other.
    Server,
}

/// The judgement of one of the registry's detectors on an episode, given what the sender heard.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Told {
    /// Its name in the registry.
    pub detector: &'static str,
    /// The frame at which it would have spoken.
    pub frame: u64,
    /// Whether it would have called the retransmission spurious.
    pub spurious: bool,
    pub reason: &'static str,
}

/// One file of a report.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Capture {
    /// Its name, as it was given.
    pub file: String,
    /// Frames that were read.
    pub frames: u64,
    /// Why reading stopped before the end of the file.
    pub error: Option<String>,
}

/// Everything that was found in some files.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Report {
    /// The files, in the order in which they were analysed.
    pub captures: Vec<Capture>,
    /// TCP segments.
    pub segments: u64,
    pub sctp_packets: u64,
    /// Frames with neither of them, by the reason.
    pub others: BTreeMap<String, u64>,
    /// How often a frame was older than the one before it.
    pub times_clock_went_back: u64,
    /// Connections that had to make room before they were over: what came of them later counts as other connections.
    pub evicted: u64,
    /// Connections in which data went, in the order of their first packets.
    pub connections: Vec<Summary>,
    /// Connections without any data.
    pub connections_without_data: u64,
    /// The retransmissions, in the order of files and frames.
    pub retransmissions: Vec<Retransmission>,
    /// The packets that QUIC's logs declare lost, if there are logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quic: Option<Losses>,
}

impl Report {
    /// Analyses a capture that is in memory, uncompressed. `name` is what it is called in the report.
    ///
    /// # Errors
    /// Why no frame could be read. A capture that is damaged further on counts up to there, and the report says so.
    pub fn of_bytes(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        let (mut reader, mut analyzer) = (Reader::new(), Analyzer::default());
        let mut error = None;
        // In pieces, so that only one of them is copied at a time.
        'reading: for piece in bytes.chunks(PIECE) {
            reader.feed(piece);
            loop {
                match reader.frame() {
                    Ok(Some(frame)) => analyzer.frame(&frame),
                    Ok(None) => break,
                    Err(found) => {
                        error = Some(found);
                        break 'reading;
                    }
                }
            }
        }
        let error = error.or(reader.finish().err());
        let frames = reader.frames();
        if let Some(error) = error.clone().filter(|_| frames == 0) {
            return Err(error);
        }
        let mut report = Self::default();
        let capture = Capture { file: name.to_owned(), frames, error: error.map(|error| error.to_string()) };
        report.add(vec![capture], analyzer.finish());
        Ok(report)
    }

    /// Adds what was found in files that follow each other as one capture.
    pub fn add(&mut self, captures: Vec<Capture>, analysis: Analysis) {
        let (first, connections) = (self.captures.len(), self.connections.len() as u64 + self.connections_without_data);
        let frames = Frames::new(captures.iter().map(|capture| capture.frames));
        self.captures.extend(captures);
        self.segments += analysis.segments;
        self.sctp_packets += analysis.sctp_packets;
        self.times_clock_went_back += analysis.backwards;
        self.evicted += analysis.evicted;
        self.connections_without_data += analysis.without_data;
        for (other, count) in analysis.others {
            *self.others.entry(other.to_string()).or_default() += count;
        }
        self.connections.extend(analysis.connections.into_iter().map(|mut one| {
            one.connection += connections;
            one
        }));
        for mut one in analysis.retransmissions {
            let (file, frame) = frames.find(one.frame);
            (one.capture, one.frame) = (first + file, frame);
            one.connection += connections;
            one.evidence_frame = one.evidence_frame.map(|frame| frames.find(frame).1);
            for told in &mut one.first_told {
                told.frame = frames.find(told.frame).1;
            }
            self.retransmissions.push(one);
        }
    }

    /// The report as one JSON object.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The retransmissions as CSV, a line each.
    pub fn csv(&self) -> String {
        csv::write(&self.retransmissions)
    }

    /// Returns the retransmissions of one file.
    pub fn of_capture(&self, capture: usize) -> impl Iterator<Item = &Retransmission> {
        self.retransmissions.iter().filter(move |one| one.capture == capture)
    }

    /// How many retransmissions got this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.retransmissions.iter().filter(|one| one.verdict == verdict).count()
    }
}
