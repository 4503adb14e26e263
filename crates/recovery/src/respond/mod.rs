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
use crate::recover::Growth;

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
    /// What the timer learns.
    pub timer: Lesson,
}

/// What a response wants the timer to learn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lesson {
    /// Nothing.
    None,
    /// To begin anew, but not below what was before, from the first sample of data that was unsent at the timeout: by
    /// then the path is as it is now (RFC 4015, section 3.1, step 11).
    FromNewData {
        /// SRTT and RTTVAR before the timeout.
        before: Estimate,
    },
}

/// Undoes what a spurious retransmission has done. It cannot see packets.
pub trait Response: Send + DuplicateResponse {
    /// What changes because of `verdict`.
    fn respond(&mut self, verdict: &Verdict, saved: &Saved, now: &Window) -> Adjust;
    /// Whether the ACK that brought the verdict may let the window grow besides.
    fn growth(&self, _: &Verdict) -> Growth {
        Growth::Grow
    }

    /// What is given back where something was lost, but some of what was sent again had not been.
    fn credit(&mut self, _: Share, _: &Saved, now: &Window) -> Window {
        *now
    }
}
