//! Typed access to a table that was checked against its shape. Access panics if the shape lacks the
//! key, or gives it another type. Both are mistakes of this crate.

use super::check::{self, join};
use super::error::Fault;
use super::shape::{Fallback, Kind, Presence, Table};
use super::tree::{Entry, Node, Value};
use eifel_base::time::Duration;

/// A checked table of the scenario.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    entries: &'a [Entry],
    line: u32,
    path: String,
    shape: &'static Table,
}

impl<'a> Reader<'a> {
    pub(super) fn new(node: &'a Node, shape: &'static Table, path: impl Into<String>) -> Self {
        let Value::Table(entries) = &node.value else { unreachable!("checked to be a table") };
        Self { entries, line: node.line, path: path.into(), shape }
    }

    /// Creates a table without keys, which gives the defaults.
    pub(super) fn empty(shape: &'static Table) -> Self {
        Self { entries: &[], line: 1, path: String::new(), shape }
    }

    /// Returns the table's name; for a tagged table, the value of the tag.
    pub(super) fn kind(&self) -> &'static str {
        self.shape.name
    }

    pub(super) fn node(&self, key: &str) -> Option<&'a Node> {
        debug_assert!(self.shape.key(key).is_some(), "{key} is no key of {}", self.shape.name);
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.node(key).is_some()
    }

    /// Builds a fault of `key` that no shape can express. Its line is the table's if the key is
    /// absent.
    pub(super) fn fault(&self, key: &str, what: impl Into<String>) -> Fault {
        Fault::new(self.node(key).map_or(self.line, |node| node.line), join(&self.path, key), what)
    }

    fn fallback(&self, key: &str) -> Option<Fallback> {
        match self.shape.key(key).map(|key| &key.presence) {
            Some(Presence::Default(fallback)) => Some(*fallback),
            _ => None,
        }
    }

    pub(super) fn maybe_integer(&self, key: &str) -> Option<u64> {
        let given = self.node(key).and_then(|node| check::whole(&node.value));
        let integer = given.or(match self.fallback(key) {
            Some(Fallback::Integer(integer)) => Some(integer),
            _ => None,
        });
        integer.map(|integer| u64::try_from(integer).unwrap_or(0))
    }

    /// Returns a whole number that is required or has a default.
    pub(super) fn integer(&self, key: &str) -> u64 {
        self.maybe_integer(key).expect("checked: required, or with a default")
    }

    pub(super) fn maybe_count(&self, key: &str) -> Option<u32> {
        self.maybe_integer(key).map(|integer| u32::try_from(integer).unwrap_or(u32::MAX))
    }

    /// Returns a whole number that the key's shape limits to 32 bits.
    pub(super) fn count(&self, key: &str) -> u32 {
        self.maybe_count(key).expect("checked: required, or with a default")
    }

    pub(super) fn maybe_number(&self, key: &str) -> Option<f64> {
        self.node(key).and_then(|node| check::real(&node.value)).or(match self.fallback(key) {
            Some(Fallback::Number(number)) => Some(number),
            _ => None,
        })
    }

    pub(super) fn number(&self, key: &str) -> f64 {
        self.maybe_number(key).expect("checked: required, or with a default")
    }

    /// Returns a duration. The end of the key's name gives its unit.
    pub(super) fn maybe_duration(&self, key: &str) -> Option<Duration> {
        self.maybe_number(key).map(|number| duration(key, number))
    }

    pub(super) fn duration(&self, key: &str) -> Duration {
        duration(key, self.number(key))
    }

    /// Returns the table under a key that also allows a number; `None` for a number.
    pub(super) fn maybe_table(&self, key: &str) -> Option<Reader<'a>> {
        let is_table = self.node(key).is_some_and(|node| check::real(&node.value).is_none());
        is_table.then(|| self.table(key).expect("checked to be a number or a table"))
    }

    pub(super) fn maybe_switch(&self, key: &str) -> Option<bool> {
        match (self.node(key).map(|node| &node.value), self.fallback(key)) {
            (Some(Value::Switch(switch)), _) => Some(*switch),
            (None, Some(Fallback::Switch(switch))) => Some(switch),
            _ => None,
        }
    }

    pub(super) fn switch(&self, key: &str) -> bool {
        self.maybe_switch(key).expect("checked: required, or with a default")
    }

    pub(super) fn maybe_text(&self, key: &str) -> Option<&'a str> {
        match (self.node(key).map(|node| &node.value), self.fallback(key)) {
            (Some(Value::Text(text)), _) => Some(text),
            (None, Some(Fallback::Word(word))) => Some(word),
            _ => None,
        }
    }

    pub(super) fn text(&self, key: &str) -> &'a str {
        self.maybe_text(key).expect("checked: required, or with a default")
    }

    /// Returns the table under `key`, if the value is a table.
    pub(super) fn table(&self, key: &str) -> Option<Reader<'a>> {
        let node = self.node(key).filter(|node| matches!(node.value, Value::Table(_)))?;
        Some(enter(node, self.kind_of(key), join(&self.path, key)))
    }

    /// Returns the tables of the list under `key`, or the single table there.
    pub(super) fn tables(&self, key: &str) -> Vec<Reader<'a>> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let path = join(&self.path, key);
        match (&node.value, self.kind_of(key)) {
            (Value::List(items), Kind::List { of, .. } | Kind::OneOrMore(of)) => {
                let each = |(index, item)| enter(item, of, format!("{path}[{index}]"));
                items.iter().enumerate().map(each).collect()
            }
            (_, Kind::OneOrMore(of)) => vec![enter(node, of, path)],
            _ => Vec::new(),
        }
    }

    /// Returns the elements of the list under `key`, or the single value there. Each has its path
    /// for messages.
    pub(super) fn items(&self, key: &str) -> Vec<Item<'a>> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let path = join(&self.path, key);
        let Value::List(items) = &node.value else { return vec![Item { node, path }] };
        items.iter().enumerate().map(|(index, node)| Item { node, path: format!("{path}[{index}]") }).collect()
    }

    fn kind_of(&self, key: &str) -> &'static Kind {
        &self.shape.key(key).expect("a key of the shape").kind
    }
}

