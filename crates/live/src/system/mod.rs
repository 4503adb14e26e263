//! The operating system's services: a clock, devices, namespaces, and commands in them. All
//! `unsafe` code of this crate is below.

pub mod clock;
pub mod kernel;
pub mod namespace;
pub mod ready_set;
pub mod socket;
pub mod trace;
pub mod tun;
pub mod wait;

use eifel_command::Signals;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fmt;
use std::io::{self, Read};

/// The failure of a system call, with advice.
#[derive(Debug)]
pub struct Error {
    /// The attempted action, as "open /dev/net/tun".
    pub tried: String,
    /// The system's message.
    pub cause: String,
    /// Advice; empty if there is none.
    pub advice: &'static str,
}

impl Error {
    /// Makes an error of a system call.
    pub fn new(tried: impl Into<String>, cause: &dyn fmt::Display, advice: &'static str) -> Self {
        Self { tried: tried.into(), cause: cause.to_string(), advice }
    }

    /// Returns a function for `map_err` that makes an error without advice.
    pub fn of<E: fmt::Display>(tried: &str) -> impl FnOnce(E) -> Self {
        let tried = tried.to_owned();
        move |cause| Self::new(tried, &cause, "")
    }
}

/// Starts to record Ctrl-C and SIGTERM.
///
/// # Errors
/// Those of the system.
pub fn signals() -> Result<Signals, Error> {
    Signals::note().map_err(Error::of("sigaction"))
}

impl From<eifel_watch::Error> for Error {
    fn from(error: eifel_watch::Error) -> Self {
        Self::new(error.tried, &error.cause, if error.is_denied { NEEDS_ROOT } else { "" })
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

/// Raises the limit on open files to `count`, as far as the rights go.
pub fn allow_files(count: u64) {
    let limits = getrlimit(Resource::Nofile);
    if limits.current.is_some_and(|current| current < count) {
        let current = Some(limits.maximum.map_or(count, |maximum| count.min(maximum)));
        // With the limit as it is, fewer files can be opened at a time.
        let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limits });
    }
}

/// Returns random numbers of the system.
///
/// # Errors
/// If `/dev/urandom` cannot be read.
pub fn random() -> Result<[u64; 2], Error> {
    let mut bytes = [0; 16];
    let mut random = std::fs::File::open("/dev/urandom").map_err(Error::of("open /dev/urandom"))?;
    random.read_exact(&mut bytes).map_err(Error::of("read /dev/urandom"))?;
    let words = u128::from_ne_bytes(bytes);
    Ok([words as u64, (words >> 64) as u64])
}

/// Advice for missing rights.
const NEEDS_ROOT: &str =
    "run it as root, or in a namespace where the kernel allows that: unshare --user --map-root-user --net";

/// Returns the advice for an error of a call that needs rights.
fn advice(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::PermissionDenied { NEEDS_ROOT } else { "" }
}
