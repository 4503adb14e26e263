//! What is done to a connection or an association on purpose, and what must come of it.
//!
//! Each attack is one file: who does what, the source that describes it, the defence, and a run that measures. The tests
//! and the command line run the same file. What is counted is judged everywhere; what is timed, only where a whole run
//! is asked for, since a test runs on whatever machine there is. [`flood`] is one of them for a tool that counts
//! instructions.
#![forbid(unsafe_code)]

mod associated;
mod attacks;
mod clock;
mod draw;
mod losses;
mod transcript;
mod trial;
mod victim;

pub use attacks::t11_sack_cost::{Order, flood};
pub use trial::{Effort, Finding, Limit, Trial};

/// An attack by a peer or a stranger.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    /// Begins with its number.
    pub name: &'static str,
    pub summary: &'static str,
    /// The RFC, paper or advisory that describes the attack.
    pub source: &'static str,
    pub defence: &'static str,
    run: fn(&mut Trial),
}

impl Attack {
    /// Runs the attack. [`Finding::holds`] judges the findings.
    pub fn run(&self, effort: Effort) -> Vec<Finding> {
        let mut trial = Trial::new(effort);
        (self.run)(&mut trial);
        trial.into_findings()
    }

    /// Runs the attack. Returns the findings, and a number that any change of what was sent, received or drawn changes.
    pub fn transcribed(&self, effort: Effort) -> (Vec<Finding>, u64) {
        transcript::of(|| self.run(effort))
    }
}

/// Returns all attacks, by number.
pub fn all() -> &'static [Attack] {
    attacks::ALL
}
