//! Was that retransmission spurious? One file a detector; each sees facts and gives a judgement.

pub mod eifel_bit;
pub mod eifel_timestamps;
pub mod none;

use crate::fact::Fact;
use crate::view::View;

/// What a settled question was settled to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The original was not lost.
    Spurious,
    /// The original was lost, or nothing shows that it was not.
    Genuine,
}

/// What a detector holds of the episode that is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// Not yet.
    Undecided,
    /// Asks for new data before further retransmissions.
    Probe,
    /// Decided, and why.
    Settled(Outcome, &'static str),
}

/// Observes a connection. It cannot see or touch the window, so it runs as well over a capture.
pub trait Detector: Send {
    /// Takes a fact in and judges the open episode.
    fn observe(&mut self, fact: &Fact<'_>, view: &View<'_>) -> Judgement;
    /// Whether it ever judges; one that does not need not be asked.
    fn judges(&self) -> bool {
        true
    }
}
