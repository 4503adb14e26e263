//! Why a scenario is refused, in one line.

use core::fmt;

/// A refused scenario: where, which key, what is wrong, and what is allowed there. It displays as one line,
/// `file:line: key.path: what is wrong; allowed: …`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The scenario's file, as it was named by the caller.
    pub file: String,
    /// Line in that file, from 1.
    pub line: u32,
    /// The key from the top of the file, such as `link[0].queue.packets` (elements of a list count from 0). Empty
    /// where the text is not TOML or JSON at all.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// What would have been accepted in its place, where that can be listed.
    pub allowed: Option<String>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", one_line(&self.key))?;
        }
        f.write_str(&one_line(&self.what))?;
        match &self.allowed {
            Some(allowed) => write!(f, "; allowed: {}", one_line(allowed)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Text from outside (keys, names, parsers' messages) may hold line breaks; the error stays on one line.
fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// An [`Error`] before the file's name is known.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) line: u32,
    pub(super) key: String,
    pub(super) what: String,
    pub(super) allowed: Option<String>,
}

impl Fault {
    pub(super) fn new(line: u32, key: impl Into<String>, what: impl Into<String>) -> Self {
        Self { line, key: key.into(), what: what.into(), allowed: None }
    }

    pub(super) fn allowed(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = Some(allowed.into());
        self
    }

    pub(super) fn in_file(self, file: &str) -> Error {
        Error { file: file.to_owned(), line: self.line, key: self.key, what: self.what, allowed: self.allowed }
    }
}
