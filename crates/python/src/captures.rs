//! Analyses captures: takes files, and returns a report.

use std::path::PathBuf;

use crate::waiting;
use eifel_capture::report::condition::{self, Condition, Counts};
use eifel_capture::report::{Report, score, text};
use eifel_capture::{files, places};
use eifel_hostile::captured::{self as transfers, Weather};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::cell::RefCell;
use std::io::{stderr, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};

pyo3::create_exception!(
    eifel.errors,
    CaptureError,
    PyValueError,
    "A capture that cannot be read, or a truth file; the message is one line: file, place, what is wrong, what is expected."
);

/// The findings of an analysis of captures.
#[pyclass(frozen)]
pub(crate) struct Captures {
    report: Report,
}

/// A column and its name.
type Column<'py> = (&'static str, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Captures {
    /// Returns the whole report as a JSON object.
    fn json(&self) -> String {
        self.report.json()
    }

    /// Returns the retransmissions as CSV.
    fn csv(&self) -> String {
        self.report.csv()
    }

    /// Returns a summary for people.
    fn text(&self) -> String {
        text::summary(&self.report)
    }

    /// Returns the words of the summary that the page shows too, as a JSON object.
    fn words(&self) -> String {
        serde_json::json!(text::words(&self.report)).to_string()
    }

    /// Writes the only capture file again with the verdicts as comments, as pcapng.
    fn annotate(&self, output: PathBuf) -> PyResult<()> {
        files::annotate(&self.report, &output).map_err(CaptureError::new_err)
    }

    /// Writes plots for xplot into a folder.
    fn plot(&self, folder: PathBuf) -> PyResult<()> {
        files::plot(&self.report, &folder).map_err(CaptureError::new_err)
    }

    /// Copies the only capture file, stripped of everything that the verdicts do not rest on.
    fn anonymise(&self, output: PathBuf) -> PyResult<()> {
        let input = files::only_file(&self.report).map_err(CaptureError::new_err)?;
        files::anonymise(&input, &output).map_err(CaptureError::new_err)
    }

    /// Returns the time-sequence graph of one direction as columns. Transmissions: `sent_s`,
    /// `start`, `end`, `frame`. ACKs: `heard_s`, `cumulative`, `edge` (of the receiver's window).
    /// SACK blocks: `sack_s`, `sack_start`, `sack_end`.
    fn time_sequence<'py>(&self, py: Python<'py>, connection: u64, from_server: bool) -> PyResult<Vec<Column<'py>>> {
        let found = self.report.connections.iter().find(|one| one.connection == connection);
        let flow = found.map(|one| one.flow(from_server));
        let flow = flow.ok_or_else(|| CaptureError::new_err(format!("no connection {connection} with data")))?;
        let input = files::only_file(&self.report).map_err(CaptureError::new_err)?;
        let trace = py.detach(|| eifel_whatif::events::trace_of(&input, flow));
        Ok(trace.columns().into_iter().map(|(name, values)| (name, PyArray1::from_vec(py, values))).collect())
    }

    /// Returns why `eifel analyze` fails with these conditions of `--fail-if`, in lines; none if it does not.
    fn failures(&self, conditions: Vec<String>) -> PyResult<Vec<String>> {
        Ok(condition::failures(&self.report, &parsed(&conditions)?))
    }

    /// Compares the report with the text of a truth file. Returns a JSON object, and the score for people.
    fn score(&self, truth: &str) -> PyResult<(String, String)> {
        let truth = score::read_truth(truth).map_err(CaptureError::new_err)?;
        let score = score::score(&truth, &self.report.retransmissions);
        Ok((score.json(), score.text()))
    }
}

/// Raises `CaptureError` if a condition of `--fail-if` is none.
#[pyfunction]
pub(crate) fn check_conditions(conditions: Vec<String>) -> PyResult<()> {
    parsed(&conditions).map(drop)
}

fn parsed(conditions: &[String]) -> PyResult<Vec<Condition>> {
    conditions.iter().map(|text| Condition::parse(text)).collect::<Result<_, _>>().map_err(CaptureError::new_err)
}

/// Returns why a command fails with these conditions of `--fail-if`, in lines; none if it does not.
/// `verdicts` are the numbers of spurious, needed and undecidable retransmissions; `cut` if a file could
/// not be read to its end.
#[pyfunction]
pub(crate) fn failures(
    conditions: Vec<String>,
    verdicts: (usize, usize, usize),
    sent: u64,
    cut: bool,
) -> PyResult<Vec<String>> {
    let (spurious, needed, undecidable) = verdicts;
    Ok(condition::failures_of(&Counts { spurious, needed, undecidable, sent }, cut, &parsed(&conditions)?))
}

/// What captures at several places of a path show together.
#[pyclass(frozen)]
pub(crate) struct Joined {
    report: places::Report,
}

#[pymethods]
impl Joined {
    /// Returns the whole report as a JSON object.
    fn json(&self) -> String {
        self.report.json()
    }

    /// Returns a summary for people.
    fn text(&self) -> String {
        self.report.text()
    }

    /// Returns the truth about the capture of a place, counted from 0, as CSV.
    fn truth(&self, place: usize) -> String {
        self.report.truth(place)
    }
}

/// Analyses a capture in memory, uncompressed.
#[pyfunction]
pub(crate) fn analyze_bytes(py: Python<'_>, name: &str, capture: &[u8]) -> PyResult<Captures> {
    let report = py.detach(|| Report::of_bytes(name, capture));
    report.map(|report| Captures { report }).map_err(|error| CaptureError::new_err(format!("{name}: {error}")))
}

