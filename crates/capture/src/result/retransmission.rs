//! A retransmission, as a report shows it.

use super::{Cause, Confidence, StackReaction, Trigger, Verdict};
use serde::Serialize;

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
    pub sender: End,
    /// Its sequence number or TSN on the wire, under the key `seq` or `tsn`.
    #[serde(flatten)]
    pub number: Number,
    pub bytes: u32,
    /// The number of this transmission: 2 is the first retransmission.
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
    /// When it was sent and acknowledged, seen from the first transmission.
    #[serde(flatten)]
    pub timing: Timing,
    /// Whether the sender's flight size shows that the stack undid its reaction.
    pub stack_noticed: StackReaction,
    /// The effect on the sender's flight size.
    #[serde(flatten)]
    pub effect: Effect,
    /// The first judgement of each detector that would have judged, and its frame.
    pub first_told: Vec<DetectorVerdict>,
}

/// When a retransmission was sent and acknowledged, seen from the first transmission of its data.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct Timing {
    /// Milliseconds from the first transmission of the data to this one. `None` if the capture does not
    /// show the first.
    pub since_first_ms: Option<f64>,
    /// Milliseconds from the first transmission to the first ACK or SACK block that covers the data.
    /// `None` if the capture does not show both.
    pub answered_ms: Option<f64>,
    /// Whether that ACK also reports the data as a duplicate. Then no ACK of the copy that arrived
    /// first has passed here.
    pub answered_as_duplicate: bool,
    /// What made it leave, for `eifel advise`. `None` if its cause is known without a model, and with SCTP.
    #[serde(skip)]
    pub trigger: Option<Box<Trigger>>,
}

/// The effect of a retransmission on the sender's flight size.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize)]
pub struct Effect {
    /// Bytes by which the flight size stayed below its earlier value in the two round trips after
    /// the retransmission was acknowledged. `None` if it was needed or if no new data left in that
    /// time.
    pub window_lost_bytes: Option<u64>,
    /// Milliseconds from the first retransmission of its group until the flight size had recovered.
    /// `None` if it was needed or if the flight size did not recover.
    pub flight_back_ms: Option<f64>,
}

impl Retransmission {
    /// Returns whether it repairs nothing: a keep-alive, a probe of a closed window, or an ACK that carries
    /// the FIN again. Totals leave these out.
    pub fn repairs_nothing(&self) -> bool {
        matches!(self.cause, Cause::KeepAlive | Cause::ZeroWindowProbe | Cause::RepeatedFin)
    }
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
    Server,
}

/// The judgement of one of the registry's detectors on a loss episode, based on the ACKs that the
/// sender received.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DetectorVerdict {
    /// The detector's name in the registry.
    pub detector: &'static str,
    /// The frame at which it would have judged.
    pub frame: u64,
    /// Whether it would have called the retransmission spurious.
    pub spurious: bool,
    pub reason: &'static str,
}
