//! The sender's variables at one instant, for observers.

use super::Engine;
use eifel_base::time::{Duration, Instant};

/// The sender's variables at one instant. Lengths are in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold; `u64::MAX` while unset.
    pub ssthresh: u64,
    /// FlightSize (RFC 5681).
    pub flight: u64,
    /// Bytes believed to be in the network: RFC 6675's pipe.
    pub pipe: u64,
    /// First position not acknowledged.
    pub una: u64,
    /// First position never sent.
    pub nxt: u64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Variation of the round-trip time (RTTVAR).
    pub rttvar: Option<Duration>,
    /// Retransmission timeout, including back-off.
    pub rto: Duration,
    /// Newest RTT sample; `None` if there is none.
    pub latest_rtt: Option<Duration>,
    /// Number of RTT samples so far, including the handshake's.
    pub samples: u64,
    /// When [`Engine::on_timeout`] must be called; [`Instant::NEVER`] if no timer runs.
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
