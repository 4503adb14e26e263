//! Every algorithm by name. Command line, Python and documents list them from here, and engines are
//! built from here.
//!
//! An algorithm's file holds its [`Entry`]. The `mod.rs` of its seam lists the files.

mod parameters;
pub mod part;
mod provided;

use crate::{congest, credit, detect, grant, pace, recover, respond, retransmit, rto};
pub use parameters::{Choice, Error, Kind, Parameter, Parameters, Value};
use part::Build;
pub use part::Provided;
pub use provided::{Provider, over_captures, provide, provided};

/// "Responding to Spurious Timeouts in TCP", a source of several algorithms.
pub(crate) const RESPONDING: &str = "Responding to Spurious Timeouts in TCP";

/// The ten families of algorithms. Detect, Respond, Rto, Recover and Congest are the main seams.
/// Each of the others is a companion of one of them. Only an association has the last two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Seam {
    /// Was that retransmission spurious?
    Detect,
    /// What is undone?
    Respond,
    /// May it be undone?
    Grant,
    /// How long to wait before giving a segment up?
    Rto,
    /// What does the timer learn from a spurious timeout?
    AfterSpurious,
    /// Which segments are lost, and what goes out next?
    Recover,
    /// How large is the window?
    Congest,
    /// How fast may data be sent?
    Pace,
    /// On which path is a chunk retransmitted?
    Retransmit,
    /// Which acknowledged chunks let a path's window grow?
    Credit,
}

impl Seam {
    /// The seams of a connection, in the order of the documents.
    pub const ALL: [Self; 8] = [
        Self::Detect,
        Self::Respond,
        Self::Grant,
        Self::Rto,
        Self::AfterSpurious,
        Self::Recover,
        Self::Congest,
        Self::Pace,
    ];

    /// The seams that only an association has.
    pub const OF_ASSOCIATIONS: [Self; 2] = [Self::Retransmit, Self::Credit];

    /// Returns its name in scenarios and listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Detect => "detect",
            Self::Respond => "respond",
            Self::Grant => "grant",
            Self::Rto => "rto",
            Self::AfterSpurious => "after-spurious",
            Self::Recover => "recover",
            Self::Congest => "congest",
            Self::Pace => "pace",
            Self::Retransmit => "retransmit",
            Self::Credit => "credit",
        }
    }

    /// Returns its algorithms, in the order of the documents.
    pub fn entries(self) -> &'static [Entry] {
        match self {
            Self::Detect => detect::ENTRIES,
            Self::Respond => respond::ENTRIES,
            Self::Grant => grant::ENTRIES,
            Self::Rto => rto::ENTRIES,
            Self::AfterSpurious => rto::after_spurious::ENTRIES,
            Self::Recover => recover::ENTRIES,
            Self::Congest => congest::ENTRIES,
            Self::Pace => pace::ENTRIES,
            Self::Retransmit => retransmit::ENTRIES,
            Self::Credit => credit::ENTRIES,
        }
    }

    /// Returns the algorithms that only an association can use, because they count chunks or know
    /// of several paths.
    pub fn association_entries(self) -> &'static [Entry] {
        match self {
            Self::Detect => detect::ASSOCIATION_ENTRIES,
            Self::Respond => respond::ASSOCIATION_ENTRIES,
            Self::Grant => grant::ASSOCIATION_ENTRIES,
            Self::Rto => rto::ASSOCIATION_ENTRIES,
            Self::AfterSpurious => rto::after_spurious::ASSOCIATION_ENTRIES,
            Self::Recover => recover::ASSOCIATION_ENTRIES,
            Self::Congest => congest::ASSOCIATION_ENTRIES,
            Self::Pace => pace::ASSOCIATION_ENTRIES,
            Self::Retransmit => retransmit::ASSOCIATION_ENTRIES,
            Self::Credit => credit::ASSOCIATION_ENTRIES,
        }
    }

    /// Returns the algorithm with this name, for a connection or an association.
    pub(crate) fn any_entry(self, name: &str) -> Option<&'static Entry> {
        self.found(name).ok()
    }

    /// Returns the algorithm with this name, for a connection or an association.
    ///
    /// # Errors
    /// No algorithm has this name, or the program that [provides](provide) it cannot find it.
    pub fn found(self, name: &str) -> Result<&'static Entry, Error> {
        let mut listed = self.entries().iter().chain(self.association_entries());
        match listed.find(|entry| entry.name == name) {
            Some(entry) => Ok(entry),
            None => match provided(self, name) {
                Some(found) => found.map_err(Error::NotProvided),
                None => Err(Error::UnknownAlgorithm { seam: self, name: name.into() }),
            },
        }
    }

    /// Returns the algorithm with this name, for a connection.
    pub fn entry(self, name: &str) -> Option<&'static Entry> {
        let listed = self.entries().iter().find(|entry| entry.name == name);
        listed.or_else(|| provided(self, name)?.ok())
    }
}

