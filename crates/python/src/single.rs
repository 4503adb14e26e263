//! One run, kept in memory or handed over while it runs.

use crate::numbers::columns_into_dict;
use crate::outcome::kept;
use crate::paths::tell;
use crate::{RunError, parse, waiting};
use eifel_command::page::Screen;
use eifel_sim::command::{self, Source, numbers_of};
use eifel_sim::record::{Columns, Sink, Table, Tables};
use eifel_sim::scenario::Scenario;
use eifel_sim::{Error, Outcome};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, SyncSender};
use std::thread;

/// The rows of a table that are handed over together.
const ROWS: usize = 1 << 15;

/// One finished run.
#[pyclass]
pub(crate) struct Run {
    summary: String,
    tables: Vec<(&'static str, Columns)>,
    categories: Vec<(String, Vec<String>)>,
}

/// The result of a run, its error, or its panic.
type Ended = thread::Result<Result<Outcome, Error>>;

/// A message from a run that hands its record over.
enum Message {
    /// Rows of a table, with the words of their codes.
    Rows(Table, Columns, Vec<(&'static str, Vec<String>)>),
    /// The run has ended.
    Ended(Box<(Scenario, Ended)>),
}

/// Sends rows to the thread that holds the GIL. Writes captures to files itself.
struct Handed {
    rows: SyncSender<Message>,
    captures: Vec<(String, PathBuf)>,
}

impl Sink for Handed {
    fn rows(&mut self, table: Table, columns: Columns, words: Vec<(&'static str, Vec<String>)>) {
        // The receiver may be gone.
        drop(self.rows.send(Message::Rows(table, columns, words)));
    }

    fn capture(&mut self, node: &str) -> io::Result<Box<dyn Write>> {
        let (_, file) = self.captures.iter().find(|(name, _)| name == node).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(BufWriter::with_capacity(1 << 16, File::create(file)?)))
    }
}

/// Runs one repetition and keeps the named tables.
#[pyfunction]
pub(crate) fn run(py: Python<'_>, text: &str, origin: &str, repetition: u32, tables: Vec<String>) -> PyResult<Run> {
    let scenario = parse(text, origin)?;
    let keep = kept(&scenario, &tables, []).map_err(PyValueError::new_err)?;
    let (sender, mut receiver) = mpsc::channel();
    // A separate thread, so that this one can check for Ctrl-C. After Ctrl-C, no thread waits for
    // it, and it ends alone.
    thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| eifel_sim::run(&scenario, repetition, keep)));
        // The receiver may be gone.
        drop(sender.send((scenario, outcome)));
    });
    let (scenario, ended) = waiting::next(py, &mut receiver)?;
    finished(&scenario, ended, &format!("{origin}: repetition {repetition}"))
}

/// Runs one repetition, and hands over the named tables while it runs. Writes captures to files.
#[pyfunction]
#[pyo3(signature = (text, origin, repetition, tables, captures, payload, sink))]
#[expect(clippy::too_many_arguments, reason = "a function of Python, where arguments have names")]
pub(crate) fn record(
    py: Python<'_>,
    text: &str,
    origin: &str,
    repetition: u32,
    tables: Vec<String>,
    captures: Vec<(String, PathBuf)>,
    payload: bool,
    sink: Bound<'_, PyAny>,
) -> PyResult<Run> {
    let scenario = parse(text, origin)?;
    let nodes = captures.iter().map(|(node, _)| node.as_str());
    let mut keep = kept(&scenario, &tables, nodes).map_err(PyValueError::new_err)?;
    if payload {
        keep = keep.with_payload();
    }
    // The run waits when Python is behind: at most two parts of a table are queued.
    let (sender, mut receiver) = mpsc::sync_channel(2);
    thread::spawn(move || {
        let handed = Handed { rows: sender.clone(), captures: captures.clone() };
        let into = (Box::new(handed) as Box<dyn Sink>, ROWS);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let outcome = eifel_sim::run_into(&scenario, repetition, keep, into)?;
            commented(&captures, &outcome).map_err(|error| Error::Capture(io::Error::other(error)))?;
            Ok(outcome)
        }));
        drop(sender.send(Message::Ended(Box::new((scenario, ended)))));
    });
    loop {
        match waiting::next(py, &mut receiver)? {
            Message::Rows(table, columns, words) => {
                let known = PyDict::new(py);
                for (column, words) in words {
                    known.set_item(column, words)?;
                }
                sink.call1((table.name(), columns_into_dict(py, columns)?, known))?;
            }
            Message::Ended(ended) => {
                let (scenario, ended) = *ended;
                return finished(&scenario, ended, &format!("{origin}: repetition {repetition}"));
            }
        }
    }
}

