//! Invalid settings.

use core::fmt;

/// An invalid setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The setting, as in `queue.packets`.
    pub key: String,
    /// Its value and the allowed range.
    pub problem: String,
}

impl ConfigError {
    /// Returns an error unless `allowed`.
    pub(crate) fn unless(allowed: bool, key: &str, problem: impl FnOnce() -> String) -> Result<(), Self> {
        if allowed { Ok(()) } else { Err(Self { key: key.to_owned(), problem: problem() }) }
    }

    /// Returns an error unless `value` is between 0 and 1.
    pub(crate) fn unless_probability(value: f64, key: &str) -> Result<(), Self> {
        Self::unless((0.0..=1.0).contains(&value), key, || format!("{value}; allowed: 0 to 1"))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.problem)
    }
}

impl core::error::Error for ConfigError {}
