//! What a scenario may hold, as data. One description of each key serves the check, the defaults, the JSON Schema and
//! the test of the reference, so that they cannot disagree.

use super::near;
use eifel_recovery::registry::Seam;

/// A table of the format and the keys it knows.
#[derive(Debug)]
pub(super) struct Table {
    /// Its name in the schema; for one of the tables that a tag chooses between, the tag's value.
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) keys: &'static [Key],
    pub(super) rules: &'static [Rule],
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) kind: Kind,
    pub(super) presence: Presence,
}

/// Whether a key has to be there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Presence {
    Required,
    Optional,
    Default(Fallback),
}

/// What stands where a key is left out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fallback {
    Integer(i64),
    Number(f64),
    Switch(bool),
    Word(&'static str),
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// A whole number; `2e6` is one.
    Integer {
        minimum: i64,
        maximum: i64,
    },
    /// A whole number or a fraction.
    Number {
        minimum: f64,
        maximum: f64,
    },
    /// More than zero.
    Positive {
        maximum: f64,
    },
    Switch,
    /// Any text but the empty one.
    Text,
    /// A name that the scenario gives: no blanks, no quotes.
    Name,
    /// One of these words.
    Word(&'static [&'static str]),
    Table(&'static Table),
    /// One of several tables; the value of the key `tag` says which.
    Tagged {
        tag: &'static str,
        tables: &'static [Table],
    },
    List {
        of: &'static Kind,
        at_least: usize,
    },
    /// A single one, or a list of them.
    OneOrMore(&'static Kind),
    /// Told apart by what the value is (text, number, table, list).
    Either(&'static [Kind]),
    /// An algorithm of this seam: its name, or a table with `name` and parameters.
    Algorithm(Seam),
}

/// What holds between keys of one table.
#[derive(Debug)]
pub(super) enum Rule {
    ExactlyOne(&'static [&'static str]),
    AtMostOne(&'static [&'static str]),
    /// The first makes no sense without the second.
    Needs(&'static str, &'static str),
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
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl Kind {
    /// What is allowed, in words; `key` carries the unit.
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

/// The keys' names, in the order they are described.
pub(super) fn names(keys: &[Key]) -> String {
    keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
}
