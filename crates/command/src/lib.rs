//! What the commands of `eifel` share: the words of a command line, exit codes, pages and numbers for
//! people, and output that a reader may close.
//!
//! ```
//! use eifel_command::Options;
//!
//! let words = ["--bytes", "64K", "host"].map(String::from);
//! let options = Options::read(&words, &["--bytes"], &["--json"]).unwrap().unwrap();
//! assert_eq!(options.bytes("--bytes").unwrap(), Some(64_000));
//! assert_eq!(options.rest, ["host"]);
//! ```

mod declared;
pub mod number;
mod options;
pub mod page;
#[cfg(unix)]
mod signals;

pub use declared::{CommandLine, Declared, Kind};
pub use options::Options;
#[cfg(unix)]
pub use signals::Signals;

use std::any::Any;
use std::fmt::{self, Display, Formatter};
use std::io::{self, ErrorKind, Write};

/// Exit code: done as asked.
pub const OK: u8 = 0;
/// Failed, or not as expected.
pub const FAILED: u8 = 1;
/// The command line or another input is wrong.
pub const BAD_INPUT: u8 = 2;

/// What is wrong with a command line, and what is allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage(pub String);

impl Display for Usage {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Words that are less similar than this are not meant.
const SIMILAR: f64 = 0.85;

/// Returns `; nearest: WORD` for the known word that a mistyped one is most similar to; nothing if none is.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let similar = known.into_iter().map(|known| (strsim::jaro_winkler(word, known), known));
    let nearest = similar.filter(|(likeness, _)| *likeness >= SIMILAR).max_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map_or(String::new(), |(_, known)| format!("; nearest: {known}"))
}

/// Returns the message of a panic, from its payload. `None` if the payload is no text.
pub fn panic_message(payload: &(dyn Any + Send)) -> Option<&str> {
    payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied())
}

/// Writes `text` to standard output. A reader that closes it early is no error.
///
/// # Errors
/// Returns why standard output could not be written, for example because the disk is full.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Turns the error of a pipe whose reader has closed it into success.
///
/// # Errors
/// Returns every other error.
pub fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_similar_word_is_offered() {
        let known = ["analyze", "live", "script", "watch", "whatif"];
        assert_eq!(nearest("anlyze", known), "; nearest: analyze");
        assert_eq!(nearest("what-if", known), "; nearest: whatif");
        assert_eq!(nearest("run", known), "");
    }

    #[test]
    fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
        assert!(unless_closed(Err(ErrorKind::BrokenPipe.into())).is_ok());
        assert_eq!(unless_closed(Err(ErrorKind::StorageFull.into())).unwrap_err().kind(), ErrorKind::StorageFull);
    }
}
