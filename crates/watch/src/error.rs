//! Why nothing can be watched.

use std::fmt;

/// A step that failed, with advice.
#[derive(Debug)]
pub struct Error {
    /// The attempted action.
    pub tried: String,
    /// Why it failed, in one line.
    pub cause: String,
    /// Whether the rights are missing.
    pub is_denied: bool,
}

impl Error {
    pub(crate) fn new(tried: impl Into<String>, cause: impl Into<String>) -> Self {
        Self { tried: tried.into(), cause: cause.into(), is_denied: false }
    }

    /// Returns a function for `map_err`, which tells missing rights from other causes.
    pub(crate) fn of<E: std::error::Error>(tried: impl Into<String>) -> impl FnOnce(E) -> Self {
        let tried = tried.into();
        move |error| {
            let cause = in_one_line(&error);
            let is_denied = cause.contains("Operation not permitted") || cause.contains("Permission denied");
            Self { tried, cause, is_denied }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.tried, self.cause)?;
        let advice = "; run it as root, or with the capabilities CAP_BPF and CAP_PERFMON";
        f.write_str(if self.is_denied { advice } else { "" })
    }
}

impl std::error::Error for Error {}

/// Returns an error with its causes. The verifier's log, which follows them, is longer than a screen.
pub(crate) fn in_one_line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text.lines().next().unwrap_or_default().to_owned()
}
