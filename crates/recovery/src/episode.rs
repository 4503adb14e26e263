//! A loss signal and everything that follows from it, until all data outstanding at the signal is
//! acknowledged.

use crate::congest::Window;
use crate::fact::Cause;
use eifel_base::time::{Duration, Instant};

/// Everything that an undo can restore. A [`Path`](crate::path::Path) makes a new one for each
/// episode that it opens: two episodes never share one.
///
/// It leaves out three things on purpose: the scoreboard, whose reports stay true; the RTT samples
/// taken since; and the back-off of the timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Saved {
    /// The window before the loss signal reduced it.
    pub window: Window,
    /// The window after the loss signal reduced it.
    pub reduced: Window,
    /// FlightSize at the loss signal, in bytes, limited to what the window had allowed. At most
    /// ssthresh while an earlier loss, whose cut was not undone, is being repaired.
    pub flight: u64,
    /// The peer's window at the loss signal, in bytes.
    pub peer_window: u64,
    /// RFC 4015's SRTT_prev and RTTVAR_prev, without the clock granularity that the RFC adds;
    /// `None` without samples.
    pub estimate: Option<Estimate>,
}

/// A smoothed round-trip time and its variation (RFC 6298, section 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Estimate {
    pub srtt: Duration,
    pub rttvar: Duration,
}

/// A loss signal and its consequences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Episode {
    /// Counts from 1 on each path.
    pub number: u32,
    /// The kind of loss signal.
    pub cause: Cause,
    /// Instant of the loss signal.
    pub opened_at: Instant,
    /// `una` at the loss signal.
    pub start: u64,
    /// `nxt` at the loss signal. The episode closes when everything below is acknowledged.
    pub recovery_point: u64,
    /// Expiries of the timer for the same oldest segment, including the first; 0 for a fast
    /// retransmit.
    pub timeouts: u32,
    /// Whether a verdict or loss recovery has settled the episode. An episode is settled at most
    /// once.
    pub settled: bool,
    /// Whether everything below the recovery point is acknowledged. A verdict may still come.
    pub closed: bool,
}