/// A protocol feature that an algorithm relies on and that not every connection has. Without it,
/// the algorithm is blind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Timestamps on every segment (RFC 7323).
    Timestamps,
    /// Marks on retransmissions and on the ACKs that they cause.
    Marks,
    /// Selective acknowledgements (RFC 2018).
    Sack,
    /// Reports of duplicates (RFC 2883).
    Duplicates,
}

impl Need {
    /// Returns its name in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timestamps => "timestamps",
            Self::Marks => "retransmission marks",
            Self::Sack => "SACK",
            Self::Duplicates => "DSACK",
        }
    }
}

/// A known weakness. For it, liveness checks allow more time or more events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weakness {
    /// Each lost segment may take a timeout of its own to repair.
    ATimeoutASegment,
    /// On a path without delay, one ACK may cause a retransmission of everything in flight.
    StormsWithoutDelay,
}

/// An algorithm, as its file declares it.
#[derive(Debug)]
pub struct Entry {
    pub seam: Seam,
    /// Its name in scenarios: the name of its file, with hyphens.
    pub name: &'static str,
    /// How it works, in one line.
    pub summary: &'static str,
    /// RFC, or paper and section.
    pub source: &'static str,
    /// Its parameters; empty by default.
    pub parameters: &'static [Parameter],
    /// The protocol feature without which it is blind; `None` by default.
    pub needs: Option<Need>,
    /// The liveness bound that it does not keep; `None` by default.
    pub weakness: Option<Weakness>,
    /// Whether it asks for new data before further retransmissions; `false` by default.
    pub probes: bool,
    pub(crate) build: Build,
}

/// Returns every algorithm of every seam that a connection can use.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    Seam::ALL.into_iter().flat_map(Seam::entries)
}

/// Returns every algorithm that only an association can use.
pub fn association_entries() -> impl Iterator<Item = &'static Entry> {
    Seam::ALL.into_iter().chain(Seam::OF_ASSOCIATIONS).flat_map(Seam::association_entries)
}

/// Declares the algorithms of a seam. Each name is that of a file, which holds the algorithm and
/// its `ENTRY`.
macro_rules! algorithms {
    ($($name:ident),* $(; association: $($also:ident),*)?) => {
        $(pub mod $name;)*
        $($(pub mod $also;)*)?

        /// The algorithms of this seam, in the order of the documents.
        pub static ENTRIES: &[$crate::registry::Entry] = &[$($name::ENTRY),*];
        /// The algorithms of this seam that only an association can use.
        pub static ASSOCIATION_ENTRIES: &[$crate::registry::Entry] = &[$($($also::ENTRY),*)?];

        #[cfg(test)]
        #[test]
        fn an_algorithm_has_the_name_of_its_file() {
            $(assert_eq!($name::ENTRY.name.replace('-', "_"), stringify!($name));)*
            $($(assert_eq!($also::ENTRY.name.replace('-', "_"), stringify!($also));)*)?
        }
    };
}
pub(crate) use algorithms;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_in_their_seam_and_defaults_are_allowed() {
        for seam in Seam::ALL.into_iter().chain(Seam::OF_ASSOCIATIONS) {
            let all: Vec<_> = seam.entries().iter().chain(seam.association_entries()).collect();
            for (index, entry) in all.iter().enumerate() {
                assert_eq!(entry.seam, seam, "{}", entry.name);
                assert!(!entry.summary.is_empty() && !entry.source.is_empty(), "{}", entry.name);
                assert!(all[..index].iter().all(|other| other.name != entry.name), "{}", entry.name);
                Parameters::check(entry, &[]).unwrap();
            }
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest() {
        let error = part::recovery(&Choice::named("newreno-sak")).err().unwrap().to_string();
        let (what, allowed) = error.split_once("; allowed: ").unwrap();
        assert_eq!(what, "unknown algorithm \"newreno-sak\" for recover (did you mean \"newreno-sack\"?)");
        assert!(allowed.split(", ").eq(Seam::Recover.entries().iter().map(|entry| entry.name)));
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_the_range() {
        let refused = |name: &str, value| {
            let entry = Seam::Recover.entry("fack").unwrap();
            Parameters::check(entry, &[(name.into(), Value::Integer(value))]).unwrap_err().to_string()
        };
        assert_eq!(
            refused("duplicate_threshold", 0),
            "duplicate_threshold = 0 for fack; allowed: an integer from 1 to 1000"
        );
        assert_eq!(refused("bugfix", 0), "bugfix = 0 for fack; allowed: true or false");
        assert_eq!(
            refused("bugfx", 0),
            "unknown parameter \"bugfx\" for fack (did you mean \"bugfix\"?); allowed: duplicate_threshold, \
             limited_transmit, bugfix, fast_retransmit_below_recovery_point, after_spurious_timeout, follows, \
             off_when_reordered"
        );
    }
}
