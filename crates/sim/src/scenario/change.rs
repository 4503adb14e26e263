//! Changes of a scenario, as a user writes them: `flow.main.sender.respond=none`.

use super::{Error, Scenario, document};
use eifel_recovery::registry::Seam;
use serde_json::{Map, Value, json};
use std::fmt;
use std::path::Path;

/// Why a key cannot be set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchKey {
    /// The part of the key at which nothing is found.
    pub part: String,
    what: String,
}

impl fmt::Display for NoSuchKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for NoSuchKey {}

/// Reads `key=value`. The value is TOML, or else a plain text.
///
/// # Errors
/// Returns what is expected, if there is no key or no equals sign.
pub fn setting(text: &str) -> Result<(String, Value), String> {
    let parts = text.split_once('=').map(|(key, value)| (key.trim(), value)).filter(|(key, _)| !key.is_empty());
    let Some((key, written)) = parts else {
        return Err(format!("--set {text}: expected key.path=value, as in seed=7 or flow.main.sender.respond=none"));
    };
    let toml = document(&format!("value = {written}"), Path::new(key)).ok();
    let value = toml.and_then(|json| serde_json::from_str::<Value>(&json).ok()).map(|mut found| found["value"].take());
    Ok((key.to_owned(), value.unwrap_or_else(|| written.trim().into())))
}

/// Sets the value of a key in a scenario's JSON. A key is a path through tables, by name, and through lists,
/// by number or by the `name` of an entry. Its last part may be new.
///
/// # Errors
/// There is no such place.
pub fn put(scenario: &mut Value, key: &str, value: Value) -> Result<(), NoSuchKey> {
    let parts: Vec<&str> = key.split('.').collect();
    let mut place = scenario;
    for (depth, part) in parts.iter().enumerate() {
        let is_last = depth + 1 == parts.len();
        place = match place {
            Value::Object(table) => {
                let inner = table.entry(*part).or_insert_with(|| Value::Object(Map::default()));
                let is_seam = depth > 0 && parts[depth - 1].ends_with("sender");
                if inner.is_string() && is_seam && !is_last {
                    // An algorithm's name alone stands for a table with its name.
                    *inner = json!({ "name": inner.take() });
                }
                inner
            }
            Value::Array(list) => {
                let place = if is_last { key.to_owned() } else { parts[..=depth].join(".") };
                let index = entry(list, part).map_err(|known| NoSuchKey {
                    part: (*part).to_owned(),
                    what: format!("{place}: no such entry in the list; there is: {known}"),
                })?;
                &mut list[index]
            }
            _ => {
                let what = format!("{key}: {} is a plain value and holds nothing", parts[..depth].join("."));
                return Err(NoSuchKey { part: (*part).to_owned(), what });
            }
        };
    }
    *place = value;
    Ok(())
}

/// Returns the index of a list's entry, by its number or its name; as an error, which entries there are.
fn entry(list: &[Value], key: &str) -> Result<usize, String> {
    let name = |entry: &Value| entry.get("name").and_then(Value::as_str).map(str::to_owned);
    let by_number = key.parse().ok().filter(|&index: &usize| index < list.len());
    by_number.or_else(|| list.iter().position(|entry| name(entry).as_deref() == Some(key))).ok_or_else(|| {
        let names: Vec<String> = list.iter().filter_map(name).collect();
        match (names.is_empty(), list.is_empty()) {
            (false, _) => names.join(", "),
            (true, false) => format!("0 to {}", list.len() - 1),
            (true, true) => "none".to_owned(),
        }
    })
}

/// Refuses the parameter of a seam for which the scenario names no algorithm.
///
/// # Errors
/// Returns the key that is to be set too, and the algorithms that there are.
pub fn expect_algorithm(scenario: &Value, key: &str) -> Result<(), String> {
    let parts: Vec<&str> = key.split('.').collect();
    let [parents @ .., _] = &parts[..] else { return Ok(()) };
    let [.., "sender", word] = parents else { return Ok(()) };
    let Some(seam) = Seam::ALL.into_iter().find(|seam| seam.name() == *word) else { return Ok(()) };
    let place = parents.iter().try_fold(scenario, |place, part| match place {
        Value::Array(list) => entry(list, part).ok().and_then(|index| list.get(index)),
        other => other.get(part),
    });
    if place.is_none_or(|place| !place.is_object() || place.get("name").is_some()) {
        return Ok(());
    }
    let known: Vec<&str> = seam.entries().iter().map(|entry| entry.name).collect();
    let (name, known) = (parents.join("."), known.join(", "));
    Err(format!(
        "{key}: the scenario does not say there whose parameter this is; set {name}.name too; allowed: {known}"
    ))
}