/// An element of a list of plain values.
pub(super) struct Item<'a> {
    node: &'a Node,
    path: String,
}

impl<'a> Item<'a> {
    pub(super) fn node(&self) -> &'a Node {
        self.node
    }

    pub(super) fn text(&self) -> &'a str {
        match &self.node.value {
            Value::Text(text) => text,
            _ => "",
        }
    }

    pub(super) fn integer(&self) -> u64 {
        check::whole(&self.node.value).and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
    }

    pub(super) fn number(&self) -> f64 {
        check::real(&self.node.value).unwrap_or(0.0)
    }

    pub(super) fn fault(&self, what: impl Into<String>) -> Fault {
        Fault::new(self.node.line, self.path.as_str(), what)
    }
}

fn enter<'a>(node: &'a Node, kind: &'static Kind, path: String) -> Reader<'a> {
    let Value::Table(entries) = &node.value else { unreachable!("checked to be a table") };
    let tagged = |tag: &str, tables: &'static [Table]| {
        check::choose(node.line, entries, tag, tables, &path).expect("checked to have a tag")
    };
    let table_of =
        |kinds: &'static [Kind]| kinds.iter().find(|kind| matches!(kind, Kind::Table(_) | Kind::Tagged { .. }));
    let shape = match kind {
        Kind::Table(shape) => shape,
        Kind::Tagged { tag, tables } => tagged(tag, tables),
        Kind::Either(kinds) => return enter(node, table_of(kinds).expect("checked to allow a table"), path),
        _ => unreachable!("checked to allow a table"),
    };
    Reader::new(node, shape, path)
}

/// Converts seconds, or milliseconds for a key that ends with `_ms`, to the nearest nanosecond.
fn duration(key: &str, number: f64) -> Duration {
    if key.ends_with("_ms") {
        Duration::from_nanos((number * 1e6).round() as u64)
    } else {
        Duration::from_secs_f64(number)
    }
}
