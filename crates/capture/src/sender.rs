//! Models of senders: what a stack would have done, asked for each retransmission what it can have been.
//!
//! All models are one state machine with different settings. Each keeps its own state, names a cause for each retransmission,
//! and counts how much that cause leaves unexplained. Far from the sender it keeps several readings of the trace until later
//! packets tell them apart. The model that explains a connection best names the causes.

mod fit;
mod model;
mod seen;
mod settings;
mod strands;
#[cfg(test)]
mod tests;

pub use model::Model;
pub use seen::{Heard, Resent};
pub use settings::{MODELS, Settings};
pub(crate) use strands::UNDECIDED;
pub use strands::{Explained, Strands};

use serde::Serialize;

/// Why something was sent again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The retransmission timer expired.
    Rto,
    /// Sent again because an expiry of the timer had declared it lost: go-back-N.
    Loss,
    /// Duplicate ACKs, SACKs, RACK or a partial ACK say that it was lost.
    Fast,
    /// A tail-loss probe.
    Tlp,
    /// A probe of a closed window.
    ZeroWindowProbe,
    /// Asks an idle peer whether it is still there.
    KeepAlive,
    /// A handshake's segment.
    Syn,
    /// Made smaller because the path's MTU is.
    PathMtu,
    /// No model explains it.
    Unknown,
}

impl Cause {
    /// Its name in tables and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rto => "rto",
            Self::Loss => "loss",
            Self::Fast => "fast",
            Self::Tlp => "tlp",
            Self::ZeroWindowProbe => "zero-window-probe",
            Self::KeepAlive => "keep-alive",
            Self::Syn => "syn",
            Self::PathMtu => "path-mtu",
            Self::Unknown => "unknown",
        }
    }
}
