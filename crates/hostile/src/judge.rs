//! Runs one case with all checkers on and all bytes compared, and checks that it ends.

use crate::bounds::{self, Bounds};
use eifel_command::panic_message;
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_sim::summary::{FlowSummary, Summary};
use eifel_sim::{Error, Options, run_with};
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// A violation found in a run.
#[derive(Clone, PartialEq, Debug)]
pub enum Violation {
    /// The text is not a scenario.
    Refused(String),
    /// A checker or the engine panicked.
    Panicked {
        message: String,
        /// File, line and column.
        place: String,
    },
    /// The run had more events than the scenario can need.
    Restless {
        /// The simulator's error.
        message: String,
    },
    /// A flow continues long after the last disturbance.
    Unfinished {
        /// The virtual time of the run, in seconds.
        after_s: f64,
    },
    /// A flow has ended, but its applications did not read everything.
    Incomplete {
        flow: String,
        /// Bytes that the flow's applications read.
        bytes: u64,
    },
    /// The law supplied by the caller is broken.
    Unlawful(String),
}

impl Violation {
    /// Returns whether both violations are of the same kind. Panics are of the same kind if they
    /// come from the same place.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Panicked { place: one, .. }, Self::Panicked { place: another, .. }) => one == another,
            _ => core::mem::discriminant(self) == core::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(message) => write!(f, "the scenario is refused: {message}"),
            Self::Panicked { message, place } => write!(f, "panicked at {place}: {message}"),
            Self::Restless { message } => f.write_str(message),
            Self::Unfinished { after_s } => write!(f, "not over after {after_s} s of virtual time"),
            Self::Incomplete { flow, bytes } => write!(f, "{flow} is over with {bytes} bytes read, which are not all"),
            Self::Unlawful(law) => f.write_str(law),
        }
    }
}

/// A law that the caller adds to the checkers. Returns a description of the violation, or `None`.
pub type Law = fn(&Scenario, &Summary) -> Option<String>;

/// Runs a scenario within its [`bounds`](crate::bounds::of).
///
/// # Errors
///
/// The violation.
pub fn judge(text: &str, law: Option<Law>) -> Result<Summary, Violation> {
    let scenario =
        Scenario::parse(text, "case.toml".as_ref()).map_err(|error| Violation::Refused(error.to_string()))?;
    let bounds = bounds::of(&scenario);
    hold(scenario, &bounds, law)
}

/// Runs a scenario within `bounds`.
///
/// # Errors
///
/// The violation.
pub fn hold(mut scenario: Scenario, bounds: &Bounds, law: Option<Law>) -> Result<Summary, Violation> {
    // No end can be asked for on a path that never heals, so the run is cut off.
    scenario.duration = bounds.until.unwrap_or(scenario.duration.min(FOR_A_WHILE));
    let summary = match caught(|| run_with(&scenario, 0, options(bounds)))? {
        Ok(outcome) => outcome.summary,
        Err(Error::TooManyEvents { .. }) if bounds.until.is_none() => return Ok(Summary::default()),
        Err(error @ (Error::TooManyEvents { .. } | Error::Standstill { .. } | Error::Overfull { .. })) => {
            return Err(Violation::Restless { message: error.to_string() });
        }
        Err(error) => return Err(Violation::Refused(error.to_string())),
    };
    if let Some(until) = bounds.until {
        let after_s = until.as_secs_f64();
        if summary.duration_s >= after_s {
            return Err(Violation::Unfinished { after_s });
        }
        if let Some(flow) = summary.flows.iter().find(|flow| bounds.completes && !flow.completed) {
            return Err(Violation::Incomplete { flow: flow.flow.clone(), bytes: flow.bytes });
        }
    }
    let odd = |flow: &&FlowSummary| flow.spurious_retransmissions > flow.retransmissions;
    if let Some(flow) = summary.flows.iter().find(odd) {
        let (needless, all) = (flow.spurious_retransmissions, flow.retransmissions);
        return Err(Violation::Unlawful(format!("{}: {needless} needless of {all} retransmissions", flow.flow)));
    }
    match law.map(|law| caught(|| law(&scenario, &summary))).transpose()?.flatten() {
        Some(broken) => Err(Violation::Unlawful(broken)),
        None => Ok(summary),
    }
}

const FOR_A_WHILE: eifel_base::time::Duration = eifel_base::time::Duration::from_secs(1000);

thread_local! {
    /// The message and the place of this thread's last panic.
    static LAST_PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
    /// Whether panics of this thread are expected.
    static EXPECTED: RefCell<bool> = const { RefCell::new(false) };
}

/// Returns the options for a case: all checkers, all bytes, and a bound on events.
fn options(bounds: &Bounds) -> Options {
    Options { record: Record::none(), checked: true, bytes: true, most_events: Some(bounds.events) }
}

/// Calls `run`, and turns a panic into a violation without printing it.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Violation> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !EXPECTED.with_borrow(|expected| *expected) {
                return usual(panic);
            }
            let message = panic_message(panic.payload()).unwrap_or_default().to_owned();
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            LAST_PANIC.set(Some((message, place)));
        }));
    });
    EXPECTED.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    EXPECTED.set(false);
    result.map_err(|_| {
        let (message, place) = LAST_PANIC.take().unwrap_or_default();
        Violation::Panicked { message, place }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_checked_carries_bytes_and_has_a_bound() {
        let options = options(&Bounds { until: None, events: 17, completes: true });
        assert!(options.checked && options.bytes);
        assert_eq!(options.most_events, Some(17));
    }
}
