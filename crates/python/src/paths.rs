//! Paths extracted from captures, and predictions of other senders over them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use eifel_whatif::events::{self, Captured};
use eifel_whatif::path::{Path, Refusal};
use eifel_whatif::replay::{self, Replay};
use eifel_whatif::scenario;
use eifel_whatif::trial::{self, CrossTraffic};
use eifel_whatif::whatif::{self, RequestedSender};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

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
pub(crate) struct CapturedPath {
    captured: Captured,
    path: Path,
    replay: Replay,
}

#[pymethods]
impl CapturedPath {
    /// Returns path, events and replay, as a JSON object.
    fn json(&self) -> String {
        let flow = &self.captured.trace.flow;
        json!({
            "sender": flow.source,
            "receiver": flow.destination,
            "model": self.captured.model,
            "path": self.path,
            "events": self.captured.events(),
            "replay": self.replay,
        })
        .to_string()
    }

    /// Returns the path as a scenario with the replayed sender, as a JSON object.
    fn scenario(&self) -> String {
        scenario::as_seen(&self.path, &self.replay.sender, 1).to_string()
    }

    /// Runs other senders over drawn paths. `asked` is a JSON list of objects with `name` and
    /// `changes`. Returns a JSON object.
    fn whatif(
        &self,
        py: Python<'_>,
        asked: &str,
        draws: u32,
        seed: u64,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let asked: Vec<Value> = serde_json::from_str(asked).map_err(|error| PathError::new_err(error.to_string()))?;
        let asked: Vec<RequestedSender> = asked.iter().map(sender).collect();
        let mut raised = None;
        let tried = py.detach(|| {
            let mut tell = |done| tell(progress.as_ref(), (u64::from(done), u64::from(draws)), &mut raised);
            let given = (&self.captured, &self.path, &self.replay);
            catch_unwind(AssertUnwindSafe(|| whatif::whatif(given, &asked, (draws, seed), &mut tell)))
        });
        let found = tried.map_err(|panic| waiting::raised(&*panic, "whatif"))?;
        match (found, raised) {
            (_, Some(error)) => Err(error),
            (Err(Refusal(why)), None) => Err(PathError::new_err(why)),
            (Ok(found), None) => Ok(json!(found).to_string()),
        }
    }
}

fn sender(one: &Value) -> RequestedSender {
    let changes = one["changes"].as_object().into_iter().flatten();
    RequestedSender {
        name: one["name"].as_str().unwrap_or_default().to_owned(),
        changes: changes.map(|(key, value)| (key.clone(), value.clone())).collect(),
    }
}

/// Calls `progress`, and checks for Ctrl-C. Stores an exception from either in `raised`.
fn tell(progress: Option<&Py<PyAny>>, done: (u64, u64), raised: &mut Option<PyErr>) -> Result<(), String> {
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
    let read = py.detach(|| {
        events::of_file(&file, connection, &mut |read, all| tell(progress.as_ref(), (read, all), &mut raised))
    });
    let captured = match (read, raised) {
        (_, Some(error)) => return Err(error),
        (Err(message), None) => return Err(CaptureError::new_err(message)),
        (Ok(captured), None) => captured,
    };
    let name = file.display();
    let refused = |Refusal(why): Refusal| PathError::new_err(format!("{name}: {why}"));
    let path = captured.path().map_err(refused)?;
    let replay = py.detach(|| replay::replay(&captured, &path)).map_err(refused)?;
    Ok(CapturedPath { captured, path, replay })
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
