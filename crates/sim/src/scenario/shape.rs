//! The allowed contents of a scenario, as data. A single description of each key serves the checks,
//! the defaults, the JSON Schema and the test of the reference, so that they cannot disagree.

use super::near;
use eifel_recovery::registry::Seam;

/// A table of the format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    /// The table's name in the schema. For a table that a tag selects, it is the tag's value.
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) keys: &'static [Key],
    pub(super) rules: &'static [Rule],
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) kind: Kind,
    pub(super) presence: Presence,
}

/// Whether a key is required.
#[derive(Clone, Copy, Debug)]
pub(super) enum Presence {
    Required,
    Optional,
    Default(Fallback),
}

/// The value of a key that is left out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fallback {
    Integer(i64),
    Number(f64),
    Switch(bool),
    Word(&'static str),
}

/// The kinds of values.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A whole number, also in a form like `2e6`.
    Integer {
        minimum: i64,
        maximum: i64,
    },
    /// Any number.
    Number {
        minimum: f64,
        maximum: f64,
    },
    /// A number above zero.
    Positive {
        maximum: f64,
    },
    Switch,
    /// Any text that is not empty.
    Text,
    /// A name defined by the scenario: letters, digits and `._-:/()#`.
    Name,
    /// One of these words.
    Word(&'static [&'static str]),
    Table(&'static Table),
    /// One of several tables, selected by the value of the key `tag`.
    Tagged {
        tag: &'static str,
        tables: &'static [Table],
    },
    List {
        of: &'static Kind,
        at_least: usize,
    },
    /// One value, or a list of them.
    OneOrMore(&'static Kind),
    /// One of these kinds. The type of the value (text, number, table, list) selects it.
    Either(&'static [Kind]),
    /// An algorithm of this seam: its name, or a table with `name` and parameters.
    Algorithm(Seam),
}

/// A rule between keys of one table.
#[derive(Debug)]
pub(super) enum Rule {
    ExactlyOne(&'static [&'static str]),
    AtMostOne(&'static [&'static str]),
    /// The first key is allowed only with the second.
    Needs(&'static str, &'static str),
}

/// Returns a table without rules.
pub(super) const fn table(name: &'static str, summary: &'static str, keys: &'static [Key]) -> Table {
    Table { name, summary, keys, rules: &[] }
}

pub(super) const fn required(name: &'static str, kind: Kind, summary: &'static str) -> Key {
    Key { name, summary, kind, presence: Presence::Required }
}

pub(super) const fn optional(name: &'static str, kind: Kind, summary: &'static str) -> Key {
    Key { name, summary, kind, presence: Presence::Optional }
}

pub(super) const fn default(name: &'static str, kind: Kind, fallback: Fallback, summary: &'static str) -> Key {
    Key { name, summary, kind, presence: Presence::Default(fallback) }
}

impl Table {
    /// Returns the table with these rules.
    pub(super) const fn with(self, rules: &'static [Rule]) -> Self {
        Self { rules, ..self }
    }

    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl Kind {
    /// Describes the allowed values. The end of `key` gives their unit.
    pub(super) fn allowed(&self, key: &str) -> String {
        let unit = near::unit_of(key).map_or(String::new(), |unit| format!(" {unit}"));
        match self {
            Self::Integer { minimum, maximum: i64::MAX } => format!("a whole number{unit}, {minimum} or more"),
            Self::Integer { minimum, maximum } => format!("a whole number{unit}, {minimum} to {maximum}"),
            Self::Number { minimum, maximum } if *maximum == f64::MAX => format!("a number{unit}, {minimum} or more"),
            Self::Number { minimum, maximum } => format!("a number{unit}, {minimum} to {maximum}"),
            Self::Positive { maximum } if *maximum == f64::MAX => format!("a number{unit}, more than 0"),
            Self::Positive { maximum } => format!("a number{unit}, more than 0, at most {maximum}"),
            Self::Switch => "true, false".to_owned(),
            Self::Text => "a text that is not empty".to_owned(),
            Self::Name => "a name (letters, digits and . _ - : / ( ) #)".to_owned(),
            Self::Word(words) => words.join(", "),
            Self::Table(table) => format!("a table of {}", names(table.keys)),
            Self::Tagged { tag, tables } => {
                format!("a table with {tag} = {}", tables.iter().map(|table| table.name).collect::<Vec<_>>().join(", "))
            }
            Self::List { of, at_least: 0 } => format!("a list, each: {}", of.allowed(key)),
            Self::List { of, at_least } => format!("a list of {at_least} or more, each: {}", of.allowed(key)),
            Self::OneOrMore(of) => format!("one or a list, each: {}", of.allowed(key)),
            Self::Either(kinds) => kinds.iter().map(|kind| kind.allowed(key)).collect::<Vec<_>>().join("; or "),
            Self::Algorithm(seam) => super::algorithm::names(*seam).join(", "),
        }
    }
}

/// Lists the names of the keys, in their order.
pub(super) fn names(keys: &[Key]) -> String {
    keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
}
