//! How large the window is. One file a controller.

pub mod cubic;
pub mod reno;

use crate::duplicate::DuplicateCongest;
use crate::fact::Cause;
use crate::view::View;
use eifel_base::time::Duration;

/// What congestion control limits sending by, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The congestion window. What recovery allows beyond it for duplicate ACKs is not in it.
    pub cwnd: u64,
    /// The slow-start threshold; `u64::MAX` while unset.
    pub ssthresh: u64,
}

/// An ACK as congestion control sees it. Lengths in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Newly acknowledged by the cumulative acknowledgement; 0 where it did not advance.
    pub acked: u64,
    /// Newly reported by SACK.
    pub sacked: u64,
    /// Outstanding before the ACK: next to cwnd it tells whether the window was used.
    pub flight: u64,
}

/// A loss signal as congestion control sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loss {
    /// What told of the loss.
    pub cause: Cause,
    /// FlightSize in bytes, without what Limited Transmit sent.
    pub flight: u64,
    /// What sending was limited by: the smaller of cwnd and the peer's window, in bytes.
    pub limit: u64,
    /// Whether this is a further timeout of a segment that the timer has already retransmitted.
    pub timeout_again: bool,
}

/// When cwnd grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grow {
    /// On every ACK of new data.
    Always,
    /// While it is what limits sending: at least half of it is outstanding in slow start, all but a segment after.
    WhenLimiting,
}

impl Grow {
    /// Whether it grows on an ACK before which `flight` bytes were outstanding.
    fn permits(self, now: &Window, flight: u64, mss: u64) -> bool {
        match self {
            Self::Always => true,
            Self::WhenLimiting if now.cwnd < now.ssthresh => flight * 2 >= now.cwnd,
            Self::WhenLimiting => flight + mss > now.cwnd,
        }
    }
}

/// What sending does after an idle time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restart {
    /// Begins again with the restart window (RFC 5681, section 4.1).
    RestartWindow,
    /// Goes on with the window as it is.
    Unchanged,
}

impl Restart {
    /// The window after the idle time; the restart window is no larger than the initial one.
    fn after_idle(self, now: &Window, initial: u64) -> Window {
        match self {
            Self::RestartWindow => Window { cwnd: now.cwnd.min(initial), ..*now },
            Self::Unchanged => *now,
        }
    }
}

/// Grows the window on ACKs and cuts it on losses.
pub trait Congest: Send + DuplicateCongest {
    /// The window when data may first be sent.
    fn initial(&mut self, mss: u32) -> Window;
    /// An ACK outside of fast recovery delivered something.
    fn on_ack(&mut self, now: &Window, progress: &Progress, view: &View) -> Window;
    /// Something was lost, or so it seems.
    fn on_loss(&mut self, now: &Window, loss: &Loss, view: &View) -> Window;
    /// Restores what the last loss signal changed: it was spurious, and a response gives back what it took.
    fn on_undo(&mut self, view: &View);
    /// Sending begins again after nothing was outstanding for `idle`, longer than the RTO.
    fn on_idle(&mut self, now: &Window, idle: Duration, mss: u32) -> Window;
}
