//! What captures at several places of a path show together.

use crate::result::{Confidence, Endpoint, Verdict};
use serde::{Serialize, Serializer};

/// All results.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Report {
    /// From the sender to the receiver.
    pub places: Vec<PlaceSummary>,
    /// Connections that the first and the last place show, in the order of their first packets.
    pub connections: Vec<Connection>,
    /// Connections that only the first place shows.
    pub connections_alone: u64,
    /// In the order of connections, and of time in each direction.
    pub retransmissions: Vec<Retransmission>,
}

/// A capture.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlaceSummary {
    pub place: String,
    pub file: String,
    pub frames: u64,
    /// Why reading stopped before the end of the file; `None` if the file was read to its end.
    pub error: Option<String>,
}

/// A connection at all places.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Connection {
    pub connection: u64,
    /// The end at the first place, as this place names it.
    pub sender: Endpoint,
    /// The end at the last place, as the first place names it.
    pub receiver: Endpoint,
    /// The clock of each further place that shows the connection.
    pub clocks: Vec<Clock>,
    /// From the sender to the receiver, and back.
    pub directions: [Direction; 2],
}

/// The clock of a place, compared with that of the first place.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Clock {
    pub place: String,
    /// How much it is ahead when the connection begins, and how far this may be off: half of the
    /// shortest round trip. `None` without packets both ways.
    pub ahead_ms: Option<f64>,
    pub off_by_ms: Option<f64>,
    /// The drifts that the packets allow, in millionths; `None` without a bound.
    pub least_drift_ppm: Option<f64>,
    pub most_drift_ppm: Option<f64>,
    /// Whether no constant difference and drift fits the packets: a clock was set.
    pub stepped: bool,
}

/// One direction of a connection.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Direction {
    /// Segments with data that left, and their bytes.
    pub segments: u64,
    pub bytes: u64,
    pub arrived: u64,
    pub lost: u64,
    /// Segments whose fate the captures do not show.
    pub unknown: u64,
    /// Where segments were lost.
    pub lost_between: Vec<Hop>,
    /// Packets that the network copied.
    pub copies: u64,
    /// Segments that arrived after one that had left later, and the longest time behind it.
    pub reordered: u64,
    pub reordered_ms_max: Option<f64>,
    /// From departure to arrival; `None` without packets both ways.
    pub delay_ms: Option<Delays>,
    pub captures: Gaps,
    pub retransmissions: Retransmissions,
}

/// The number of segments that were lost between two places.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Hop {
    pub from: String,
    pub to: String,
    pub lost: u64,
}

/// One-way delays in milliseconds. The clocks leave a constant open that is added to one direction
/// and taken from the other: the shortest delays of both are taken as equal.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Delays {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

/// Signs that captures lack frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Gaps {
    /// Packets that arrived and that the capture at their sender lacks.
    pub not_at_sender: u64,
    /// Reports of the receiver of data that the capture there had not seen arrive.
    pub not_at_receiver: u64,
}

/// Retransmissions by verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Retransmissions {
    pub spurious: u64,
    pub needed: u64,
    pub undecidable: u64,
}

/// What became of a transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    Arrived,
    Lost,
    Unknown,
}

impl Fate {
    /// Returns the word in a truth file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrived => "ok",
            Self::Lost => "lost",
            Self::Unknown => "unknown",
        }
    }
}

/// A segment that was sent once more.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Retransmission {
    pub connection: u64,
    /// Whether the end at the first place sent it.
    pub from_sender: bool,
    /// When it left, in nanoseconds since 1970 by the clock of the place where it left.
    #[serde(rename = "time_s", serialize_with = "seconds")]
    pub nanos: u64,
    /// Where it passed, by place; `None` where it was not seen, or where nobody knows which of
    /// several packets that look alike it is.
    pub frames: Vec<Option<Passed>>,
    pub seq: u32,
    pub bytes: u64,
    /// The number of this transmission: 2 is the first retransmission.
    pub copy: u32,
    pub fate: Fate,
    /// The places between which it was lost, if it was and the captures show it.
    pub lost_between: Option<[String; 2]>,
    /// Spurious: an earlier copy of all its bytes arrived. Needed: of some byte none arrived.
    pub verdict: Verdict,
    pub confidence: Confidence,
    /// Whether the capture where it left shows an earlier copy of all its bytes.
    pub original_known: bool,
}

/// A frame that holds a retransmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed {
    pub frame: u64,
    /// Whether an earlier copy of its first byte, or data behind it, had passed there.
    pub traced: bool,
}

impl Serialize for Passed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.frame)
    }
}

fn seconds<S: Serializer>(nanos: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*nanos as f64 / 1e9)
}
