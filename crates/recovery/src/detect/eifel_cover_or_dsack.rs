//! *Looks at* what the Eifel algorithm for SCTP looks at, and at reports of duplicates.
//! *Decides* spurious when Eifel does. Where Eifel does not, it waits for the duplicates, which may come over a slower path
//! than later data are acknowledged on, and decides as they do.
//! *Blind to* what both are blind to: a lost report of a duplicate hides an original that a retransmission overtook. A report
//! can be forged, whatever proof timestamps have to give.
//! *From* "On making SCTP robust to spurious retransmissions", figure 6, "Multihoming
//! Considerations".

use super::dsack::Dsack;
use super::eifel_cover_bit::EifelCoverBit;
use super::eifel_cover_timestamps::{EifelCoverTimestamps, PROOF, proof};
use super::eifel_timestamps::Proof;
use super::{Detector, Judgement, Outcome};
use crate::fact::Fact;
use crate::registry::{Entry, Need, Parameter};
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "eifel-cover-or-dsack",
    summary: "Eifel for SCTP, and reports of duplicates where it sees nothing",
    source: "On making SCTP robust to spurious retransmissions",
    needs: Some(Need::Duplicates),
    parameters: &[
        Parameter::word("signal", "what tells an original from a retransmission", "timestamps", &["timestamps", "bit"]),
        PROOF,
    ],
    ..Entry::detector(|parameters| {
        type Make = fn(Proof) -> Box<dyn Detector>;
        let timestamps: Make = |proof| Box::new(EifelCoverTimestamps::new(proof));
        let bit: Make = |_| Box::new(EifelCoverBit::default());
        let make = parameters.word("signal", &[("timestamps", timestamps), ("bit", bit)]);
        Box::new(EifelCoverOrDsack::new(make(proof(parameters))))
    })
};

/// Eifel for SCTP, and detection by duplicates behind it.
#[derive(Clone, Debug)]
pub struct EifelCoverOrDsack {
    eifel: Box<dyn Detector>,
    duplicates: Dsack,
    /// Whether Eifel has said that the episode was spurious: then the duplicates have nothing to add.
    detected: bool,
}

impl EifelCoverOrDsack {
    /// Falls back on duplicates where `eifel` sees nothing.
    pub fn new(eifel: Box<dyn Detector>) -> Self {
        Self { eifel, duplicates: Dsack::patient(), detected: false }
    }
}

impl Detector for EifelCoverOrDsack {
    fn observe(&mut self, fact: &Fact<'_>, view: &View) -> Judgement {
        if let Fact::Retransmitted { opens: true, .. } = fact {
            self.detected = false;
        }
        let eifel = self.eifel.observe(fact, view);
        let duplicates = self.duplicates.observe(fact, view);
        if let Judgement::LostBesides(_) | Judgement::Distrusted(_) = eifel {
            return eifel;
        }
        if self.detected {
            return Judgement::Undecided;
        }
        if matches!(eifel, Judgement::Settled(Outcome::Spurious, _)) {
            self.detected = true;
            return eifel;
        }
        duplicates
    }

    fn is_idle(&self) -> bool {
        self.eifel.is_idle() && self.duplicates.is_idle()
    }
}
