//! Test conversations.

/// The name that messages give the text.
const ORIGIN: &str = "fuzzed.pkt";

/// Any text is a script, which is run to its end or its first failure, or refused in one line that names a place.
///
/// # Panics
/// Where that does not hold.
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
            // A text without its last line break has one line more than breaks.
            let lines = text.split('\n').count() as u64;
            assert!((1..=lines).contains(&u64::from(error.place.line)), "{line:?} of {lines} lines");
            assert!(error.place.column > 0, "{line:?}");
        }
    }
}
