//! Paths extracted from captures, and predictions of other senders over them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use eifel_command::page::Screen;
use eifel_whatif::command;
use eifel_whatif::found::{self, Error, Found};
use eifel_whatif::path::Refusal;
use eifel_whatif::trial::{self, CrossTraffic};
use eifel_whatif::whatif::RequestedSender;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::captures::CaptureError;
use crate::waiting;

pyo3::create_exception!(
    eifel.errors,
    PathError,
    PyValueError,
    "A capture that shows no path, or a change of it that is refused; the message is one line."
);

/// The path of one connection in a capture, with the replay of its sender.
#[pyclass(frozen)]
pub(crate) struct CapturedPath(Found);

#[pymethods]
impl CapturedPath {
    /// Returns path, events and replay, as a JSON object.
    fn json(&self) -> String {
        self.0.json().to_string()
    }

    /// Returns the path as a scenario with the replayed sender, as a JSON object.
    fn scenario(&self) -> String {
        self.0.scenario().to_string()
    }

    /// Returns why no prediction is made; `None` if the replay agrees with the capture.
    fn refused(&self) -> Option<String> {
        self.0.refused()
    }

    /// Describes the path in lines.
    fn summary(&self) -> String {
        self.0.summary()
    }

    /// Names what the capture leaves open.
    fn open_quantities(&self) -> Vec<String> {
        self.0.path.open_quantities()
    }

    /// Raises `PathError` for keys and values that no sender has. `changes` is a JSON object.
    fn check(&self, changes: &str) -> PyResult<()> {
        let sender = RequestedSender::new(String::new(), parsed(changes)?);
        sender.check(&self.0.scenario()).map_err(|Refusal(why)| PathError::new_err(why))
    }

    /// Runs other senders over drawn paths. `asked` is a JSON list of pairs: a name, and an object of
    /// changes. Returns a JSON object.
    fn whatif(
        &self,
        py: Python<'_>,
        asked: &str,
        draws: u32,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let asked: Vec<(String, Map<String, Value>)> = parsed(asked)?;
        let asked: Vec<_> = asked.into_iter().map(|(name, changes)| RequestedSender::new(name, changes)).collect();
        let mut raised = None;
        let tried = py.detach(|| {
            let mut tell = |done: u32| tell(progress.as_ref(), (u64::from(done), u64::from(draws)), &mut raised);
            catch_unwind(AssertUnwindSafe(|| self.0.whatif(&asked, (draws, seed), &mut tell)))
        });
        let found = tried.map_err(|panic| waiting::raised(&*panic, "whatif"))?;
        match (found, raised) {
            (_, Some(error)) => Err(error),
            (Err(Refusal(why)), None) => Err(PathError::new_err(why)),
            (Ok(found), None) => Ok(json!(found).to_string()),
        }
    }
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PathError::new_err(error.to_string()))
}

/// Calls `progress`, and checks for Ctrl-C. Stores an exception from either in `raised`.
pub(crate) fn tell<Done>(progress: Option<&Py<PyAny>>, done: Done, raised: &mut Option<PyErr>) -> Result<(), String>
where
    Done: for<'py> pyo3::call::PyCallArgs<'py>,
{
    Python::attach(|py| {
        let told = progress.map_or(Ok(()), |progress| progress.call1(py, done).map(drop));
        told.and_then(|()| py.check_signals()).map_err(|error| {
            *raised = Some(error);
            String::new()
        })
    })
}

/// Extracts the path of a connection, and replays its sender. `None` selects the connection with
/// most data.
#[pyfunction]
#[pyo3(signature = (file, connection=None, progress=None))]
pub(crate) fn extract_path(
    py: Python<'_>,
    file: PathBuf,
    connection: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<CapturedPath> {
    let mut raised = None;
    let found = py.detach(|| {
        Found::of_file(&file, connection, &mut |read, all| tell(progress.as_ref(), (read, all), &mut raised))
    });
    match (found, raised) {
        (_, Some(error)) => Err(error),
        (Err(Error::Capture(message)), None) => Err(CaptureError::new_err(message)),
        (Err(Error::Path(Refusal(why))), None) => Err(PathError::new_err(why)),
        (Ok(found), None) => Ok(CapturedPath(found)),
    }
}

/// Returns what the user of a refused capture can do.
#[pyfunction]
pub(crate) fn way_on(refusal: &str, file: &str) -> String {
    found::way_on(refusal, file)
}

/// Runs `eifel whatif` with these words, for a screen of `columns`. Calls `progress` with the kind of
/// work, what of it is done, and how much there is. Returns the exit code, and what the command wrote to
/// standard output and to standard error.
#[pyfunction]
pub(crate) fn whatif(
    py: Python<'_>,
    words: Vec<String>,
    columns: usize,
    styled: bool,
    progress: Py<PyAny>,
) -> PyResult<(u8, String, String)> {
    let (mut out, mut err, mut raised) = (Vec::new(), Vec::new(), None);
    let code = py.detach(|| {
        command::main(&words, Screen { columns, styled }, (&mut out, &mut err), &mut |what, done, all| {
            tell(Some(&progress), (what, done, all), &mut raised)
        })
    });
    let [out, err] = [out, err].map(|text| String::from_utf8_lossy(&text).into_owned());
    raised.map_or(Ok((code, out, err)), Err)
}

/// Compares a prediction with the truth on a hidden path drawn from this seed. `cross` is `none`,
/// `transfer` or `bursts`. Returns a JSON object.
#[pyfunction]
pub(crate) fn whatif_trial(py: Python<'_>, seed: u64, cross: &str, draws: u32) -> PyResult<String> {
    let cross = match cross {
        "none" => CrossTraffic::None,
        "transfer" => CrossTraffic::Transfer,
        "bursts" => CrossTraffic::Bursts,
        other => return Err(PathError::new_err(format!("cross {other:?}; allowed: none, transfer, bursts"))),
    };
    let found = py.detach(|| trial::trial(seed, cross, draws));
    found.map(|found| json!(found).to_string()).map_err(|Refusal(why)| PathError::new_err(why))
}

/// Returns a hidden path without other traffic, drawn from this seed, as a scenario: a JSON object.
#[pyfunction]
pub(crate) fn whatif_hidden(seed: u64) -> String {
    trial::hidden(seed, CrossTraffic::None).0.to_string()
}
