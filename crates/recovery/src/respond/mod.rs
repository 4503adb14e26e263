//! Responses: how much they undo after a spurious retransmission. One file per response.

crate::registry::algorithms! {
    none, option_1, option_2, option_3, option_4, option_4_ssthresh, by_retransmissions, rfc4015, rfc3708, partial_credit, as_carried, linux
}
crate::duplicate::duplicate!(Response by DuplicateResponse);

use crate::congest::Window;
use crate::detect::NeedlessShare;
use crate::episode::{Estimate, Saved};
use crate::fact::Cause;

/// A spurious episode, as its response sees it. Lengths are in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// The loss signal that opened the episode.
    pub cause: Cause,
    /// Timeouts of the oldest segment; 0 after a fast retransmit.
    pub timeouts: u32,
    /// Whether a fast retransmit of that segment came before its first timeout.
    pub fast_retransmitted: bool,
    /// FlightSize at the verdict, after the ACK.
    pub flight: u64,
    /// Bytes newly acknowledged by the ACK that settled it; 0 if no ACK did.
    pub acked: u64,
    /// Whether that ACK carried ECN-Echo.
    pub ece: bool,
    /// Whether any ACK since the loss signal did.
    pub ece_in_episode: bool,
    /// Whether the path has ever had a loss signal that was not judged spurious.
    pub loss_seen: bool,
    /// The window before the fast recovery in which the timer expired; else the one before the loss
    /// signal.
    pub before_repair: Window,
    /// Payload bytes of a full segment.
    pub mss: u32,
    pub initial_window: u64,
}

/// The changes that a response wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Adjust {
    /// The window from now on.
    pub window: Window,
    /// SRTT and RTTVAR before the timeout, if the timer must be re-seeded; `None` otherwise. The
    /// first sample of data that was unsent at the timeout re-seeds it, but not below these values.
    /// That sample shows the current path (RFC 4015, section 3.1, step 11).
    pub reseed: Option<Estimate>,
}

impl Adjust {
    /// Changes the window and nothing else.
    pub const fn to(window: Window) -> Self {
        Self { window, reseed: None }
    }
}

/// Undoes the effects of a spurious retransmission. It cannot see packets.
pub trait Response: Send + DuplicateResponse {
    /// Returns the changes for `verdict`.
    fn respond(&mut self, verdict: &Verdict, saved: &Saved, now: &Window) -> Adjust;

    /// Returns whether the ACK that caused the verdict may also grow the window.
    fn lets_grow(&self, _: &Verdict) -> bool {
        true
    }

    /// Returns whether congestion control also takes back what the loss signal did to its own state,
    /// such as CUBIC's curve.
    fn restores_growth(&self) -> bool {
        true
    }

    /// Returns the window after a mixed verdict: something was lost, but some retransmissions were needless.
    fn respond_partly(&mut self, _: NeedlessShare, _: &Saved, now: &Window) -> Window {
        *now
    }
}
