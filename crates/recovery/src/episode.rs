//! From the first retransmission to its end: what opened it, and what an undo can restore.

use crate::congest::Window;
use crate::fact::Cause;
use eifel_base::time::{Duration, Instant};

/// Everything that an undo can restore, made once when the episode opens and never shared between episodes.
///
/// Deliberately not in it: what the scoreboard knows (it only learns), the RTT samples taken since, and the back-off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Saved {
    /// The window before anything was reduced.
    pub window: Window,
    /// The window as the loss signal that opened the episode left it.
    pub reduced: Window,
    /// FlightSize then, in bytes.
    pub flight: u64,
    /// RFC 4015's SRTT_prev and RTTVAR_prev before the granularity is added; `None` without samples.
    pub estimate: Option<Estimate>,
}

/// A smoothed round-trip time and its variation (RFC 6298, section 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Estimate {
    /// SRTT.
    pub srtt: Duration,
    /// RTTVAR.
    pub rttvar: Duration,
}

/// How far an episode has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// No verdict yet.
    Open,
    /// The acting detector has spoken.
    Settled,
}

/// One loss signal and what follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Episode {
    /// Counts from 1 in a connection.
    pub number: u32,
    /// What opened it.
    pub cause: Cause,
    /// When.
    pub opened_at: Instant,
    /// `una` then.
    pub start: u64,
    /// `nxt` then: the episode ends when all below is acknowledged.
    pub recovery_point: u64,
    /// Expiries of the timer for the same oldest segment, the first included; 0 for a fast retransmit.
    pub timeouts: u32,
    /// Whether a verdict is still wanted.
    pub stage: Stage,
    saved: Saved,
}

impl Episode {
    pub(crate) fn open(number: u32, cause: Cause, now: Instant, positions: (u64, u64), saved: Saved) -> Self {
        let timeouts = u32::from(cause == Cause::Timeout);
        let (start, recovery_point) = positions;
        Self { number, cause, opened_at: now, start, recovery_point, timeouts, stage: Stage::Open, saved }
    }

    /// What an undo can restore.
    pub fn saved(&self) -> &Saved {
        &self.saved
    }
}