/// Returns a scenario's text with other values at these keys, as JSON.
///
/// # Errors
/// A text that is no scenario, or a key that does not exist.
pub fn changed(text: &str, origin: &Path, settings: &[(String, Value)]) -> Result<String, String> {
    let json = document(text, origin).map_err(|error| error.to_string())?;
    let mut document: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    for (key, value) in settings {
        put(&mut document, key, value.clone()).map_err(|error| error.to_string())?;
    }
    settings.iter().try_for_each(|(key, _)| expect_algorithm(&document, key))?;
    Ok(document.to_string())
}

/// Returns what is wrong with a changed scenario. The line of the text, which nobody wrote, is left out.
pub fn said_of_changed(error: &Error, name: &str) -> String {
    let (place, said) = (format!("{}:{}: ", error.file, error.line), error.to_string());
    said.strip_prefix(&place).map_or_else(|| said.clone(), |complaint| format!("{name}: {complaint}"))
}

impl Scenario {
    /// Reads a scenario with other values at these keys.
    ///
    /// # Errors
    /// What is wrong with the scenario, a key or a value.
    pub fn parse_changed(text: &str, origin: &Path, settings: &[(String, Value)]) -> Result<Self, String> {
        Self::parse(text, origin).map_err(|error| error.to_string())?;
        let name = format!("{}, as changed", origin.display());
        let changed = changed(text, origin, settings)?;
        Self::parse(&changed, origin).map_err(|error| said_of_changed(&error, &name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
duration_s = 5
[point_to_point]
rate_bps = 1_000_000
delay_ms = 10
[[flow]]
name = "main"
from = "sender"
to = "receiver"
application = { kind = "bulk", bytes = 9 }
sender = { detect = "none" }
"#;

    fn refused(settings: &[&str]) -> String {
        let settings: Vec<_> = settings.iter().map(|text| setting(text).unwrap()).collect();
        Scenario::parse_changed(TEXT, Path::new("x.toml"), &settings).unwrap_err()
    }

    #[test]
    fn a_value_is_toml_or_a_word() {
        let value = |text: &str| setting(text).unwrap().1;
        assert_eq!(value("a=1"), json!(1));
        assert_eq!(value("a = 2.5"), json!(2.5));
        assert_eq!(value("a=[1, true]"), json!([1, true]));
        assert_eq!(value("a='x'"), json!("x"));
        assert_eq!(value("a=b=c "), json!("b=c"));
        for wrong in ["a", "=1", " =1"] {
            assert!(setting(wrong).unwrap_err().starts_with(&format!("--set {wrong}: expected key.path=value")));
        }
    }

    #[test]
    fn a_changed_key_is_found_by_name_and_by_number() {
        let settings = ["seed=7", "flow.main.sender.detect=f-rto", "flow.0.application.bytes=8"];
        let settings: Vec<_> = settings.iter().map(|text| setting(text).unwrap()).collect();
        let changed = changed(TEXT, Path::new("x.toml"), &settings).unwrap();
        let changed: Value = serde_json::from_str(&changed).unwrap();
        assert_eq!((&changed["seed"], &changed["flow"][0]["sender"]["detect"]), (&json!(7), &json!("f-rto")));
        assert_eq!(changed["flow"][0]["application"]["bytes"], json!(8));
        assert_eq!(Scenario::parse_changed(TEXT, Path::new("x.toml"), &settings).unwrap().seed, 7);
    }

    #[test]
    fn a_key_that_does_not_exist_is_refused_with_its_place() {
        for (settings, expected) in [
            (&["flow.other.sender.rto=linux"][..], "flow.other: no such entry in the list; there is: main"),
            (&["flow.3=1"], "flow.3: no such entry in the list; there is: main"),
            (&["duration_s.x=1"], "duration_s.x: duration_s is a plain value and holds nothing"),
            (&["flow.main.sender.rto.minimum_ms=1"], "flow.main.sender.rto.minimum_ms: the scenario does not say"),
            (&["sed=1"], "x.toml, as changed: sed: unknown key"),
        ] {
            assert!(refused(settings).starts_with(expected), "{}", refused(settings));
        }
        let refused = Scenario::parse_changed("seed = ", Path::new("x.toml"), &[]).unwrap_err();
        assert!(refused.starts_with("x.toml:1: "), "{refused}");
    }
}
