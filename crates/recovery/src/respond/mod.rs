//! What is undone after a spurious retransmission, and how much of it. One file a response.

pub mod by_retransmissions;
pub mod none;
pub mod option_1;
pub mod option_2;
pub mod option_3;
pub mod option_4;
pub mod option_4_ssthresh;
pub mod partial_credit;
pub mod rfc3708;
pub mod rfc4015;

use crate::congest::Window;
use crate::detect::Share;
use crate::duplicate::DuplicateResponse;
use crate::episode::{Estimate, Saved};
use crate::fact::Cause;

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
    /// Whether it carried ECN-Echo.
    pub ece: bool,
    /// Whether the connection has ever detected a loss, spurious ones apart.
    pub loss_seen: bool,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// The initial window.
    pub initial_window: u64,
}

/// What a response wants changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Adjust {
    /// The window from now on.
    pub window: Window,
    /// SRTT and RTTVAR before the timeout, if the timer is to begin anew, but not below them, from the first sample of data
    /// that was unsent at the timeout: by then the path is as it is now (RFC 4015, section 3.1, step 11).
    pub reseed: Option<Estimate>,
}

impl Adjust {
    /// Changes the window and nothing else.
    pub const fn to(window: Window) -> Self {
        Self { window, reseed: None }
    }
}

/// Undoes what a spurious retransmission has done. It cannot see packets.
pub trait Response: Send + DuplicateResponse {
    /// Returns what changes because of `verdict`.
    fn respond(&mut self, verdict: &Verdict, saved: &Saved, now: &Window) -> Adjust;

    /// Returns whether the ACK that brought the verdict may also grow the window.
    fn lets_grow(&self, _: &Verdict) -> bool {
        true
    }

    /// Returns the window after a mixed verdict: something was lost, but some retransmissions were needless.
    fn credit(&mut self, _: Share, _: &Saved, now: &Window) -> Window {
        *now
    }
}
