//! Was that retransmission spurious? One file a detector; each sees facts and gives a judgement.

pub mod dsack;
pub mod dual_rtt;
pub mod eifel_bit;
pub mod eifel_timestamps;
pub mod f_rto;
pub mod f_rto_sack;
pub mod min_rtt;
pub mod none;

use crate::duplicate::DuplicateDetector;
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
    /// Asks for new data before further retransmissions, as long as this is the judgement; the engine grants it to the
    /// detector that acts.
    Probe,
    /// Decided, and why.
    Settled(Outcome, &'static str),
    /// Decided: something was lost, but some of what was sent again had not been.
    Mixed(Share),
    /// The peer has contradicted itself so often that nothing it says is believed any more, and why: this counts as genuine,
    /// and the detector is not asked again on this connection.
    Distrusted(&'static str),
}

/// Contradictions after which a peer is a liar: one may be somebody else's, between the two ends.
pub const MOST_CONTRADICTIONS: u32 = 3;

/// How much of what an episode sent again was needless.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Retransmissions that were needless.
    pub needless: u32,
    /// All of them.
    pub resent: u32,
}

/// Observes a connection. It cannot see or touch the window, so it runs as well over a capture.
pub trait Detector: Send + DuplicateDetector {
    /// Takes a fact in and judges the open episode.
    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement;
    /// Returns whether ACKs of new data tell it nothing until something is sent again. The driver does not show it such ACKs
    /// while it is idle.
    fn is_idle(&self) -> bool {
        false
    }
    /// Returns whether it ever judges. The driver drops a detector that does not.
    fn judges(&self) -> bool {
        true
    }
}
