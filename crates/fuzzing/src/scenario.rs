//! Scenarios.

use std::path::Path;

use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_sim::{Error, Options, run_with};

/// The most events of a run. With checkers they take a hundredth of a second.
const MOST_EVENTS: u64 = 3000;

/// Runs any text that is a valid scenario. Refuses other text in one line that names a place. A run
/// ends, exhausts its events, or reports that it cannot continue.
///
/// # Panics
/// If an invariant does not hold.
pub fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Scenario::parse(text, Path::new("fuzzed.toml")) {
        Ok(scenario) => {
            let options = Options {
                record: Record::of(&scenario),
                checked: true,
                most_events: Some(MOST_EVENTS),
                ..Options::default()
            };
            match run_with(&scenario, 0, options) {
                Ok(_) | Err(Error::TooManyEvents { .. } | Error::TooLarge) => {}
                Err(error) => panic!("understood, and yet: {error}"),
            }
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains(['\n', '\r']), "more than a line: {line:?}");
            assert!(line.starts_with(&format!("fuzzed.toml:{}: ", error.line)), "no place: {line:?}");
            assert!(!error.what.is_empty(), "nothing is said: {line:?}");
            // A text without a final line break has one more line than line breaks.
            let lines = text.split('\n').count() as u64;
            assert!((1..=lines).contains(&u64::from(error.line)), "{line:?} of {lines} lines");
        }
    }
}
