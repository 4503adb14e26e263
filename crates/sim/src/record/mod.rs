//! The record of a run: tables of events, stored by column. A run keeps only the tables asked for.

pub mod codes;
pub mod column;
mod engine;
pub mod recorder;
mod rows;
pub mod tables;
mod transport;

use crate::scenario::{Scenario, TABLES};
use codes::Dictionaries;
use column::Column;
use std::io;

/// The columns of a table, by name and in order.
pub type Columns = Vec<(&'static str, Column)>;

/// Receives a run's record during the run, so that memory does not grow with the run's length.
pub trait Sink {
    /// Receives more rows of a table, in the order of events, and the words of their codes. At the
    /// end it receives the remaining rows of each kept table, even if there are none.
    fn rows(&mut self, table: Table, columns: Columns, words: Vec<(&'static str, Vec<String>)>);

    /// Opens the stream for the capture of a node.
    ///
    /// # Errors
    /// Returns the error from opening the stream.
    fn capture(&mut self, node: &str) -> io::Result<Box<dyn io::Write>>;
}

/// Declares the tables once, in the order of [`TABLES`] and of results: the variant of [`Table`], the
/// field of [`Tables`] and its type.
macro_rules! tables {
    ($($variant:ident, $field:ident: $kind:ty;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Table {
            $($variant,)*
        }

        impl Table {
            /// All tables, in order.
            pub const ALL: [Self; TABLES.len()] = [$(Self::$variant),*];

            /// Returns the meaning of a row, and the names and meanings of the columns.
            pub fn described(self) -> (&'static str, &'static [(&'static str, &'static str)]) {
                match self {
                    $(Self::$variant => (<$kind>::ABOUT, <$kind>::COLUMNS),)*
                }
            }
        }

        /// The tables of a run. Tables that were not asked for are empty.
        #[derive(Clone, PartialEq, Debug, Default)]
        pub struct Tables {
            pub kept: Record,
            $(pub $field: $kind,)*
            /// The words of codes.
            pub dictionaries: Dictionaries,
            /// Whether any recorded flow is an association. Only then the tables have the column `path`.
            pub has_paths: bool,
        }

        impl Tables {
            /// Removes and returns the first rows of a table, as columns.
            fn take(&mut self, table: Table, rows: usize) -> Columns {
                let columns = match table {
                    $(Table::$variant => self.$field.take(rows).into_columns(),)*
                };
                shown(columns, self.has_paths)
            }

            fn rows(&self, table: Table) -> usize {
                match table {
                    $(Table::$variant => self.$field.rows(),)*
                }
            }
        }
    };
}

tables! {
    Transmissions, transmissions: tables::Transmissions;
    Arrivals, arrivals: tables::Arrivals;
    Acks, acks: tables::Acks;
    Drops, drops: tables::Drops;
    Window, window: tables::WindowTable;
    Timer, timer: tables::Timer;
    Episodes, episodes: tables::Episodes;
    Verdicts, verdicts: tables::Verdicts;
    Queues, queues: tables::Queues;
    Spikes, spikes: tables::Spikes;
}

impl Table {
    /// Returns the table's name in scenarios and results.
    pub fn name(self) -> &'static str {
        TABLES[self as usize]
    }
}

/// The tables and captures that a run keeps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record {
    tables: u16,
    captures: Vec<usize>,
    payload: bool,
}

/// An error: no table has this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownTable(pub String);

impl core::fmt::Display for UnknownTable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "record: unknown table {:?}; allowed: {}", self.0, TABLES.join(", "))
    }
}

impl core::error::Error for UnknownTable {}

impl Record {
    /// Keeps nothing. Such a run is the fastest.
    pub fn none() -> Self {
        Self::default()
    }

    /// Keeps all tables, but no captures.
    pub fn all() -> Self {
        Self { tables: (1 << Table::ALL.len()) - 1, ..Self::default() }
    }

    /// Keeps the tables and captures that the scenario asks for.
    pub fn of(scenario: &Scenario) -> Self {
        let mut record = Self::none();
        for table in Table::ALL {
            if scenario.recording.tables.contains(&table.name()) {
                record = record.with(table);
            }
        }
        record.captures.clone_from(&scenario.recording.captures);
        record
    }

    /// Keeps the tables with these names.
    ///
    /// # Errors
    /// Returns the first name that no table has.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownTable> {
        names.into_iter().try_fold(Self::none(), |record, name| {
            let table = Table::ALL.into_iter().find(|table| table.name() == name);
            table.map(|table| record.with(table)).ok_or_else(|| UnknownTable(name.to_owned()))
        })
    }

    /// Also keeps this table.
    #[must_use]
    pub fn with(mut self, table: Table) -> Self {
        self.tables |= 1 << table as u16;
        self
    }

    /// Also captures the packets that the node of this index sends, receives and forwards.
    #[must_use]
    pub fn capturing(mut self, node: usize) -> Self {
        if !self.captures.contains(&node) {
            self.captures.push(node);
        }
        self
    }

    /// Keeps whole packets in captures, not just headers.
    #[must_use]
    pub fn with_payload(mut self) -> Self {
        self.payload = true;
        self
    }

    pub fn keeps_payload(&self) -> bool {
        self.payload
    }

    pub fn keeps(&self, table: Table) -> bool {
        self.tables & 1 << table as u16 != 0
    }

    /// Returns the indices of nodes whose packets are captured.
    pub fn captures(&self) -> &[usize] {
        &self.captures
    }

    /// Returns whether the run keeps neither tables nor captures.
    pub fn is_none(&self) -> bool {
        self.tables == 0 && self.captures.is_empty()
    }
}

impl Tables {
    /// Moves the kept tables out. Returns their names and columns.
    pub fn into_columns(mut self) -> Vec<(&'static str, Columns)> {
        let kept = Table::ALL.into_iter().filter(|table| self.kept.keeps(*table)).collect::<Vec<_>>();
        kept.into_iter().map(|table| (table.name(), self.take(table, self.rows(table)))).collect()
    }

    /// Returns the words of every column of codes, as ("table.column", words). A code is an index
    /// into the words.
    pub fn categories(&self) -> Vec<(String, Vec<String>)> {
        let kept = self.dictionaries.by_column().into_iter().filter(|(table, ..)| self.kept.keeps(*table));
        kept.map(|(table, column, words)| (format!("{}.{column}", table.name()), words)).collect()
    }
}

/// Removes the column `path` unless the run has associations.
fn shown(mut columns: Columns, has_paths: bool) -> Columns {
    columns.retain(|(name, _)| has_paths || *name != "path");
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_the_tables_that_were_asked_for() {
        let all = Table::ALL.into_iter().fold(Record::none(), Record::with);
        assert_eq!(Record::all(), all);
        for table in Table::ALL {
            let one = Record::none().with(table);
            assert!(Table::ALL.into_iter().all(|other| one.keeps(other) == (other == table)), "{table:?}");
            assert_eq!(Record::named([table.name()]).as_ref(), Ok(&one));
            assert!(all.keeps(table) && !one.is_none() && !one.keeps_payload());
        }
        assert!(Record::none().is_none() && !Record::none().capturing(0).is_none());
        assert_eq!(Record::none().capturing(1).capturing(0).capturing(1).captures(), [1, 0]);
    }
}
