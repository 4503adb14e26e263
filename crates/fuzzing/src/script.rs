//! Test conversations.

/// The name of the text in messages.
const ORIGIN: &str = "fuzzed.pkt";

/// Runs any text that is a valid script, to its end or its first failure. Refuses other text in one
/// line that names a place.
///
/// # Panics
/// If an invariant does not hold.
pub fn script(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match eifel_script::parse(text, ORIGIN) {
        Ok(script) => {
            let _ = eifel_script::run(&script);
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains(['\n', '\r']), "more than a line: {line:?}");
            let place = format!("{ORIGIN}:{}:{}: ", error.place.line, error.place.column);
            assert!(line.starts_with(&place) && line.len() > place.len(), "no place: {line:?}");
            // A text without a final line break has one more line than line breaks.
            let lines = text.split('\n').count() as u64;
            assert!((1..=lines).contains(&u64::from(error.place.line)), "{line:?} of {lines} lines");
            assert!(error.place.column > 0, "{line:?}");
        }
    }
}
