//! How large the window is. One file a controller.

pub mod cubic;
pub mod reno;

use crate::duplicate::DuplicateCongest;
use crate::fact::Cause;
use crate::time::Duration;
use crate::view::View;

/// What congestion control limits sending by, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The congestion window. What recovery allows beyond it for duplicate ACKs is not in it.
    pub cwnd: u64,
    /// The slow-start threshold; `u64::MAX` while unset.
    pub ssthresh: u64,
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
    /// Whether the oldest segment has been retransmitted by the timer before.
    pub timeouts: Timeouts,
}

/// Whether a timeout is the first for its segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timeouts {
    /// It is, or it is not a timeout.
    First,
    /// It is not.
    Again,
}

/// Grows the window on ACKs and cuts it on losses.
pub trait Congest: Send + DuplicateCongest {
    /// The window when data may first be sent.
    fn initial(&mut self, mss: u32) -> Window;
    /// An ACK outside of fast recovery acknowledged `acked` new bytes; `flight` bytes were outstanding before it.
    fn on_ack(&mut self, now: &Window, acked: u64, flight: u64, view: &View) -> Window;
    /// Something was lost, or so it seems.
    fn on_loss(&mut self, now: &Window, loss: &Loss, view: &View) -> Window;
    /// The last loss signal was spurious, and the response gives back what it took.
    fn on_undo(&mut self, _: &View) {}
    /// Sending begins again after nothing was outstanding for `idle`, longer than the RTO.
    fn on_idle(&mut self, now: &Window, idle: Duration, mss: u32) -> Window;
}
