//! The sender's algorithms, one key for each seam.

use super::super::shape::{Key, Kind, Table, optional, table};
use eifel_recovery::registry::Seam;

/// The keys of the table `sender` that name an algorithm, and their seams.
pub(in super::super) const SEAMS: &[(&str, Seam)] = &[
    ("detect", Seam::Detect),
    ("respond", Seam::Respond),
    ("grant", Seam::Grant),
    ("rto", Seam::Rto),
    ("after_spurious", Seam::AfterSpurious),
    ("recover", Seam::Recover),
    ("congest", Seam::Congest),
    ("pace", Seam::Pace),
];

/// The keys that are only for associations, and their seams.
pub(in super::super) const OF_ASSOCIATIONS: &[(&str, Seam)] =
    &[("retransmit", Seam::Retransmit), ("credit", Seam::Credit)];

const fn seam(name: &'static str, seam: Seam, summary: &'static str) -> Key {
    optional(name, Kind::Algorithm(seam), summary)
}

pub(in super::super) static SENDER: Table = table(
    "sender",
    "Algorithms by their names in the registry, each a name or a table of `name` and parameters. They are the \
              same at both ends of a connection, but for what `flow.answering_sender` changes.",
    &[
        seam("detect", Seam::Detect, "Whether a retransmission was spurious; this detector's verdict is acted upon."),
        optional(
            "observers",
            Kind::List { of: &Kind::Algorithm(Seam::Detect), at_least: 0 },
            "More detectors, which only watch: their verdicts are recorded.",
        ),
        seam("respond", Seam::Respond, "What is undone after a spurious retransmission."),
        seam("grant", Seam::Grant, "Whether an undo is granted, whatever the detector says."),
        seam("rto", Seam::Rto, "How long to wait before a segment is given up."),
        seam("after_spurious", Seam::AfterSpurious, "How the timer adapts after a spurious timeout."),
        seam("recover", Seam::Recover, "Which segments are lost, and what goes out next."),
        seam("congest", Seam::Congest, "How large the window is."),
        seam("pace", Seam::Pace, "How fast segments leave that the window allows."),
        seam("retransmit", Seam::Retransmit, "Over SCTP: on which path a retransmission leaves."),
        seam("credit", Seam::Credit, "Over SCTP: which acknowledged chunks let a path's window grow."),
    ],
);
