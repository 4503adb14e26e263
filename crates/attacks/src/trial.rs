//! Measured numbers and their bounds.

use crate::transcript;
use core::fmt;

/// The amount of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// Takes seconds in a test build.
    Brief,
    /// The whole work, for an optimised build.
    Whole,
}

/// The bound of a measured number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
    Exactly(f64),
    /// The number is reported, not judged.
    None,
}

/// One measured number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Finding {
    /// The measured quantity.
    pub what: &'static str,
    pub unit: &'static str,
    pub measured: f64,
    pub limit: Limit,
    /// Whether a clock measured it. Counted numbers are the same on every machine.
    pub timed: bool,
}

impl Finding {
    /// Returns whether the number is within its bound.
    pub fn holds(&self) -> bool {
        match self.limit {
            Limit::AtMost(most) => self.measured <= most,
            Limit::AtLeast(least) => self.measured >= least,
            Limit::Exactly(expected) => self.measured == expected,
            Limit::None => true,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "at most {most}"),
            Self::AtLeast(least) => write!(f, "at least {least}"),
            Self::Exactly(expected) => write!(f, "{expected}"),
            Self::None => f.write_str("reported"),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {} (bound: {})", self.what, self.measured, self.unit, self.limit)
    }
}

/// A run in progress.
#[derive(Debug)]
pub struct Trial {
    effort: Effort,
    findings: Vec<Finding>,
}

impl Trial {
    pub(crate) fn new(effort: Effort) -> Self {
        Self { effort, findings: Vec::new() }
    }

    pub(crate) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// Returns the number of repetitions: `whole`, or `brief` in a test.
    pub(crate) fn times(&self, whole: u64, brief: u64) -> u64 {
        // A test never runs `whole` repetitions, but its transcript still covers that number.
        transcript::note((whole, brief));
        match self.effort {
            Effort::Whole => whole,
            Effort::Brief => brief,
        }
    }

    /// Records a counted number that must be `expected`.
    pub(crate) fn exactly(&mut self, what: &'static str, unit: &'static str, measured: u64, expected: u64) {
        self.counted(what, unit, measured as f64, Limit::Exactly(expected as f64));
    }

    /// Records a counted number that must be at most `most`.
    pub(crate) fn at_most(&mut self, what: &'static str, unit: &'static str, measured: u64, most: u64) {
        self.counted(what, unit, measured as f64, Limit::AtMost(most as f64));
    }

    /// Records a counted number with any bound.
    pub(crate) fn counted(&mut self, what: &'static str, unit: &'static str, measured: f64, limit: Limit) {
        self.findings.push(Finding { what, unit, measured, limit, timed: false });
    }

    /// Records a number measured with a clock, which must be at most `most`.
    pub(crate) fn timed(&mut self, what: &'static str, unit: &'static str, measured: f64, most: f64) {
        self.clocked(what, unit, measured, Limit::AtMost(most));
    }

    /// Records a number measured with a clock, with any bound.
    pub(crate) fn clocked(&mut self, what: &'static str, unit: &'static str, measured: f64, limit: Limit) {
        self.findings.push(Finding { what, unit, measured, limit, timed: true });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a recorded number is timed, and whether it holds.
    fn judged(judge: impl FnOnce(&mut Trial)) -> (bool, bool) {
        let mut trial = Trial::new(Effort::Brief);
        judge(&mut trial);
        let [finding] = trial.into_findings()[..] else { panic!("one finding") };
        (finding.timed, finding.holds())
    }

    #[test]
    fn an_exact_number_must_match() {
        let exactly = |measured| judged(|trial| trial.exactly("cases", "cases", measured, 5));
        assert_eq!([4, 5, 6].map(exactly), [false, true, false].map(|holds| (false, holds)));
    }

    #[test]
    fn an_upper_bound_is_inclusive() {
        let at_most = |measured| judged(|trial| trial.at_most("cases", "cases", measured, 5));
        assert_eq!([4, 5, 6].map(at_most), [true, true, false].map(|holds| (false, holds)));
        let timed = |measured| judged(|trial| trial.timed("time", "ns", measured, 5.0));
        assert_eq!([4.9, 5.0, 5.1].map(timed), [true, true, false].map(|holds| (true, holds)));
    }

    #[test]
    fn a_lower_bound_is_inclusive() {
        let counted = |limit, measured| judged(|trial| trial.counted("cases", "cases", measured, limit)).1;
        assert_eq!([4.9, 5.0, 5.1].map(|measured| counted(Limit::AtLeast(5.0), measured)), [false, true, true]);
        assert!(counted(Limit::None, f64::MAX), "what is reported is not judged");
        for limit in [Limit::AtLeast(5.0), Limit::AtMost(5.0), Limit::Exactly(5.0)] {
            assert!(!counted(limit, f64::NAN), "no number is within no bound");
        }
    }

    #[test]
    fn a_test_runs_fewer_rounds_of_the_same_attack() {
        let times = |effort| Trial::new(effort).times(1000, 10);
        assert_eq!([times(Effort::Whole), times(Effort::Brief)], [1000, 10]);
    }

    #[test]
    fn a_finding_says_what_was_measured_and_its_bound() {
        let mut trial = Trial::new(Effort::Brief);
        trial.at_most("resets", "cases", 6, 5);
        trial.exactly("resets", "cases", 6, 5);
        let said: Vec<String> = trial.into_findings().iter().map(ToString::to_string).collect();
        assert_eq!(said, ["resets: 6 cases (bound: at most 5)", "resets: 6 cases (bound: 5)"]);
    }
}
