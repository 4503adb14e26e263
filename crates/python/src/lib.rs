//! The Python bindings of the engine: text goes in, columns come out. The bindings decide nothing.
//! `python/eifel/_engine.pyi` describes every function.

mod advise;
mod attacks;
mod captures;
mod hunt;
mod live;
mod many;
mod numbers;
mod outcome;
mod own;
mod paths;
mod registry;
mod script;
mod single;
mod timers;
mod waiting;
mod watch;
mod worlds;

use eifel_command::Declared;
use eifel_sim::record::Table;
use eifel_sim::scenario::Scenario;
use eifel_sim::summary::{FlowSummary, Requests};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::Path;

pyo3::create_exception!(
    eifel.errors,
    ScenarioError,
    PyValueError,
    "A scenario that is refused; the message is one line: file, line, key, what is wrong, what is allowed."
);

pyo3::create_exception!(
    eifel.errors,
    RunError,
    PyRuntimeError,
    "A run that ended before its end, as one that stands still or takes too many events; the message is one line."
);

/// Reads a scenario, or raises an error that describes the mistake.
fn parse(text: &str, origin: &str) -> PyResult<Scenario> {
    Scenario::parse(text, Path::new(origin)).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// Returns the version of the engine.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Formats a number for people, with the half-width of its interval if it has one.
#[pyfunction]
#[pyo3(signature = (value, half_width=None))]
fn number(value: Option<f64>, half_width: Option<f64>) -> String {
    eifel_command::number::number(value, half_width)
}

/// An option: its name, its value's name, what it means, its kind, and the formats of the file that it writes.
type DeclaredOption = (&'static str, &'static str, &'static str, &'static str, Vec<&'static str>);

/// Returns the example and the options of a command that the program without Python has too.
#[pyfunction]
fn command_line(name: &str) -> PyResult<(&'static str, Vec<DeclaredOption>)> {
    let known = [eifel_capture::advise::command::ADVISE, eifel_capture::command::ANALYZE, eifel_sim::command::RUN];
    let line = known.into_iter().find(|line| line.name == name);
    let line = line.ok_or_else(|| PyValueError::new_err(format!("{name}: the engine declares no such command")))?;
    let of = |option: &Declared| {
        let (kind, formats) = option.kind.described();
        (option.name, option.value, option.help, kind, formats.to_vec())
    };
    Ok((line.example, line.options.iter().map(of).collect()))
}

/// Returns the JSON Schema of a scenario file.
#[pyfunction]
fn schema() -> String {
    eifel_sim::scenario::schema()
}

/// Returns the meaning of each record table and of each column, as JSON.
#[pyfunction]
fn described_tables() -> String {
    let tables = Table::ALL.into_iter().map(|table| {
        let (about, columns) = table.described();
        let columns: serde_json::Map<_, _> =
            columns.iter().map(|&(name, meaning)| (name.to_owned(), meaning.trim().into())).collect();
        (table.name().to_owned(), serde_json::json!({ "about": about.trim(), "columns": columns }))
    });
    serde_json::Value::Object(tables.collect()).to_string()
}

/// Returns the names of the numbers in a flow's summary, including those that only flows with
/// requests have.
#[pyfunction]
fn summary_numbers() -> Vec<&'static str> {
    let of_all = FlowSummary::default().numbers().map(|(name, _)| name);
    of_all.into_iter().chain(Requests::NAMES).collect()
}

/// Raises `ScenarioError` if the scenario is refused.
#[pyfunction]
fn check(text: &str, origin: &str) -> PyResult<()> {
    parse(text, origin).map(drop)
}

/// Converts a scenario's text, TOML or JSON, to JSON.
#[pyfunction]
fn document(text: &str, origin: &str) -> PyResult<String> {
    eifel_sim::scenario::document(text, Path::new(origin)).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// Returns the quantile of Student's t.
#[pyfunction]
fn t_quantile(probability: f64, freedom: u32) -> f64 {
    eifel_sim::command::t_quantile(probability, freedom)
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("RunError", module.py().get_type::<RunError>())?;
    module.add("CaptureError", module.py().get_type::<captures::CaptureError>())?;
    module.add("PathError", module.py().get_type::<paths::PathError>())?;
    own::register();
    module.add_class::<own::FactClass>()?;
    module.add_class::<own::ViewClass>()?;
    module.add_class::<captures::Captures>()?;
    module.add_class::<captures::Joined>()?;
    module.add_class::<paths::CapturedPath>()?;
    module.add_class::<single::Run>()?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(number, module)?)?;
    module.add_function(wrap_pyfunction!(command_line, module)?)?;
    module.add_function(wrap_pyfunction!(single::run_command, module)?)?;
    module.add_function(wrap_pyfunction!(advise::advise, module)?)?;
    module.add_function(wrap_pyfunction!(captures::analyze_lines, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(document, module)?)?;
    module.add_function(wrap_pyfunction!(described_tables, module)?)?;
    module.add_function(wrap_pyfunction!(t_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(summary_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(registry::registry, module)?)?;
    module.add_function(wrap_pyfunction!(attacks::attacks, module)?)?;
    module.add_function(wrap_pyfunction!(attacks::attack, module)?)?;
    module.add_function(wrap_pyfunction!(own::watch_captures, module)?)?;
    module.add_function(wrap_pyfunction!(captures::analyze, module)?)?;
    module.add_function(wrap_pyfunction!(captures::analyze_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(captures::analyze_each, module)?)?;
    module.add_function(wrap_pyfunction!(captures::check_conditions, module)?)?;
    module.add_function(wrap_pyfunction!(captures::failures, module)?)?;
    module.add_function(wrap_pyfunction!(captures::follow, module)?)?;
    module.add_function(wrap_pyfunction!(captures::join, module)?)?;
    module.add_function(wrap_pyfunction!(captures::captured, module)?)?;
    module.add_function(wrap_pyfunction!(paths::extract_path, module)?)?;
    module.add_function(wrap_pyfunction!(paths::way_on, module)?)?;
    module.add_function(wrap_pyfunction!(paths::whatif, module)?)?;
    module.add_function(wrap_pyfunction!(paths::whatif_hidden, module)?)?;
    module.add_function(wrap_pyfunction!(paths::whatif_trial, module)?)?;
    module.add_function(wrap_pyfunction!(hunt::hunt_liars, module)?)?;
    module.add_function(wrap_pyfunction!(hunt::hunt_claim, module)?)?;
    module.add_function(wrap_pyfunction!(live::live, module)?)?;
    module.add_function(wrap_pyfunction!(live::live_run, module)?)?;
    module.add_function(wrap_pyfunction!(script::script, module)?)?;
    module.add_function(wrap_pyfunction!(single::run, module)?)?;
    module.add_function(wrap_pyfunction!(single::record, module)?)?;
    module.add_function(wrap_pyfunction!(timers::timer_series, module)?)?;
    module.add_function(wrap_pyfunction!(watch::watch, module)?)?;
    module.add_function(wrap_pyfunction!(watch::counters, module)?)?;
    module.add_function(wrap_pyfunction!(worlds::small_worlds, module)?)?;
    module.add_function(wrap_pyfunction!(many::run_many, module)?)
}