/// Adds the comments of a run to its captures.
fn commented(captures: &[(String, PathBuf)], outcome: &Outcome) -> Result<(), String> {
    for (node, texts) in &outcome.comments {
        for (_, file) in captures.iter().filter(|(name, _)| name == node) {
            eifel_capture::files::comment(file, node, texts.clone())?;
        }
    }
    Ok(())
}

fn finished(scenario: &Scenario, ended: Ended, what: &str) -> PyResult<Run> {
    let outcome = match ended {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(Error::Capture(error))) => return Err(PyOSError::new_err(error.to_string())),
        Ok(Err(error)) => return Err(RunError::new_err(format!("{what}: {error}"))),
        Err(panic) => return Err(waiting::raised(&*panic, what)),
    };
    Ok(Run::new(outcome.summary.flows_json(scenario), outcome.tables))
}

/// The numbers of each flow by name, with the repetition.
type Ran = Vec<(u32, Vec<BTreeMap<String, f64>>)>;

/// Runs `eifel run` with these words over a scenario that is read already: its text, its origin, and the
/// repetitions that are not run again. The screen is its columns, and whether it shows styles. Calls
/// `progress` with what is done, and how much there is. Returns the exit code, and what the command wrote to
/// standard output and to standard error.
#[pyfunction]
pub(crate) fn run_command(
    py: Python<'_>,
    words: Vec<String>,
    source: (String, PathBuf, Ran),
    screen: (usize, bool),
    progress: Py<PyAny>,
) -> PyResult<(u8, String, String)> {
    let (mut out, mut err, mut raised) = (Vec::new(), Vec::new(), None);
    let numbers = |flow: &BTreeMap<String, f64>| numbers_of(flow.iter().map(|(name, value)| (name.as_str(), *value)));
    let (text, origin, ran) = source;
    let ran = ran.iter().map(|(repetition, flows)| (*repetition, flows.iter().map(numbers).collect())).collect();
    let code = py.detach(|| {
        let (columns, styled) = screen;
        command::main(
            &words,
            Some(Source { text, origin, ran }),
            Screen { columns, styled },
            (&mut out, &mut err),
            &mut |done, all| tell(Some(&progress), (done, all), &mut raised),
        )
    });
    let [out, err] = [out, err].map(|text| String::from_utf8_lossy(&text).into_owned());
    raised.map_or(Ok((code, out, err)), Err)
}

impl Run {
    /// Makes a run from the summaries of its flows, a JSON list, and its tables.
    pub(crate) fn new(summary: String, tables: Tables) -> Self {
        let categories = tables.categories();
        Self { summary, tables: tables.into_columns(), categories }
    }
}

#[pymethods]
impl Run {
    /// Returns the summary of every flow, as a JSON list of objects.
    fn summary_json(&self) -> &str {
        &self.summary
    }

    /// Moves the recorded tables out of the run.
    fn columns<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        for (table, columns) in std::mem::take(&mut self.tables) {
            tables.set_item(table, columns_into_dict(py, columns)?)?;
        }
        Ok(tables)
    }

    /// Returns the words for the codes of category columns, by "table.column".
    fn categories<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let categories = PyDict::new(py);
        for (name, words) in &self.categories {
            categories.set_item(name, words)?;
        }
        Ok(categories)
    }
}
