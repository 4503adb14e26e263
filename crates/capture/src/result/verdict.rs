//! Whether a retransmission was needed, and whether the stack noticed.

use serde::Serialize;

/// Whether a retransmission was needed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// An earlier transmission arrived.
    Spurious,
    /// No earlier transmission arrived.
    Needed,
    /// The capture does not show it.
    Undecidable,
}

impl Verdict {
    /// Returns the word for the verdict in tables, and what it means.
    pub fn meaning(self) -> (&'static str, &'static str) {
        match self {
            Self::Spurious => ("spurious", "needless, an earlier sending arrived"),
            Self::Needed => ("needed", "no earlier sending arrived"),
            Self::Undecidable => ("undecidable", "the capture does not show it"),
        }
    }
}

/// How sure a verdict is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The capture proves it, unless an end lies. Round trips, counts of duplicates, and the
    /// treatment of a packet by a host behind the capture point are no proof.
    Certain,
    /// It follows from the behaviour of nearly all networks and stacks: packets mostly keep their
    /// order, and duplicates are reported.
    Likely,
    /// Nothing contradicts it, and little supports it.
    Weak,
}

/// Whether the sender's flight size shows that the stack undid its reaction to a retransmission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum StackReaction {
    /// The flight size recovered soon after the retransmission was acknowledged.
    Undone,
    /// The stack undid its reaction although packets were really lost. Only logs of QUIC show it.
    Harmful,
    /// The window stayed smaller. Only logs of QUIC show it.
    NotUndone,
    /// The capture does not show it: the retransmission was needed, too little new data left, or
    /// the flight size was smaller.
    CannotBeTold,
}
