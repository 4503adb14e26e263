//! A scenario's text as a tree of values with line numbers. TOML and JSON give the same tree.

use super::check::join;
use super::error::Fault;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A value and the line on which it begins (from 1).
#[derive(Debug)]
pub(super) struct Node {
    pub(super) line: u32,
    pub(super) value: Value,
}

/// A value in the text.
#[derive(Debug)]
pub(super) enum Value {
    /// Entries in the order of the text.
    Table(Vec<Entry>),
    List(Vec<Node>),
    Integer(i64),
    Float(f64),
    Text(String),
    Switch(bool),
    /// A value of a type that scenarios do not use: a date, or JSON's null.
    Foreign(&'static str),
}

/// A `key = value`.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) line: u32,
    pub(super) node: Node,
}

impl Value {
    /// Describes the value for a message.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Table(_) => "a table".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Integer(value) => format!("the number {value}"),
            Self::Float(value) if value.is_nan() => "nan".to_owned(),
            Self::Float(value) if value.is_finite() && value.abs() >= 1e16 => format!("the number {value:e}"),
            Self::Float(value) => format!("the number {value}"),
            Self::Text(value) => format!("the text {value:?}"),
            Self::Switch(value) => format!("the switch {value}"),
            Self::Foreign(name) => (*name).to_owned(),
        }
    }
}

impl Node {
    /// Writes the value as JSON, in the order of the text. [Foreign](Value::Foreign) values become
    /// null.
    pub(super) fn write_json(&self, out: &mut String) {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match &self.value {
            Value::Table(entries) => {
                let begin = |at: usize| if at == 0 { "{" } else { ", " };
                for (at, entry) in entries.iter().enumerate() {
                    *out += &format!("{}{}: ", begin(at), quoted(&entry.key));
                    entry.node.write_json(out);
                }
                *out += if entries.is_empty() { "{}" } else { "}" };
            }
            Value::List(items) => {
                *out += "[";
                for (at, item) in items.iter().enumerate() {
                    *out += if at == 0 { "" } else { ", " };
                    item.write_json(out);
                }
                *out += "]";
            }
            Value::Integer(value) => *out += &value.to_string(),
            Value::Float(value) => *out += &serde_json::Value::from(*value).to_string(),
            Value::Text(value) => *out += &quoted(value),
            Value::Switch(value) => *out += if *value { "true" } else { "false" },
            Value::Foreign(_) => *out += "null",
        }
    }
}

/// The offsets of a text's line breaks.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at).collect())
    }

    /// Returns the line, from 1, of the byte at `offset`.
    pub(super) fn line(&self, offset: usize) -> u32 {
        let before = self.0.partition_point(|&end| end < offset);
        u32::try_from(before).unwrap_or(u32::MAX - 1) + 1
    }
}

/// Reads TOML, or JSON if the text begins with a brace. A TOML document never does. Both may begin
/// with a byte order mark.
pub(super) fn read(text: &str) -> Result<Node, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') { super::json::read(text) } else { read_toml(text) }
}

fn read_toml(text: &str) -> Result<Node, Fault> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| lines.line(span.start));
        let at = error.span().and_then(|span| text.get(span));
        match (error.message(), at) {
            ("duplicate key", Some(key)) => Fault::new(line, key, "is there twice"),
            (message, _) => Fault::new(line, "", format!("not TOML: {message}")),
        }
    })?;
    Ok(Node { line: 1, value: from_table(table.into_inner(), &lines, "")? })
}

fn from_table(table: DeTable<'_>, lines: &Lines, path: &str) -> Result<Value, Fault> {
    let mut pairs: Vec<(Spanned<DeString<'_>>, Spanned<DeValue<'_>>)> = table.into_iter().collect();
    pairs.sort_by_key(|(key, _)| key.span().start);
    let mut entries = Vec::with_capacity(pairs.len());
    for (key, value) in pairs {
        let line = lines.line(key.span().start);
        let key = key.into_inner().into_owned();
        let node = from_value(value, lines, &join(path, &key))?;
        entries.push(Entry { key, line, node });
    }
    Ok(Value::Table(entries))
}

fn from_value(value: Spanned<DeValue<'_>>, lines: &Lines, path: &str) -> Result<Node, Fault> {
    let line = lines.line(value.span().start);
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
            .map(Value::Integer)
            .map_err(|_| Fault::new(line, path, format!("the number {} has too many digits", digits.as_str())))?,
        DeValue::Float(digits) => digits
            .as_str()
            .parse()
            .map(Value::Float)
            .map_err(|_| Fault::new(line, path, format!("{} is not a number", digits.as_str())))?,
        DeValue::Boolean(switch) => Value::Switch(switch),
        DeValue::Datetime(_) => Value::Foreign("a date"),
        DeValue::Array(array) => {
            let items = array.into_iter().enumerate();
            let node = |(index, item)| from_value(item, lines, &format!("{path}[{index}]"));
            Value::List(items.map(node).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => from_table(table, lines, path)?,
    };
    Ok(Node { line, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_count_from_one() {
        let lines = Lines::of("a\nbc\n\nd");
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(|offset| lines.line(offset)), [1, 1, 2, 2, 2, 3, 4]);
    }

    #[test]
    fn a_tree_is_written_as_json_in_the_order_of_the_text() {
        let text = "z = 1e2\na = [true, \"\\u00e9\\\"\"]\n[t]\nempty = {}\nmany = { b = 0.1,\n a = -7, }\n";
        let mut json = String::new();
        read(text).expect("good TOML").write_json(&mut json);
        assert_eq!(
            json,
            "{\"z\": 100.0, \"a\": [true, \"\u{e9}\\\"\"], \"t\": {\"empty\": {}, \"many\": {\"b\": 0.1, \"a\": -7}}}"
        );
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        for text in ["\u{feff}a = 1", "\u{feff}{\"a\": 1}"] {
            let Value::Table(entries) = read(text).expect("a document").value else { panic!("a table") };
            assert_eq!((entries[0].key.as_str(), entries[0].line), ("a", 1));
        }
    }

    #[test]
    fn keys_come_in_the_order_of_the_text_with_their_lines() {
        let node = read("z = 1\na = [1.5,\n 2]\n[[t]]\nx = true\n[[t]]\n").expect("good TOML");
        let Value::Table(entries) = node.value else { panic!("a table") };
        assert_eq!(
            entries.iter().map(|e| (e.key.as_str(), e.line)).collect::<Vec<_>>(),
            [("z", 1), ("a", 2), ("t", 4)]
        );
        let Value::List(numbers) = &entries[1].node.value else { panic!("a list") };
        assert_eq!(numbers[1].line, 3);
        let Value::List(tables) = &entries[2].node.value else { panic!("a list") };
        assert_eq!((tables[0].line, tables[1].line), (4, 6));
    }
}
