//! How fast what the window allows may leave. One file a part; it composes with every other algorithm.

pub mod burst_limit;
pub mod none;
pub mod pacing;

use crate::congest::Window;
use crate::time::{Duration, Instant};

/// When the next segment may leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permit {
    /// Now.
    Now,
    /// Not before.
    At(Instant),
    /// Not before the next ACK or timeout.
    NextInput,
}

/// Holds back what leaves too fast.
pub trait Pace: Send {
    /// An ACK or a timeout came.
    fn on_input(&mut self);
    /// When the next segment may leave.
    fn permit(&self, now: Instant) -> Permit;
    /// `bytes` have left.
    fn on_sent(&mut self, now: Instant, bytes: u32, window: &Window, srtt: Option<Duration>);
    /// Whether it ever holds anything back; one that does not need not be asked.
    fn holds_back(&self) -> bool {
        true
    }
}
