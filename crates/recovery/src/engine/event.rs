//! What observers are told. Nothing in here is read back by the engine.

use crate::congest::Window;
use crate::detect::Outcome;
use crate::episode::Episode;
use eifel_base::time::Duration;

/// Something rare that happened to the sender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// The retransmission timer has expired, for the `timeouts`-th time for its segment.
    TimerExpired {
        /// Counts from 1.
        timeouts: u32,
    },
    /// A loss signal has opened an episode.
    EpisodeOpened(Episode),
    /// A detector has judged the open episode.
    Judged {
        /// Number of the episode.
        episode: u32,
        /// Index of the detector: 0 acts, the others watch.
        detector: usize,
        /// Spurious or genuine.
        outcome: Outcome,
        /// Why.
        reason: &'static str,
    },
    /// A detector believes the peer no more, and judges nothing from now on.
    Distrusted {
        /// Index of the detector: 0 acts, the others watch.
        detector: usize,
        /// Why.
        reason: &'static str,
    },
    /// A response has adjusted the window.
    Adjusted {
        /// Number of the episode.
        episode: u32,
        /// The window from now on.
        window: Window,
    },
    /// All of the episode's data was acknowledged, or a later loss signal took its place.
    EpisodeClosed {
        /// Its number.
        episode: u32,
        /// Expiries of the timer for its oldest segment.
        timeouts: u32,
    },
}

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
    /// Smoothed round-trip time.
    pub srtt: Option<Duration>,
    /// Its variation.
    pub rttvar: Option<Duration>,
    /// Retransmission timeout, back-off included.
    pub rto: Duration,
    /// The newest sample.
    pub latest_rtt: Option<Duration>,
    /// Samples so far.
    pub samples: u64,
    /// When the engine wants to be woken.
    pub deadline: eifel_base::time::Instant,
}
