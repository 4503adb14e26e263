//! Why a script is refused.

use core::fmt;

/// Where something stands in a script; both count from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// A script that cannot be read: one line that says where, what, and what is expected there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The file, as the caller named it.
    pub origin: String,
    /// Where in it.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What may stand there instead.
    pub expected: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { line, column } = self.place;
        write!(f, "{}:{line}:{column}: {}; expected {}", self.origin, self.what, self.expected)
    }
}

impl core::error::Error for Error {}

/// An error before it is known which file it is in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) what: String,
    pub(crate) expected: String,
}

impl Fault {
    pub(crate) fn new(place: Place, what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { place, what: what.into(), expected: expected.into() }
    }

    pub(crate) fn in_file(self, origin: &str) -> Error {
        Error { origin: origin.into(), place: self.place, what: self.what, expected: self.expected }
    }
}

/// Text of a script as it may stand in a message: short, and without anything that a terminal would obey.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let mut shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}