/// A capture: the name of its place, its bytes, and the truth about it as CSV.
type Place<'py> = (String, Bound<'py, PyBytes>, String);

/// Captures the transfer of a seed at three places. Returns the scenario, and for each place its name, the capture, and the
/// truth.
#[pyfunction]
#[pyo3(signature = (seed, wild=false))]
pub(crate) fn captured(py: Python<'_>, seed: u64, wild: bool) -> PyResult<(String, Vec<Place<'_>>)> {
    let weather = if wild { Weather::Wild } else { Weather::Plain };
    let made = py.detach(|| transfers::captured(seed, weather)).map_err(CaptureError::new_err)?;
    let place = |place: transfers::Place| (place.name, PyBytes::new(py, &place.pcapng), place.truth);
    Ok((made.scenario, made.places.into_iter().map(place).collect()))
}

/// Analyses a capture that may still be growing. Calls `hear` after each piece with the numbers of
/// frames, packets, connections and retransmissions so far.
#[pyfunction]
pub(crate) fn follow(py: Python<'_>, file: PathBuf, hear: Py<PyAny>) -> PyResult<Captures> {
    let mut raised = None;
    let report = py.detach(|| {
        files::follow(&file, &mut |so_far| {
            Python::attach(|py| {
                let numbers = (so_far.frames, so_far.packets, so_far.connections, so_far.retransmissions);
                let told = hear.call1(py, numbers).and_then(|_| py.check_signals());
                told.map_err(|error| {
                    raised = Some(error);
                    String::new()
                })
            })
        })
    });
    match (report, raised) {
        (_, Some(error)) => Err(error),
        (Err(message), None) => Err(CaptureError::new_err(message)),
        (Ok(report), None) => Ok(Captures { report }),
    }
}

/// Calls `work` with a function that passes the bytes read so far and the total to `progress`.
fn with_progress<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(files::Progress<'_>) -> Result<T, String> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let tried = py.detach(|| {
        let mut tell = |read, all| {
            Python::attach(|py| {
                let told = progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (read, all)).map(drop));
                told.and_then(|()| py.check_signals()).map_err(|error| {
                    raised = Some(error);
                    String::new()
                })
            })
        };
        catch_unwind(AssertUnwindSafe(|| work(&mut tell)))
    });
    match (raised, tried) {
        (Some(error), _) => Err(error),
        (None, Ok(done)) => done.map_err(CaptureError::new_err),
        (None, Err(panic)) => Err(waiting::raised(&*panic, "analyze")),
    }
}

/// Analyses captures. Calls `progress` with the bytes read so far and the total, which is 0 if it
/// is unknown.
#[pyfunction]
#[pyo3(signature = (files, progress=None))]
pub(crate) fn analyze(py: Python<'_>, files: Vec<PathBuf>, progress: Option<Py<PyAny>>) -> PyResult<Captures> {
    with_progress(py, progress, |progress| files::analyze(&files, progress)).map(|report| Captures { report })
}

/// The most retransmissions that [`analyze_each`] hands over together.
const TOGETHER: usize = 1000;

/// Analyses one capture, and forgets each connection as soon as it is over. Calls `take` with the retransmissions of
/// such connections: a JSON object with the keys `connections` and `retransmissions` of a report. Calls `progress` as
/// `analyze` does. Returns why the file could not be read to its end.
#[pyfunction]
#[pyo3(signature = (file, take, progress=None))]
pub(crate) fn analyze_each(
    py: Python<'_>,
    file: PathBuf,
    take: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<String>> {
    fn text<T: serde::Serialize>(rows: &[T]) -> String {
        serde_json::to_string(rows).unwrap_or_default()
    }
    let report = with_progress(py, progress, |progress| {
        let raised = RefCell::new(None);
        let report = files::stream(
            &file,
            &mut |read, all| if raised.borrow().is_some() { Err(String::new()) } else { progress(read, all) },
            &mut |connections, retransmissions| {
                for part in retransmissions.chunks(TOGETHER) {
                    let mut raised = raised.borrow_mut();
                    if raised.is_none() {
                        let found =
                            format!(r#"{{"connections":{},"retransmissions":{}}}"#, text(&connections), text(part));
                        *raised = Python::attach(|py| take.call1(py, (found,)).err());
                    }
                }
            },
        );
        raised.into_inner().map_or_else(|| report.map(Ok), |raised| Ok(Err(raised)))
    })??;
    Ok(report.captures.into_iter().find_map(|capture| capture.error))
}

/// Joins the captures of a path's places, given with their names in the order of the path. Calls
/// `progress` as `analyze` does.
#[pyfunction]
#[pyo3(signature = (captures, progress=None))]
pub(crate) fn join(py: Python<'_>, captures: Vec<(String, PathBuf)>, progress: Option<Py<PyAny>>) -> PyResult<Joined> {
    with_progress(py, progress, |progress| files::join(&captures, progress)).map(|report| Joined { report })
}

/// Runs `eifel analyze` with these words, and returns the exit code. It writes to the standard output and the
/// standard error of the process.
#[pyfunction]
pub(crate) fn analyze_lines(py: Python<'_>, words: Vec<String>) -> u8 {
    py.detach(|| eifel_capture::command::main(&words, &mut stdout().lock(), &mut stderr().lock()))
}
