//! Reads a scenario as JSON, with the structure of the TOML. It is for programs that write
//! scenarios.

use super::error::Fault;
use super::tree::{Entry, Lines, Node, Value};
use core::fmt;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Reads the text of one JSON object.
pub(super) fn read(text: &str) -> Result<Node, Fault> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| {
        Fault::new(u32::try_from(error.line()).unwrap_or(1), "", format!("not JSON: {}", plain(&error)))
    })?;
    Source { text, lines: Lines::of(text) }.node(raw, 0)
}

/// Removes the line and column that `serde_json` appends to its messages. Our messages begin with
/// the line.
fn plain(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}

struct Source<'a> {
    text: &'a str,
    lines: Lines,
}

impl Source<'_> {
    /// Returns the line of a raw value. The value is a slice of the text, so the difference of
    /// their addresses is the value's offset.
    fn line(&self, raw: &RawValue) -> u32 {
        self.lines.line((raw.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize))
    }

    fn node(&self, raw: &RawValue, depth: u32) -> Result<Node, Fault> {
        let line = self.line(raw);
        if depth > DEEPEST {
            return Err(Fault::new(line, "", format!("more than {DEEPEST} lists and tables in each other")));
        }
        let refused = |error: serde_json::Error| Fault::new(line, "", format!("not JSON: {}", plain(&error)));
        let json = raw.get();
        let value = match json.as_bytes().first() {
            Some(b'{') => {
                let Pairs(pairs) = serde_json::from_str(json).map_err(refused)?;
                Value::Table(self.entries(pairs, depth + 1)?)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(json).map_err(refused)?;
                Value::List(items.into_iter().map(|item| self.node(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            Some(b'"') => Value::Text(serde_json::from_str(json).map_err(refused)?),
            Some(b't') => Value::Switch(true),
            Some(b'f') => Value::Switch(false),
            Some(b'n') => Value::Foreign("null"),
            _ => match json.parse::<i64>() {
                Ok(integer) => Value::Integer(integer),
                Err(_) => Value::Float(serde_json::from_str(json).map_err(refused)?),
            },
        };
        Ok(Node { line, value })
    }

    fn entries(&self, pairs: Vec<(String, &RawValue)>, depth: u32) -> Result<Vec<Entry>, Fault> {
        let mut entries: Vec<Entry> = Vec::with_capacity(pairs.len());
        for (key, raw) in pairs {
            let line = self.line(raw);
            if entries.iter().any(|entry| entry.key == key) {
                return Err(Fault::new(line, "", format!("not JSON: the key {key:?} is there twice")));
            }
            entries.push(Entry { key, line, node: self.node(raw, depth)? });
        }
        Ok(entries)
    }
}

/// The deepest nesting. It is far more than a scenario needs, and far less than would overflow the
/// stack.
const DEEPEST: u32 = 64;

/// The members of an object in order, including repeated keys.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Members).map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_know_their_lines() {
        let node = read("{\n \"a\": 1,\n \"b\": {\"c\":\n [2.5, \"x\"]}\n}").expect("good JSON");
        let Value::Table(entries) = &node.value else { panic!("a table") };
        assert!(matches!(entries[0].node, Node { line: 2, value: Value::Integer(1) }));
        let Value::Table(inner) = &entries[1].node.value else { panic!("a table") };
        let Value::List(items) = &inner[0].node.value else { panic!("a list") };
        assert!(matches!(items[0], Node { line: 4, value: Value::Float(2.5) }));
    }

    #[test]
    fn a_key_given_twice_is_refused() {
        let fault = read("{\"a\": 1,\n\"a\": 2}").expect_err("a double");
        assert_eq!((fault.line, fault.what.as_str()), (2, "not JSON: the key \"a\" is there twice"));
    }

    #[test]
    fn endless_nesting_is_refused() {
        let fault = read(&format!("{{\"a\":\n{}", "[".repeat(100) + &"]".repeat(100) + "}")).expect_err("too deep");
        assert_eq!((fault.line, fault.what.as_str()), (2, "more than 64 lists and tables in each other"));
    }

    #[test]
    fn broken_json_names_its_line() {
        let fault = read("{\"a\": 1,\n\"b\": }").expect_err("broken");
        assert_eq!((fault.line, fault.what.as_str()), (2, "not JSON: expected value"));
    }
}
