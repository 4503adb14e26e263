//! Rare events, for observers. The brain never reads them back.

use crate::congest::Window;
use crate::detect::Outcome;
use crate::episode::{Episode, Saved};

/// A rare event in a sender's life. ACKs and samples are not among them.
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
    /// A detector judged the episode that is open, or the last one.
    Judged {
        /// Number of the episode.
        episode: u32,
        /// Place of the detector: 0 acts, the others watch.
        detector: usize,
        /// Spurious or genuine.
        outcome: Outcome,
        /// The detector's reason.
        reason: &'static str,
    },
    /// A detector no longer believes the peer. It judges nothing from now on.
    Distrusted {
        /// Place of the detector: 0 acts, the others watch.
        detector: usize,
        /// The detector's reason.
        reason: &'static str,
    },
    /// A verdict, or the end of a recovery, gave back a part of the window.
    Adjusted {
        /// Number of the episode.
        episode: u32,
        /// The window from now on.
        window: Window,
    },
    /// An echo of a mark has cut the window.
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
