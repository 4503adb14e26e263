//! Golden files: whole outputs of deterministic code.
//!
//! A test prints all that its code computes, and [`same`] compares the text with the file.
//! `make golden` sets [`RENEW`], and the tests then write the files. A changed output is reviewed
//! as a change of its file. Long outputs are kept as a [`digest`] per case, so that the file shows
//! which cases differ.

use std::fs;
use std::path::Path;

/// The environment variable that makes [`same`] write files instead of comparing with them.
pub const RENEW: &str = "EIFEL_RENEW_GOLDENS";

/// The number of different lines that a failure shows.
const SHOWN: usize = 6;

/// Compares a text with a golden file of the calling crate, `tests/goldens/NAME`.
///
/// # Panics
/// If they differ, or if the file cannot be read.
#[macro_export]
macro_rules! golden {
    ($name:expr, $text:expr) => {
        $crate::same(&::std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join($name), &$text)
    };
}

/// Compares a text with a file. Writes the file instead if [`RENEW`] is set.
///
/// # Panics
/// If they differ, or if the file cannot be read or written.
pub fn same(file: &Path, text: &str) {
    if std::env::var_os(RENEW).is_some() {
        fs::create_dir_all(file.parent().unwrap_or(file)).expect("a folder for goldens");
        fs::write(file, text).expect("a golden that can be written");
        return;
    }
    let kept = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}; see make golden", file.display()));
    let differ = differences(&kept, text);
    assert!(differ.is_empty(), "{}: {differ}see make golden", file.display());
}

/// Returns the first lines that differ, the kept line above the new one. Empty if the texts are
/// equal.
fn differences(kept: &str, text: &str) -> String {
    if kept == text {
        return String::new();
    }
    let lines = kept.lines().count().max(text.lines().count());
    let line = |text: &str, number: usize| text.lines().nth(number).map_or("(no line)".to_owned(), str::to_owned);
    let pairs = (0..lines).map(|number| (number + 1, line(kept, number), line(text, number)));
    let differ: Vec<_> = pairs.filter(|(_, kept, new)| kept != new).collect();
    let shown = differ.iter().take(SHOWN).map(|(number, kept, new)| format!("line {number}:\n- {kept}\n+ {new}\n"));
    format!("{} lines differ\n{}", differ.len(), shown.collect::<String>())
}

/// Returns the FNV-1a hash of bytes. The hash of a case's name is its seed, so that no case shifts
/// another.
pub fn hash(bytes: impl AsRef<[u8]>) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.as_ref().iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Returns the [`hash`] of bytes as 16 hexadecimal digits.
pub fn digest(bytes: impl AsRef<[u8]>) -> String {
    format!("{:016x}", hash(bytes))
}

/// Rounds each number with a decimal point to nine significant digits. The system's logarithms and
/// powers differ in the last bits between machines.
pub fn rounded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(from) = rest.find(|letter: char| letter.is_ascii_digit()) {
        out.push_str(&rest[..from]);
        rest = &rest[from..];
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        let number = &rest[..end];
        match number.parse::<f64>() {
            Ok(value) if number.contains('.') => out.push_str(&format!("{value:.8e}")),
            _ => out.push_str(number),
        }
        rest = &rest[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_differs_is_shown_line_by_line() {
        assert_eq!(differences("a\nb\nc\n", "a\nb\nc\n"), "");
        assert_eq!(
            differences("a\nb\n", "a\nx\ny\n"),
            "2 lines differ\nline 2:\n- b\n+ x\nline 3:\n- (no line)\n+ y\n"
        );
        assert_eq!(differences("a\n", "a"), "0 lines differ\n");
    }

    #[test]
    fn the_digest_is_the_published_one() {
        // The offset basis, and the value for "a" in the authors' test vectors.
        assert_eq!([digest(""), digest("a")], ["cbf29ce484222325", "af63dc4c8601ec8c"]);
    }

    #[test]
    fn only_numbers_with_a_decimal_point_are_rounded() {
        assert_eq!(rounded("x1.25y, 1200000 [0.123456789012]"), "x1.25000000e0y, 1200000 [1.23456789e-1]");
    }

    #[test]
    #[should_panic(expected = "see make golden")]
    fn a_file_that_differs_fails() {
        same(&Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"), "something else");
    }
}
