//! Scenarios.

use std::path::Path;

use eifel_base::time::Duration;
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;

/// Long enough for a run to be set up and to begin, short enough for whatever was asked for.
const BEGINNING: Duration = Duration::from_nanos(1);

/// Any text is a scenario, of which a run can begin, or refused in one line that names a place.
///
/// # Panics
/// Where that does not hold.
pub fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Scenario::parse(text, Path::new("fuzzed.toml")) {
        Ok(mut scenario) => {
            scenario.duration = BEGINNING;
            let begun = eifel_sim::run(&scenario, 0, Record::of(&scenario));
            assert!(begun.is_ok(), "understood, and yet: {:?}", begun.err());
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains(['\n', '\r']), "more than a line: {line:?}");
            assert!(line.starts_with(&format!("fuzzed.toml:{}: ", error.line)), "no place: {line:?}");
            assert!(!error.what.is_empty(), "nothing is said: {line:?}");
            // A text without its last line break has one line more than breaks.
            let lines = text.split('\n').count() as u64;
            assert!((1..=lines).contains(&u64::from(error.line)), "{line:?} of {lines} lines");
        }
    }
}
