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

/// Where a number comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nature {
    /// Counted: the same on every machine.
    Counted,
    /// Measured with a clock.
    Timed,
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
    /// Counted or timed.
    pub nature: Nature,
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
        self.findings.push(Finding { what, unit, measured, limit, nature: Nature::Counted });
    }

    /// A number measured with a clock has to be at most `most`.
    pub(crate) fn timed(&mut self, what: &'static str, unit: &'static str, measured: f64, most: f64) {
        self.findings.push(Finding { what, unit, measured, limit: Limit::AtMost(most), nature: Nature::Timed });
    }
}
