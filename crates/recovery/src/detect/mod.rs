//! Was that retransmission spurious? One file per detector. A detector observes facts and returns a
//! judgement.

mod by_timestamps;
mod cover;
mod outstanding;
mod rto_recovery;
mod unproven;

crate::registry::algorithms! { none, eifel_timestamps, eifel_or_f_rto, eifel_f_rto_dsack, linux, eifel_bit, f_rto, f_rto_sack, dsack, dual_rtt, min_rtt;
association: f_rto_sctp, eifel_cover_timestamps, eifel_cover_bit, eifel_cover_or_dsack }
crate::duplicate::duplicate!(Detector by DuplicateDetector);

use crate::fact::{Cause, Fact};
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
    /// The detector cannot tell yet.
    Undecided,
    /// The detector wants new data sent before further retransmissions, for as long as it returns
    /// this judgement. The engine grants this only to the acting detector.
    Probe,
    /// The detector has decided, for this reason.
    Settled(Outcome, &'static str),
    /// The loss signal was false, for this reason, before its first retransmission left: spurious.
    /// Only a detector that follows [loss signals](Detector::on_loss_signal) can tell.
    NothingResent(&'static str),
    /// An episode that the detector judged spurious has also repaired a genuine loss, for this
    /// reason. That loss is a loss signal of its own.
    GenuineLossWithin(&'static str),
    /// The detector has decided: something was lost, but some retransmissions were needless.
    Mixed(NeedlessShare),
    /// The peer has contradicted itself too often, for this reason. The episode counts as genuine,
    /// and the detector is dropped for the rest of the connection.
    Distrusted(&'static str),
}

/// Contradictions after which a detector distrusts its peer. A middlebox may cause a single one.
pub const MOST_CONTRADICTIONS: u32 = 3;

/// The needless part of an episode's retransmissions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NeedlessShare {
    /// Retransmissions that were needless.
    pub needless: u32,
    /// All retransmissions.
    pub resent: u32,
}

/// Observes a connection. A detector cannot read or change the window, so it also runs over a
/// capture.
pub trait Detector: Send + DuplicateDetector {
    /// Learns of a loss signal before its first retransmission leaves. `opens` is false for a
    /// further timeout of the same segment, which opens no episode.
    fn on_loss_signal(&mut self, _cause: Cause, _opens: bool, _: &View) {}
    /// Processes a fact and judges the open episode.
    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement;
    /// Returns whether ACKs of new data mean nothing to the detector until the next retransmission.
    /// While the detector is idle, the driver may skip these ACKs.
    fn is_idle(&self) -> bool {
        false
    }
    /// Returns whether an ACK of new data may make the detector judge, or ask for a probe, before
    /// the next retransmission.
    fn may_judge(&self) -> bool {
        !self.is_idle()
    }
    /// Returns whether the detector ever judges. Otherwise the driver drops it.
    fn judges(&self) -> bool {
        true
    }
}
