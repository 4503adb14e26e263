//! The sender's variables at one instant, for observers.

use super::Engine;
use eifel_base::time::{Duration, Instant};

/// The sender's variables at one instant. Lengths in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold; `u64::MAX` while unset.
    pub ssthresh: u64,
    /// FlightSize (RFC 5681).
    pub flight: u64,
    /// Believed to be under way (RFC 6675).
    pub pipe: u64,
    /// First position not acknowledged.
    pub una: u64,
    /// First position never sent.
    pub nxt: u64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Variation of the round-trip time (RTTVAR).
    pub rttvar: Option<Duration>,
    /// Retransmission timeout, back-off included.
    pub rto: Duration,
    /// The newest sample.
    pub latest_rtt: Option<Duration>,
    /// Samples so far, the handshake's included.
    pub samples: u64,
    /// When the engine wants to be woken; [`Instant::NEVER`] if it does not.
    pub deadline: Instant,
}

impl Engine {
    /// Returns the variables as they are now.
    pub fn snapshot(&self) -> Snapshot {
        let (path, board) = (&self.path, &self.board);
        let estimate = path.rto.estimate();
        Snapshot {
            cwnd: path.window.cwnd,
            ssthresh: path.window.ssthresh,
            flight: board.outstanding(),
            pipe: board.pipe(),
            una: board.una(),
            nxt: board.nxt(),
            srtt: estimate.map(|estimate| estimate.srtt),
            rttvar: estimate.map(|estimate| estimate.rttvar),
            rto: path.rto.rto(),
            latest_rtt: path.watch.round_trips().latest(),
            samples: path.watch.round_trips().taken(),
            deadline: self.deadline(),
        }
    }
}
