//! Errors of scripts.

use core::fmt;

/// A place in a script. Lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// A script that cannot be read: where, what is wrong, and what is expected there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The file, as the caller named it.
    pub origin: String,
    pub place: Place,
    pub what: String,
    /// The alternatives allowed there.
    pub expected: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { line, column } = self.place;
        write!(f, "{}:{line}:{column}: {}; expected {}", self.origin, self.what, self.expected)
    }
}

impl core::error::Error for Error {}

/// An error before its file is known.
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

/// Shortens a script's text for a message, and escapes control characters.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let mut shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}
