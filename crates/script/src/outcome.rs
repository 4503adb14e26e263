//! What came of running a script.

use eifel_base::time::{Duration, Instant};

/// What came of running a script: every line up to the end or to the first failure.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The script's file.
    pub origin: String,
    /// The conversation as it went.
    pub rows: Vec<Row>,
    /// What went wrong; `None` if the script passed.
    pub failure: Option<Failure>,
    /// How much virtual time passed.
    pub lasted: Duration,
}

impl Outcome {
    /// Whether everything was as the script has it.
    pub fn passed(&self) -> bool {
        self.failure.is_none()
    }
}

/// The first thing that was not as expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The line of the script.
    pub line: u32,
    /// One line: what was expected, and what was seen.
    pub what: String,
}

/// Which side of the conversation something is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// A packet of the peer.
    Arrives,
    /// A packet of the connection.
    Leaves,
    /// A call or an assertion.
    Application,
}

/// One line of the ladder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The script's line; `None` for what it does not mention.
    pub line: Option<u32>,
    /// Which side.
    pub side: Side,
    /// When it was to happen: the time, or the first and the last.
    pub due: Option<(Instant, Instant)>,
    /// What was to happen, as the script has it.
    pub expected: String,
    /// What happened.
    pub seen: Vec<Seen>,
    /// Whether this is where the script failed.
    pub failed: bool,
}

/// Something that happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// When.
    pub at: Instant,
    /// What.
    pub text: String,
}
