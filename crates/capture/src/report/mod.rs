//! The report of an analysis, in its published form.
//!
//! Frames count from 1 in their file, as in Wireshark. Files count from 0 in the order of their
//! first frames, which is the order in which they were analysed.

pub mod advice;
pub mod annotate;
pub mod anonymise;
pub mod condition;
mod csv;
pub mod score;
pub mod text;
pub(crate) mod total;
pub mod xpl;

use std::collections::BTreeMap;

use crate::analysis::{Analysis, Analyzer, Frames};
use crate::frame::Error;
use crate::frame::read::Reader;
use crate::quic::{self, Losses};
use crate::result::{DirectionSummary, Retransmission, Summary, Verdict};
use advice::Advice;
use serde::Serialize;

/// Bytes of a capture in memory that are passed to the reader at a time.
const PIECE: usize = 1 << 16;

/// The version of a report's JSON (`docs/reference/schemas/analyze.json`).
pub const VERSION: u32 = 1;

/// One file of a report.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Capture {
    /// The file's name, as it was given.
    pub file: String,
    pub frames: u64,
    /// Why reading stopped before the end of the file; `None` if the file was read to its end.
    pub error: Option<String>,
}

/// All results from a set of files.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Report {
    /// The files, in the order in which they were analysed.
    pub captures: Vec<Capture>,
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
    pub connections_without_data: u64,
    /// The retransmissions, in the order of files and frames.
    pub retransmissions: Vec<Retransmission>,
    /// The packets that QUIC logs declare lost; `None` without logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quic: Option<Losses>,
}

/// A report with the sentences about it.
#[derive(Serialize)]
struct Published<'a> {
    /// The total in words.
    headline: String,
    #[serde(flatten)]
    report: &'a Report,
    advice: Vec<Advice>,
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
        let error = error.map(|error| error.to_string());
        Ok(Self::of_one(Capture { file: name.to_owned(), frames, error }, analyzer.finish()))
    }

    /// Returns the report of one file.
    pub(crate) fn of_one(capture: Capture, analysis: Analysis) -> Self {
        let mut report = Self::default();
        report.add(vec![capture], analysis);
        report
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
            for judged in &mut one.first_told {
                judged.frame = frames.find(judged.frame).1;
            }
            self.retransmissions.push(one);
        }
    }

    /// Returns the report as one JSON object, with its total in words and with advice.
    pub fn json(&self) -> String {
        let published = Published { headline: total::headline(self), report: self, advice: advice::advice(self) };
        serde_json::to_string(&published).unwrap_or_default()
    }

    /// Returns the counts that are left after connections and retransmissions were taken out, as one
    /// JSON object.
    pub fn rest_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the retransmissions as CSV, one per line. If only logs were analysed, returns the
    /// packets declared lost.
    pub fn csv(&self) -> String {
        match &self.quic {
            Some(losses) if self.captures.is_empty() => quic::csv::write(losses),
            _ => csv::write(&self.retransmissions),
        }
    }

    /// Returns both directions of all connections.
    fn directions(&self) -> impl Iterator<Item = &DirectionSummary> {
        self.connections.iter().flat_map(|one| &one.directions)
    }

    /// Returns the retransmissions of one file.
    pub fn of_capture(&self, capture: usize) -> impl Iterator<Item = &Retransmission> {
        self.retransmissions.iter().filter(move |one| one.capture == capture)
    }

    /// Returns the number of retransmissions with a verdict, without probes.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.retransmissions.iter().filter(|one| one.verdict == verdict && !one.repairs_nothing()).count()
    }

    /// Returns whether the capture shows a packet that can be judged.
    pub fn has_packets(&self) -> bool {
        self.segments + self.sctp_packets > 0
    }
}
