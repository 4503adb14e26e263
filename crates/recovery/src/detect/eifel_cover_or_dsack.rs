//! *Looks at* the signals of the Eifel algorithm for SCTP, and at reports of duplicates.
//! *Decides* spurious when Eifel does. Otherwise it waits for reports of duplicates, and decides by
//! them. They may take a slower path than the ACKs of later data.
//! *Blind to* cases that both are blind to: if the report of a duplicate is lost, it misses an
//! original that a retransmission overtook. Reports can be forged, whatever `proof` asks of
//! timestamps.
//! *From* "On making SCTP robust to spurious retransmissions", figure 6, "Multihoming
//! Considerations".

use super::by_timestamps::Proof;
use super::dsack::Dsack;
use super::eifel_cover_bit::EifelCoverBit;
use super::eifel_cover_timestamps::{EifelCoverTimestamps, PROOF, proof};
use super::{Detector, Judgement, Outcome};
use crate::fact::Fact;
use crate::registry::{Entry, Need, Parameter};
use crate::view::View;

pub(super) const ENTRY: Entry = Entry {
    name: "eifel-cover-or-dsack",
    summary: "Eifel for SCTP, and DSACK if Eifel finds no evidence",
    source: "On making SCTP robust to spurious retransmissions",
    needs: Some(Need::Duplicates),
    parameters: &[
        Parameter::word(
            "signal",
            "the signal that distinguishes an original from a retransmission",
            "timestamps",
            &["timestamps", "bit"],
        ),
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

/// Eifel for SCTP, with detection by duplicates as a fallback.
#[derive(Clone, Debug)]
pub struct EifelCoverOrDsack {
    eifel: Box<dyn Detector>,
    duplicates: Dsack,
    /// Whether Eifel has judged the episode spurious. Then the duplicates are ignored.
    detected: bool,
}

impl EifelCoverOrDsack {
    /// Creates a detector that falls back on duplicates if `eifel` finds nothing.
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
        if let Judgement::GenuineLossWithin(_) | Judgement::Distrusted(_) = eifel {
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
