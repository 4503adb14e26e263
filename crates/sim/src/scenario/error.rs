//! Errors for refused scenarios. Each displays as one line.

use core::fmt;

/// A refused scenario: the place, the key, the problem, and the allowed values. It displays as one
/// line, `file:line: key.path: problem; allowed: …`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The scenario's file, as the caller named it.
    pub file: String,
    /// Line in that file, from 1.
    pub line: u32,
    /// The key from the top of the file, such as `link[0].queue.packets` (list elements count from
    /// 0). Empty if the text is neither TOML nor JSON.
    pub key: String,
    /// The problem.
    pub what: String,
    /// The values that are allowed instead; `None` if they cannot be listed.
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

/// Removes line breaks. Keys, names and parsers' messages may contain them.
fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// An [`Error`] without the file's name.
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
