//! What an analysis finds, in the shape in which it is published.

use crate::sender::Cause;
use crate::verdict::{Confidence, Verdict};

/// One segment that sent something again.
#[derive(Clone, PartialEq, Debug)]
pub struct Retransmission {
    /// Number of its frame, from 1.
    pub frame: u64,
    /// When it was seen, in nanoseconds since 1970.
    pub nanos: u64,
    /// Number of its connection in the capture.
    pub connection: u64,
    /// Sequence number on the wire.
    pub seq: u32,
    /// Bytes of payload.
    pub bytes: u32,
    /// 2 is the first retransmission.
    pub copy: usize,
    /// Why it was sent.
    pub cause: Cause,
    /// Whether it was needed.
    pub verdict: Verdict,
    /// How sure that is.
    pub confidence: Confidence,
    /// Why it is judged so.
    pub reason: &'static str,
    /// The frame that shows it.
    pub evidence_frame: Option<u64>,
}
