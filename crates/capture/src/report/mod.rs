//! The report of an analysis, in its published form.
//!
//! Frames count from 1 in their file, as in Wireshark. Files count from 0 in the order of their
//! first frames, which is the order in which they were analysed.

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

/// Bytes of a capture in memory that are passed to the reader at a time.
const PIECE: usize = 1 << 16;

/// One retransmitted segment or chunk.
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
    /// The end that sent it.
    pub sender: End,
    /// Its sequence number or TSN on the wire, under the key `seq` or `tsn`.
    #[serde(flatten)]
    pub number: Number,
    /// Bytes of payload.
    pub bytes: u32,
    /// The number of this sending: 2 is the first retransmission.
    pub copy: usize,
    /// Why it was sent.
    pub cause: Cause,
    /// The cause in another reading of the trace that explains it nearly as well; `None` if there
    /// is no other reading.
    pub other_cause: Option<Cause>,
    /// Whether it was needed.
    pub verdict: Verdict,
    /// How sure the verdict is.
    pub confidence: Confidence,
    /// Why the verdict was given.
    pub reason: &'static str,
    /// The frame that shows it, if one does.
    pub evidence_frame: Option<u64>,
    /// Whether the sender's flight size shows that the stack undid its reaction.
    pub stack_noticed: Noticed,
    /// Bytes by which the flight size stayed below its earlier value in the two round trips after
    /// the retransmission was acknowledged. `None` if it was needed or if no new data left in that
    /// time.
    pub window_lost_bytes: Option<u64>,
    /// Milliseconds from the first retransmission of its group until the flight size had recovered.
    /// `None` if it was needed or if the flight size did not recover.
    pub flight_back_ms: Option<f64>,
    /// The first judgement of each detector that would have judged, and its frame.
    pub first_told: Vec<Told>,
}

/// The number of a retransmission in its protocol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Number {
    /// TCP's sequence number.
    Seq(u32),
    /// SCTP's transmission sequence number.
    Tsn(u32),
}

impl Number {
    /// Returns the number of either protocol.
    pub fn value(self) -> u32 {
        let (Self::Seq(number) | Self::Tsn(number)) = self;
        number
    }
}

/// An end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The sender of the first packet that was seen.
    Client,
    /// The other end.
    Server,
}

/// The judgement of one of the registry's detectors on a loss episode, based on the ACKs that the
/// sender received.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Told {
    /// The detector's name in the registry.
    pub detector: &'static str,
    /// The frame at which it would have judged.
    pub frame: u64,
    /// Whether it would have called the retransmission spurious.
    pub spurious: bool,
    pub reason: &'static str,
}

/// One file of a report.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Capture {
    /// The file's name, as it was given.
    pub file: String,
    /// Frames read.
    pub frames: u64,
    /// Why reading stopped before the end of the file; `None` if the file was read to its end.
    pub error: Option<String>,
}

/// All results from a set of files.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Report {
    /// The files, in the order in which they were analysed.
    pub captures: Vec<Capture>,
    /// TCP segments.
    pub segments: u64,
    pub sctp_packets: u64,
    /// Frames with neither TCP nor SCTP, by reason.
    pub others: BTreeMap<String, u64>,
    /// Frames older than the one before them.
    pub times_clock_went_back: u64,
    /// Connections evicted to make room before they were over. Their later packets count as new
    /// connections.
    pub evicted: u64,
    /// Connections with data, in the order of their first packets.
    pub connections: Vec<Summary>,
    /// Connections without data.
    pub connections_without_data: u64,
    /// The retransmissions, in the order of files and frames.
    pub retransmissions: Vec<Retransmission>,
    /// The packets that QUIC logs declare lost; `None` without logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quic: Option<Losses>,
}

impl Report {
    /// Analyses an uncompressed capture in memory. `name` is its file name in the report.
    ///
    /// # Errors
    /// Returns why no frame could be read. If the capture is damaged further on, the frames before
    /// the damage count, and the report has the error.
    pub fn of_bytes(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        let (mut reader, mut analyzer) = (Reader::new(), Analyzer::default());
        let mut error = None;
        // Feed pieces, so that only one piece is copied at a time.
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

    /// Adds the results of files that form one capture.
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

    /// Returns the report as one JSON object.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the retransmissions as CSV, one per line.
    pub fn csv(&self) -> String {
        csv::write(&self.retransmissions)
    }

    /// Returns the retransmissions of one file.
    pub fn of_capture(&self, capture: usize) -> impl Iterator<Item = &Retransmission> {
        self.retransmissions.iter().filter(move |one| one.capture == capture)
    }

    /// Returns the number of retransmissions with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.retransmissions.iter().filter(|one| one.verdict == verdict).count()
    }
}
