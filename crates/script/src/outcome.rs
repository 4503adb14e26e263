//! The outcome of a script.

use eifel_base::time::{Duration, Instant};

/// The outcome of a script: all lines up to the end or to the first failure.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The file, as the caller named it.
    pub origin: String,
    /// The conversation as it happened.
    pub rows: Vec<Row>,
    /// The failure; `None` if the script passed.
    pub failure: Option<Failure>,
    /// Virtual time that passed.
    pub lasted: Duration,
    /// Notes on commands for the host that were not carried out although they might matter, each
    /// with its line.
    pub notes: Vec<(u32, String)>,
}

impl Outcome {
    /// Returns whether the script passed.
    pub fn passed(&self) -> bool {
        self.failure.is_none()
    }
}

/// The first event that was not as expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub line: u32,
    /// One line: what was expected, and what happened.
    pub what: String,
}

/// A side of the conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Arrives,
    Leaves,
    Application,
}

/// One line of the ladder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The script's line; `None` for an event that the script does not mention.
    pub line: Option<u32>,
    pub side: Side,
    /// The earliest and the latest time at which it was due.
    pub due: Option<(Instant, Instant)>,
    /// The expected event, as the script writes it.
    pub expected: String,
    pub seen: Vec<Seen>,
    pub failed: bool,
}

/// An event that happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub at: Instant,
    pub text: String,
}
