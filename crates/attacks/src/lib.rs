//! What is done to a connection on purpose, and what must come of it.
//!
//! Each attack is one file: who does what, the source that describes it, the defence, and a run that measures. The tests
//! and the command line run the same file. What is counted is judged everywhere; what is timed, only where a whole run
//! is asked for, since a test runs on whatever machine there is.
#![forbid(unsafe_code)]

mod attacks;
mod clock;
mod draw;
mod losses;
mod trial;
mod victim;

pub use trial::{Effort, Finding, Limit, Trial};

/// Something that a peer or a stranger may do.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    /// Its name, which begins with its number.
    pub name: &'static str,
    /// What is done.
    pub summary: &'static str,
    /// The RFC, paper or advisory that describes it.
    pub source: &'static str,
    /// What stands against it.
    pub defence: &'static str,
    run: fn(&mut Trial),
}

impl Attack {
    /// Does it; what was found is judged by [`Finding::holds`].
    pub fn run(&self, effort: Effort) -> Vec<Finding> {
        let mut trial = Trial::new(effort);
        (self.run)(&mut trial);
        trial.into_findings()
    }
}

/// All attacks, by number.
pub fn all() -> &'static [Attack] {
    attacks::ALL
}
