//! Was that retransmission spurious? One file a detector; each sees facts and gives a judgement.

mod cover;
mod rto_recovery;
mod trials;

crate::registry::algorithms! { none, eifel_timestamps, eifel_or_f_rto, eifel_bit, f_rto, f_rto_sack, dsack, dual_rtt, min_rtt;
association: f_rto_sctp, eifel_cover_timestamps, eifel_cover_bit, eifel_cover_or_dsack }

use crate::duplicate::DuplicateDetector;
use crate::fact::Fact;
use crate::view::View;

/// A verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The original was not lost.
    Spurious,
    /// The original was lost, or nothing shows that it was not.
    Genuine,
}

/// A detector's judgement on the open episode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// It cannot tell yet.
    Undecided,
    /// It asks for new data before further retransmissions, as long as this is its judgement. The engine grants this to the
    /// detector that acts.
    Probe,
    /// It has decided, for this reason.
    Settled(Outcome, &'static str),
    /// An episode that it has called spurious has repaired a loss besides, for this reason: a loss signal of its own.
    LostBesides(&'static str),
    /// It has decided: something was lost, but some retransmissions were needless.
    Mixed(Share),
    /// The peer has contradicted itself too often, for this reason. The episode counts as genuine, and the engine drops the
    /// detector for the rest of the connection.
    Distrusted(&'static str),
}

/// Contradictions after which a detector distrusts its peer: a single one may come from something between the two ends.
pub const MOST_CONTRADICTIONS: u32 = 3;

/// The needless part of an episode's retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Retransmissions that were needless.
    pub needless: u32,
    /// All of them.
    pub resent: u32,
}

/// Observes a connection. It cannot see or touch the window, so it also runs over a capture.
pub trait Detector: Send + DuplicateDetector {
    /// Takes a fact in and judges the open episode.
    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement;
    /// Returns whether ACKs of new data tell it nothing until something is sent again. The driver does not show it such ACKs
    /// while it is idle.
    fn is_idle(&self) -> bool {
        false
    }
    /// Returns whether an ACK of new data may make it judge, or ask for a probe, before something is sent again.
    fn may_judge(&self) -> bool {
        !self.is_idle()
    }
    /// Returns whether it ever judges. The driver drops a detector that does not.
    fn judges(&self) -> bool {
        true
    }
}
