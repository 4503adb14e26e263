//! What the operating system gives: a clock, devices, namespaces, commands in them. Everything `unsafe` of this crate is below.

pub mod clock;
pub mod namespace;
pub mod signals;
pub mod tun;
pub mod wait;

use std::fmt;
use std::io;

/// Why the system did not do what was asked, and what helps.
#[derive(Debug)]
pub struct Error {
    /// What was tried, as "open /dev/net/tun".
    pub tried: String,
    /// What the system said.
    pub cause: String,
    /// What to do about it; empty where there is nothing to advise.
    pub advice: &'static str,
}

impl Error {
    /// An error of a system call.
    pub fn new(tried: impl Into<String>, cause: &dyn fmt::Display, advice: &'static str) -> Self {
        Self { tried: tried.into(), cause: cause.to_string(), advice }
    }

    /// For `map_err`: the same of an error that nothing can be advised about.
    pub fn of<E: fmt::Display>(tried: &str) -> impl FnOnce(E) -> Self {
        let tried = tried.to_owned();
        move |cause| Self::new(tried, &cause, "")
    }
}

impl Error {
    /// Returns whether rights are missing.
    pub fn is_denied(&self) -> bool {
        self.advice == NEEDS_ROOT
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.tried, self.cause)?;
        if self.advice.is_empty() { Ok(()) } else { write!(f, "; {}", self.advice) }
    }
}

impl std::error::Error for Error {}

/// What helps where rights are missing.
const NEEDS_ROOT: &str =
    "run it as root, or in a namespace where the kernel allows that: unshare --user --map-root-user --net";

/// The advice for an error of a call that needs rights.
fn advice(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::PermissionDenied { NEEDS_ROOT } else { "" }
}
