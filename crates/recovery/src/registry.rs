//! Every algorithm by name: what the command line, Python and the documents list, and what builds an engine.

mod build;
mod entries;
mod parameters;
pub mod part;

pub use entries::entries;
use entries::{Build, find};
pub use parameters::{Choice, Error, Kind, Parameter, Parameters, Value};

/// The families of algorithms: the five seams, and three parts that compose with them.
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
    /// How fast may it leave?
    Pace,
}

impl Seam {
    /// All of them, in the order of the documents.
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

    /// Its name in scenarios and listings.
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
        }
    }
}

/// What an algorithm goes by that is not in every segment: without it, it is blind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Timestamps on every segment (RFC 7323).
    Timestamps,
    /// Marks of retransmissions and of what answers them.
    Marks,
    /// Selective acknowledgements (RFC 2018).
    Sack,
    /// Reports of duplicates (RFC 2883).
    Duplicates,
}

impl Need {
    /// Its name in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timestamps => "timestamps",
            Self::Marks => "retransmission marks",
            Self::Sack => "SACK",
            Self::Duplicates => "DSACK",
        }
    }
}

/// One algorithm.
#[derive(Debug)]
pub struct Entry {
    /// Its family.
    pub seam: Seam,
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// RFC, or paper and section.
    pub source: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
    /// What the connection has to carry for it.
    pub needs: Option<Need>,
    build: Build,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_in_their_seam_and_defaults_are_allowed() {
        for (index, entry) in entries().iter().enumerate() {
            assert!(!entries()[..index].iter().any(|other| other.seam == entry.seam && other.name == entry.name));
            Parameters::check(entry, &[]).unwrap();
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest() {
        let error = find(Seam::Recover, "newreno-sak").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown algorithm \"newreno-sak\" for recover (did you mean \"newreno-sack\"?); allowed: reno, newreno, \
             reno-sack, newreno-sack, fack, rfc6675, rack-tlp"
        );
    }

    #[test]
    fn a_parameter_out_of_range_is_refused_with_the_range() {
        let entry = find(Seam::Recover, "fack").unwrap();
        let error = Parameters::check(entry, &[("duplicate_threshold".into(), Value::Integer(0))]).unwrap_err();
        assert_eq!(error.to_string(), "duplicate_threshold = 0 for fack; allowed: an integer from 1 to 1000");
        let error = Parameters::check(entry, &[("bugfix".into(), Value::Integer(0))]).unwrap_err();
        assert_eq!(error.to_string(), "bugfix = 0 for fack; allowed: true or false");
        let error = Parameters::check(entry, &[("bugfx".into(), Value::Integer(0))]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown parameter \"bugfx\" for fack (did you mean \"bugfix\"?); allowed: duplicate_threshold, \
             limited_transmit, bugfix, fast_retransmit_below_recovery_point, after_spurious_timeout"
        );
    }
}
