//! What is undone after a spurious retransmission, and how much of it. One file a response.

pub mod by_retransmissions;
pub mod none;
pub mod option_1;
pub mod option_2;
pub mod option_3;
pub mod option_4;
pub mod option_4_ssthresh;
pub mod rfc4015;

use crate::congest::Window;
use crate::episode::Saved;
use crate::fact::Cause;
use crate::rto::TimerChange;
use crate::time::Duration;

/// That an episode was spurious, and what is known of it. Lengths in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// What opened the episode.
    pub cause: Cause,
    /// Timeouts of the oldest segment; 0 after a fast retransmit.
    pub timeouts: u32,
    /// FlightSize at the verdict, after the ACK.
    pub flight: u64,
    /// What the ACK that settled it newly acknowledged.
    pub acked: u64,
    /// Its round-trip sample, if it gave one.
    pub sample: Option<Duration>,
    /// Whether it carried ECN-Echo.
    pub ece: bool,
    /// What the connection has learned of losses so far.
    pub losses: Losses,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// The initial window.
    pub initial_window: u64,
}

/// Whether any loss was detected in the connection's life, spurious ones apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Losses {
    /// None.
    NoneYet,
    /// At least one.
    Seen,
}

/// What a response wants changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Adjust {
    /// The window from now on.
    pub window: Window,
    /// The timer from now on.
    pub timer: TimerChange,
}

/// Undoes what a spurious retransmission has done. It cannot see packets.
pub trait Response: Send {
    /// What changes because of `verdict`.
    fn respond(&mut self, verdict: &Verdict, saved: &Saved, now: &Window) -> Adjust;
}
