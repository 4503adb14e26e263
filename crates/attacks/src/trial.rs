//! What a run measures, and whether it is what it has to be.

use core::fmt;

/// How much is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// What takes seconds in a test build.
    Brief,
    /// All of it, in an optimised build.
    Whole,
}

/// What a measured number may be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Limit {
    /// At most so much.
    AtMost(f64),
    /// At least so much.
    AtLeast(f64),
    /// Just so much.
    Exactly(f64),
    /// Anything: it is told, not judged.
    None,
}

/// One measured number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Finding {
    /// Of what.
    pub what: &'static str,
    /// In what.
    pub unit: &'static str,
    /// How much.
    pub measured: f64,
    /// How much it may be.
    pub limit: Limit,
    /// Whether a clock measured it; what is counted is the same on every machine.
    pub timed: bool,
}

impl Finding {
    /// Whether the number is what it may be.
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

/// A run under way.
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

    /// How often something is done: `whole`, or in a test `brief`.
    pub(crate) fn times(&self, whole: u64, brief: u64) -> u64 {
        match self.effort {
            Effort::Whole => whole,
            Effort::Brief => brief,
        }
    }

    /// `measured` has to be `expected`.
    pub(crate) fn exactly(&mut self, what: &'static str, unit: &'static str, measured: u64, expected: u64) {
        self.counted(what, unit, measured as f64, Limit::Exactly(expected as f64));
    }

    /// `measured` has to be at most `most`.
    pub(crate) fn at_most(&mut self, what: &'static str, unit: &'static str, measured: u64, most: u64) {
        self.counted(what, unit, measured as f64, Limit::AtMost(most as f64));
    }

    /// A counted number under any limit.
    pub(crate) fn counted(&mut self, what: &'static str, unit: &'static str, measured: f64, limit: Limit) {
        self.findings.push(Finding { what, unit, measured, limit, timed: false });
    }

    /// A number measured with a clock has to be at most `most`.
    pub(crate) fn timed(&mut self, what: &'static str, unit: &'static str, measured: f64, most: f64) {
        self.findings.push(Finding { what, unit, measured, limit: Limit::AtMost(most), timed: true });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the number that a trial judges is timed, and whether it holds.
    fn judged(judge: impl FnOnce(&mut Trial)) -> (bool, bool) {
        let mut trial = Trial::new(Effort::Brief);
        judge(&mut trial);
        let [finding] = trial.into_findings()[..] else { panic!("one finding") };
        (finding.timed, finding.holds())
    }

    #[test]
    fn a_number_has_to_be_just_what_is_expected() {
        let exactly = |measured| judged(|trial| trial.exactly("cases", "cases", measured, 5));
        assert_eq!([4, 5, 6].map(exactly), [false, true, false].map(|holds| (false, holds)));
    }

    #[test]
    fn a_number_may_be_as_large_as_its_bound_and_no_larger() {
        let at_most = |measured| judged(|trial| trial.at_most("cases", "cases", measured, 5));
        assert_eq!([4, 5, 6].map(at_most), [true, true, false].map(|holds| (false, holds)));
        let timed = |measured| judged(|trial| trial.timed("time", "ns", measured, 5.0));
        assert_eq!([4.9, 5.0, 5.1].map(timed), [true, true, false].map(|holds| (true, holds)));
    }

    #[test]
    fn a_number_may_be_as_small_as_its_bound_and_no_smaller() {
        let counted = |limit, measured| judged(|trial| trial.counted("cases", "cases", measured, limit)).1;
        assert_eq!([4.9, 5.0, 5.1].map(|measured| counted(Limit::AtLeast(5.0), measured)), [false, true, true]);
        assert!(counted(Limit::None, f64::MAX), "what is reported is not judged");
        for limit in [Limit::AtLeast(5.0), Limit::AtMost(5.0), Limit::Exactly(5.0)] {
            assert!(!counted(limit, f64::NAN), "no number is within no bound");
        }
    }

    #[test]
    fn a_test_does_less_of_the_same() {
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
