//! Attacks on connections and associations, each with its defence and its bounds.
//!
//! Each attack is one file: the attacker, the source that describes the attack, the defence, and a
//! run that measures it. The tests and the command line run the same file. Counted numbers are
//! judged in every run. Timed numbers are judged in whole runs only, since a test may run on any
//! machine. [`flood`] makes one attack available to a tool that counts instructions.
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
    /// The identifier of the attack. It begins with the attack's number.
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

    /// Runs the attack. Returns the findings, and a hash that changes with anything sent, received
    /// or drawn.
    pub fn transcribed(&self, effort: Effort) -> (Vec<Finding>, u64) {
        transcript::of(|| self.run(effort))
    }
}

/// Returns all attacks, ordered by number.
pub fn all() -> &'static [Attack] {
    attacks::ALL
}
