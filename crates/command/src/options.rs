//! The words of a command line: options with a value, switches, and other words.

use crate::{Usage, nearest};
use std::str::FromStr;

/// A parsed command line.
#[derive(Debug, Default)]
pub struct Options {
    given: Vec<(String, String)>,
    /// Words that are neither an option nor its value.
    pub rest: Vec<String>,
    /// Words after `--`.
    pub command: Vec<String>,
}

impl Options {
    /// Reads `words`. `valued` are the options that take a value, `switches` those that take none.
    /// Returns `None` if help is asked for.
    ///
    /// # Errors
    /// Returns which option is unknown or lacks its value.
    pub fn read(words: &[String], valued: &[&str], switches: &[&str]) -> Result<Option<Self>, Usage> {
        let mut read = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if let Some((name, value)) = word.split_once('=').filter(|(name, _)| valued.contains(name)) {
                read.given.push((name.to_owned(), value.to_owned()));
                continue;
            }
            match word.as_str() {
                "--" => read.command = words.by_ref().cloned().collect(),
                "-h" | "--help" => return Ok(None),
                option if valued.contains(&option) => {
                    let value = words.next().ok_or_else(|| Usage(format!("{option}: a value is missing")))?;
                    read.given.push((word.clone(), value.clone()));
                }
                option if switches.contains(&option) => read.given.push((word.clone(), String::new())),
                option if option.starts_with('-') && option != "-" => {
                    let known = valued.iter().chain(switches).copied();
                    return Err(Usage(format!("unknown option {option}{}; see --help", nearest(option, known))));
                }
                _ => read.rest.push(word.clone()),
            }
        }
        Ok(Some(read))
    }

    /// Returns whether an option was given.
    pub fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// Returns the value of an option, the last if there are several.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// Returns all values of an option.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.given.iter().filter(move |(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Parses the value of an option; `expected` describes it in errors.
    ///
    /// # Errors
    /// Returns the value, and what was expected.
    pub fn value<T: FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>, Usage> {
        let read = |text: &str| text.parse().map_err(|_| Usage(format!("{name} {text}: expected {expected}")));
        self.text(name).map(read).transpose()
    }

    /// Parses a duration in seconds, more than 0.
    ///
    /// # Errors
    /// Returns the value, and what was expected.
    pub fn seconds(&self, name: &str) -> Result<Option<eifel_base::time::Duration>, Usage> {
        let expected = "seconds, more than 0";
        match self.value::<f64>(name, expected)? {
            Some(seconds) if !(seconds > 0.0 && seconds <= 1e9) => {
                Err(Usage(format!("{name} {seconds}: expected {expected}")))
            }
            seconds => Ok(seconds.map(eifel_base::time::Duration::from_secs_f64)),
        }
    }

    /// Parses a number of bytes: K, M and G stand for 10^3, 10^6 and 10^9.
    ///
    /// # Errors
    /// Returns the value, and what was expected.
    pub fn bytes(&self, name: &str) -> Result<Option<u64>, Usage> {
        self.text(name)
            .map(|text| {
                bytes(text).ok_or_else(|| {
                    Usage(format!("{name} {text}: expected a number of bytes, for example 200, 64K, 10M or 2G"))
                })
            })
            .transpose()
    }
}

fn bytes(text: &str) -> Option<u64> {
    let factor = match text.chars().last()? {
        'K' => 1_000,
        'M' => 1_000_000,
        'G' => 1_000_000_000,
        _ => 1,
    };
    text.trim_end_matches(['K', 'M', 'G']).parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Options {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match Options::read(&words, &["--bytes", "--seconds"], &["--json"]) {
            Ok(Some(options)) => options,
            _ => panic!("{words:?}"),
        }
    }

    #[test]
    fn options_and_words_are_separated() {
        let options = read(&["--bytes", "10M", "target", "--json", "--", "ls", "--json"]);
        assert_eq!(
            (options.rest, options.command),
            (vec!["target".to_owned()], vec!["ls".to_owned(), "--json".to_owned()])
        );
        let options = read(&["--bytes", "1", "--bytes=64K"]);
        assert!(matches!(options.bytes("--bytes"), Ok(Some(64_000))));
        assert!(!options.has("--json") && options.text("--seconds").is_none());
    }

    #[test]
    fn an_unknown_option_is_refused_with_the_nearest_one() {
        for (word, said) in [
            ("--byte", "unknown option --byte; nearest: --bytes; see --help"),
            ("--zzz", "unknown option --zzz; see --help"),
            ("-v", "unknown option -v; see --help"),
        ] {
            let refused = Options::read(&[word.to_owned()], &["--bytes"], &["--json"]);
            assert_eq!(refused.unwrap_err(), Usage(said.to_owned()));
        }
        assert_eq!(read(&["-"]).rest, ["-"], "standard input");
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for text in ["", "K", "1.5M", "-1", "99999999999G"] {
            assert!(bytes(text).is_none(), "{text}");
        }
        for text in ["0", "-1", "x", "inf", "NaN"] {
            assert!(read(&["--seconds", text]).seconds("--seconds").is_err(), "{text}");
        }
    }
}
