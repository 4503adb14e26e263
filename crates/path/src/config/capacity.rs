//! The rate of a link over time.

use super::ConfigError;
use crate::trace::Trace;
use eifel_base::time::Instant;
use eifel_base::units::Rate;
use std::sync::Arc;

/// How fast a link transmits.
#[derive(Clone, Debug)]
pub enum Capacity {
    /// A transmission takes no time.
    Unlimited,
    Rate {
        /// The rate at the beginning.
        rate: Rate,
        /// Later rates, in the order of their times.
        changes: Vec<RateChange>,
    },
    /// Transmits at the opportunities of a recorded link.
    Trace(Arc<Trace>),
}

/// A new rate. It applies to transmissions that begin at `at` or later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateChange {
    pub at: Instant,
    pub rate: Rate,
}

impl Capacity {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Self::Rate { changes, .. } = self else { return Ok(()) };
        rising("rate_changes", changes.iter().map(|change| change.at))
    }

    /// Returns the rate at the beginning, or the mean rate of a recorded link; `None` if unlimited.
    /// RED's averages depend on it.
    pub fn rate(&self) -> Option<Rate> {
        match self {
            Self::Unlimited => None,
            Self::Rate { rate, .. } => Some(*rate),
            Self::Trace(trace) => Some(trace.mean_rate()),
        }
    }
}

/// Checks that the times of the changes under `key` rise.
pub(super) fn rising(key: &str, times: impl Iterator<Item = Instant>) -> Result<(), ConfigError> {
    let mut before = None;
    for at in times {
        if let Some(earlier) = before.filter(|&earlier| earlier >= at) {
            let problem = format!("a change at {at:?} follows one at {earlier:?}; allowed: rising times");
            return Err(ConfigError { key: key.to_owned(), problem });
        }
        before = Some(at);
    }
    Ok(())
}
