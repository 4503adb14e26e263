//! What a run keeps: tables of what happened, column by column, and only those asked for.

pub mod codes;
pub mod column;
pub mod recorder;
mod rows;
pub mod tables;

use crate::scenario::{Scenario, TABLES};
use codes::Dictionaries;
use column::Column;
use std::io;

/// The columns of a table, by name and in order.
pub type Columns = Vec<(&'static str, Column)>;

/// Takes what a run keeps while the run goes on, so that its length costs no memory.
pub trait Sink {
    /// More rows of a table, in the order in which they happened, and what their codes mean. At the end every table that
    /// is kept comes once more, with what is left of it.
    fn rows(&mut self, table: Table, columns: Columns, words: Vec<(&'static str, Vec<String>)>);

    /// Where the capture of this node is written.
    ///
    /// # Errors
    /// Those of opening it.
    fn capture(&mut self, node: &str) -> io::Result<Box<dyn io::Write>>;
}

/// A table of the run's record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Table {
    Transmissions,
    Arrivals,
    Acks,
    Drops,
    Window,
    Timer,
    Episodes,
    Verdicts,
    Queues,
    Spikes,
}

impl Table {
    /// All, in the order in which results list them: that of [`TABLES`].
    pub const ALL: [Self; 10] = [
        Self::Transmissions,
        Self::Arrivals,
        Self::Acks,
        Self::Drops,
        Self::Window,
        Self::Timer,
        Self::Episodes,
        Self::Verdicts,
        Self::Queues,
        Self::Spikes,
    ];

    /// Its name in scenarios and results.
    pub fn name(self) -> &'static str {
        TABLES[self as usize]
    }
}

/// What a run is to keep.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record {
    tables: u16,
    captures: Vec<usize>,
    payload: bool,
}

/// A table that there is not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownTable(pub String);

impl core::fmt::Display for UnknownTable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "record: unknown table {:?}; allowed: {}", self.0, TABLES.join(", "))
    }
}

impl core::error::Error for UnknownTable {}

impl Record {
    /// Nothing: the fastest run.
    pub fn none() -> Self {
        Self::default()
    }

    /// All tables, no captures.
    pub fn all() -> Self {
        Self { tables: (1 << Table::ALL.len()) - 1, ..Self::default() }
    }

    /// What the scenario itself asks for.
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

    /// The tables of these names.
    ///
    /// # Errors
    /// A name that is no table's.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownTable> {
        names.into_iter().try_fold(Self::none(), |record, name| {
            let table = Table::ALL.into_iter().find(|table| table.name() == name);
            table.map(|table| record.with(table)).ok_or_else(|| UnknownTable(name.to_owned()))
        })
    }

    /// This table too.
    #[must_use]
    pub fn with(mut self, table: Table) -> Self {
        self.tables |= 1 << table as u16;
        self
    }

    /// The packets too that the node of this index sends and gets, as bytes.
    #[must_use]
    pub fn capturing(mut self, node: usize) -> Self {
        if !self.captures.contains(&node) {
            self.captures.push(node);
        }
        self
    }

    /// Captures hold the payload too, and not the headers alone.
    #[must_use]
    pub fn with_payload(mut self) -> Self {
        self.payload = true;
        self
    }

    /// Whether captures hold the payload.
    pub fn keeps_payload(&self) -> bool {
        self.payload
    }

    /// Whether this table is kept.
    pub fn keeps(&self, table: Table) -> bool {
        self.tables & 1 << table as u16 != 0
    }

    /// The nodes whose packets are kept.
    pub fn captures(&self) -> &[usize] {
        &self.captures
    }

    /// Whether nothing is kept.
    pub fn is_none(&self) -> bool {
        self.tables == 0 && self.captures.is_empty()
    }
}

/// The tables of a run; those that were not asked for are empty.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tables {
    /// Which were asked for.
    pub kept: Record,
    /// What left a sender.
    pub transmissions: tables::Transmissions,
    /// Data at a receiver.
    pub arrivals: tables::Arrivals,
    /// Acknowledgements as a sender got them.
    pub acks: tables::Acks,
    /// Packets that a link dropped.
    pub drops: tables::Drops,
    /// A sender's window.
    pub window: tables::WindowTable,
    /// A sender's retransmission timer.
    pub timer: tables::Timer,
    /// Loss signals.
    pub episodes: tables::Episodes,
    /// What detectors said.
    pub verdicts: tables::Verdicts,
    /// Queues.
    pub queues: tables::Queues,
    /// Delay spikes.
    pub spikes: tables::Spikes,
    /// What the codes mean.
    pub dictionaries: Dictionaries,
}

impl Tables {
    /// The tables that were asked for, by name, each with its columns by name; the values are moved out.
    pub fn into_columns(self) -> Vec<(&'static str, Columns)> {
        let columns = [
            self.transmissions.into_columns(),
            self.arrivals.into_columns(),
            self.acks.into_columns(),
            self.drops.into_columns(),
            self.window.into_columns(),
            self.timer.into_columns(),
            self.episodes.into_columns(),
            self.verdicts.into_columns(),
            self.queues.into_columns(),
            self.spikes.into_columns(),
        ];
        let kept = self.kept;
        Table::ALL
            .into_iter()
            .zip(columns)
            .filter(|(table, _)| kept.keeps(*table))
            .map(|(table, columns)| (table.name(), columns))
            .collect()
    }

    /// The words of every column of codes, as ("table.column", words); a code is an index into them.
    pub fn categories(&self) -> Vec<(String, Vec<String>)> {
        let kept = self.dictionaries.by_column().into_iter().filter(|(table, ..)| self.kept.keeps(*table));
        kept.map(|(table, column, words)| (format!("{}.{column}", table.name()), words)).collect()
    }

    /// Takes the first rows of a table out of it, as columns.
    fn take(&mut self, table: Table, rows: usize) -> Columns {
        match table {
            Table::Transmissions => self.transmissions.take(rows).into_columns(),
            Table::Arrivals => self.arrivals.take(rows).into_columns(),
            Table::Acks => self.acks.take(rows).into_columns(),
            Table::Drops => self.drops.take(rows).into_columns(),
            Table::Window => self.window.take(rows).into_columns(),
            Table::Timer => self.timer.take(rows).into_columns(),
            Table::Episodes => self.episodes.take(rows).into_columns(),
            Table::Verdicts => self.verdicts.take(rows).into_columns(),
            Table::Queues => self.queues.take(rows).into_columns(),
            Table::Spikes => self.spikes.take(rows).into_columns(),
        }
    }

    /// How many rows a table has.
    fn rows(&self, table: Table) -> usize {
        match table {
            Table::Transmissions => self.transmissions.flow.len(),
            Table::Arrivals => self.arrivals.flow.len(),
            Table::Acks => self.acks.flow.len(),
            Table::Drops => self.drops.flow.len(),
            Table::Window => self.window.flow.len(),
            Table::Timer => self.timer.flow.len(),
            Table::Episodes => self.episodes.flow.len(),
            Table::Verdicts => self.verdicts.flow.len(),
            Table::Queues => self.queues.link.len(),
            Table::Spikes => self.spikes.link.len(),
        }
    }
}
