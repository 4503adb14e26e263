//! Gathers the numbers of summaries into columns.

use eifel_sim::record::Columns as Recorded;
use eifel_sim::record::column::Column;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One number of a flow's summary.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    /// A count.
    Integer(i64),
    /// A time or a rate. NaN if there is none.
    Real(f64),
    /// Yes or no.
    Switch(bool),
}

/// Returns a recorded table's columns by name, as NumPy arrays that take over the memory.
pub(crate) fn columns_into_dict(py: Python<'_>, columns: Recorded) -> PyResult<Bound<'_, PyDict>> {
    let arrays = PyDict::new(py);
    for (name, column) in columns {
        match column {
            Column::Integers(values) => arrays.set_item(name, values.into_pyarray(py))?,
            Column::Small(values) => arrays.set_item(name, values.into_pyarray(py))?,
            Column::Codes(values) => arrays.set_item(name, values.into_pyarray(py))?,
            Column::WideCodes(values) => arrays.set_item(name, values.into_pyarray(py))?,
            Column::Flags(values) => arrays.set_item(name, values.into_pyarray(py))?,
        }
    }
    Ok(arrays)
}

/// A column of numbers of one kind.
#[derive(Debug)]
enum Numbers {
    Integer(Vec<i64>),
    Real(Vec<f64>),
    Switch(Vec<bool>),
}

/// Columns that grow row by row. Every row has the same names in the same order.
#[derive(Debug, Default)]
pub(crate) struct Columns(Vec<(&'static str, Numbers)>);

impl Columns {
    /// Adds a row.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = (&'static str, Number)>) {
        for (place, (name, number)) in row.into_iter().enumerate() {
            if place == self.0.len() {
                self.0.push((name, Numbers::of_kind(number)));
            }
            self.0[place].1.push(number);
        }
    }

    /// Returns the columns by name, as NumPy arrays that take over the memory.
    pub(crate) fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        for (name, numbers) in self.0 {
            match numbers {
                Numbers::Integer(values) => dict.set_item(name, values.into_pyarray(py))?,
                Numbers::Real(values) => dict.set_item(name, values.into_pyarray(py))?,
                Numbers::Switch(values) => dict.set_item(name, values.into_pyarray(py))?,
            }
        }
        Ok(dict)
    }
}

impl Numbers {
    fn of_kind(number: Number) -> Self {
        match number {
            Number::Integer(_) => Self::Integer(Vec::new()),
            Number::Real(_) => Self::Real(Vec::new()),
            Number::Switch(_) => Self::Switch(Vec::new()),
        }
    }

    fn push(&mut self, number: Number) {
        match (self, number) {
            (Self::Integer(values), Number::Integer(value)) => values.push(value),
            (Self::Real(values), Number::Real(value)) => values.push(value),
            (Self::Switch(values), Number::Switch(value)) => values.push(value),
            (column, number) => unreachable!("a row of other kinds than the first: {number:?} for {column:?}"),
        }
    }
}
