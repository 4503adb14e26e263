//! What made a retransmission leave, in numbers by which another setting of the sender can be judged.

use serde::{Deserialize, Serialize};

/// The sender's clocks and counts around a retransmission, as the ACKs show them that it received. Times
/// without another origin count from the retransmission, in milliseconds, and are negative before it.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Trigger {
    /// Milliseconds since the retransmission timer was set: by an ACK of new data, by the first segment
    /// outstanding, by a tail-loss probe, or by another retransmission. `None` with QUIC, whose timer declares
    /// nothing lost.
    pub timer_ms: Option<f64>,
    /// Milliseconds that it had run before, if a tail-loss probe of new data set it.
    pub probed_ms: Option<f64>,
    /// Milliseconds since the sender last sent anything.
    pub quiet_ms: f64,
    /// Smoothed round trip, and four times its variation (RFC 6298), in milliseconds. `None` without samples.
    pub smoothed_ms: Option<f64>,
    pub variation_ms: Option<f64>,
    /// Shortest round trip so far, in milliseconds.
    pub rtt_min_ms: Option<f64>,
    /// When RACK (RFC 8985) declares the data lost if it allows no reordering. `None` if nothing was delivered
    /// that left later, and without SACK.
    pub overtaken_ms: Option<f64>,
    /// Segments of first transmissions that it repeats.
    pub segments: usize,
    /// When segments that left after the data were reported, in ascending order: before the data were, of the
    /// first [`MOST_REPORTS`] behind them. `None` if the data were not reported, and without SACK.
    pub reports_ms: Option<Vec<f64>>,
}

/// The reports kept of one retransmission. Linux allows no larger duplicate threshold by default
/// (`net.ipv4.tcp_max_reordering`).
pub const MOST_REPORTS: usize = 300;
