//! What a run keeps: tables of what happened, column by column, and only those asked for.

pub mod codes;
pub mod column;
pub mod recorder;
pub mod tables;

use crate::scenario::{Scenario, TABLES};
use codes::Dictionaries;
use column::Column;

/// A table of the run's record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the tables'")]
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
        Self { tables: (1 << Table::ALL.len()) - 1, captures: Vec::new() }
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
    pub fn into_columns(self) -> Vec<(&'static str, Vec<(&'static str, Column)>)> {
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
        self.dictionaries.by_column(&self.kept)
    }
}
