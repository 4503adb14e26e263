//! Rare events, for observers. The sender's logic never reads them back.

use crate::congest::Window;
use crate::detect::Outcome;
use crate::episode::{Episode, Saved};

/// A rare event at a sender. ACKs and samples are not events.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// The retransmission timer expired on an open connection.
    TimerExpired {
        /// Expiries so far for the oldest segment, from 1.
        timeouts: u32,
    },
    /// A loss signal opened an episode.
    EpisodeOpened {
        episode: Episode,
        /// The state that an undo could restore.
        saved: Saved,
    },
    /// A detector judged the open episode, or the last one if none is open.
    Judged {
        /// Number of the episode.
        episode: u32,
        /// Index of the detector: 0 acts, the others only watch.
        detector: usize,
        /// Spurious or genuine.
        outcome: Outcome,
        /// The detector's reason.
        reason: &'static str,
    },
    /// A detector no longer trusts the peer. It judges nothing from now on.
    Distrusted {
        /// Index of the detector: 0 acts, the others only watch.
        detector: usize,
        /// The detector's reason.
        reason: &'static str,
    },
    /// A response or loss recovery has adjusted the window, to undo a loss signal or a part of it.
    Adjusted {
        /// Number of the episode.
        episode: u32,
        /// The window from now on.
        window: Window,
    },
    /// An ECN-Echo has cut the window.
    Echoed {
        /// The window from now on.
        window: Window,
    },
    /// All data of the episode is acknowledged, or a later loss signal opened another one.
    EpisodeClosed {
        /// Number of the episode.
        episode: u32,
        /// Expiries of the timer for its oldest segment.
        timeouts: u32,
    },
}
