//! One run, recorded.

use crate::numbers::Number;
use crate::outcome::{Numbered, capture, flows, kept};
use crate::{parse, waiting};
use eifel_sim::Outcome;
use eifel_sim::record::column::Column;
use numpy::IntoPyArray;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;

/// A table's columns by name.
type Columns = Vec<(&'static str, Column)>;

/// One finished run.
#[pyclass]
pub(crate) struct Run {
    summary: String,
    tables: Vec<(&'static str, Columns)>,
    categories: Vec<(String, Vec<String>)>,
    /// What is left of it: the captures.
    outcome: Outcome,
}

/// Runs one repetition and keeps the named tables.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, text: &str, origin: &str, repetition: u32, record: Vec<String>) -> PyResult<Run> {
    let scenario = parse(text, origin)?;
    let keep = kept(&scenario, &record).map_err(PyValueError::new_err)?;
    let (sender, mut receiver) = mpsc::channel();
    // A thread of its own, so that this one can look for Ctrl-C; after that nobody waits for it, and it ends alone.
    thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| eifel_sim::run(&scenario, repetition, keep)));
        // Nobody may be there to receive it any more.
        drop(sender.send((scenario, outcome)));
    });
    let (scenario, outcome) = waiting::next(py, &mut receiver)?;
    let failed = |what: &str| PyRuntimeError::new_err(format!("{origin}: repetition {repetition}: {what}"));
    let mut outcome = match outcome {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => return Err(failed(&error.to_string())),
        Err(panic) => return Err(failed(waiting::said(&*panic))),
    };
    let summary: Vec<String> = flows(&scenario, &outcome).into_iter().map(object).collect();
    let summary = format!("[{}]", summary.join(", "));
    let tables = std::mem::take(&mut outcome.tables);
    let categories = tables.categories();
    Ok(Run { summary, tables: tables.into_columns(), categories, outcome })
}

/// A flow's summary as a JSON object, in its own order.
fn object(flow: Numbered) -> String {
    let words = flow.words.into_iter().map(|(name, word)| (name, Value::from(word)));
    let numbers = flow.numbers.into_iter().map(|(name, number)| (name, number.json()));
    let members: Vec<String> = words.chain(numbers).map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", members.join(", "))
}

#[pymethods]
impl Run {
    /// The summary of every flow, as a JSON list of objects.
    fn summary_json(&self) -> &str {
        &self.summary
    }

    /// The recorded tables, moved out.
    fn columns<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        for (table, columns) in std::mem::take(&mut self.tables) {
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
            tables.set_item(table, arrays)?;
        }
        Ok(tables)
    }

    /// What the small integers of a category column mean, by "table.column".
    fn categories<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let categories = PyDict::new(py);
        for (name, words) in &self.categories {
            categories.set_item(name, words)?;
        }
        Ok(categories)
    }

    /// A pcapng of what a capture at the node would have seen.
    fn pcapng<'py>(&self, py: Python<'py>, node: &str) -> PyResult<Bound<'py, PyBytes>> {
        capture(&self.outcome, node).map(|bytes| PyBytes::new(py, bytes)).map_err(PyValueError::new_err)
    }
}

impl Number {
    /// As JSON; what is not a number is null there.
    fn json(self) -> Value {
        match self {
            Self::Integer(value) => Value::from(value),
            Self::Real(value) => Value::from(value),
            Self::Switch(value) => Value::from(value),
        }
    }
}
