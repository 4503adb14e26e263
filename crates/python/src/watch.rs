//! Which retransmissions of this host were needless, live.

use eifel_watch::{Cause, Error, Filter, Watch};
use pyo3::exceptions::{PyOSError, PyPermissionError};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The connections of this host, watched until the object is gone.
#[pyclass(frozen)]
pub(crate) struct WatchedHost {
    watch: Mutex<Watch>,
}

#[pymethods]
impl WatchedHost {
    /// Attaches to the kernel, but not to the tracepoints `without`.
    #[new]
    #[pyo3(signature = (port=None, namespace=None, cgroup=None, without=Vec::new()))]
    fn new(port: Option<u16>, namespace: Option<u32>, cgroup: Option<u64>, without: Vec<String>) -> PyResult<Self> {
        let watch = Watch::begin(&Filter { port, namespace, cgroup }, &without).map_err(raised)?;
        Ok(Self { watch: Mutex::new(watch) })
    }

    /// Returns what the kernel lacks, and what is not observed because of that.
    fn lacking(&self) -> Vec<String> {
        self.with(|watch| watch.lacking().to_vec())
    }

    /// Waits for facts, at most `timeout_ms`, and returns the judged retransmissions as a JSON array.
    fn poll(&self, py: Python<'_>, timeout_ms: u32) -> PyResult<String> {
        let judged = py.detach(|| self.with(|watch| watch.poll(timeout_ms)));
        py.check_signals()?;
        json(&judged.map_err(raised)?)
    }

    /// Judges what is observed now, and returns it as a JSON array.
    fn finish(&self) -> PyResult<String> {
        json(&self.with(Watch::finish))
    }

    /// Returns the counts so far as a JSON object.
    fn counts(&self) -> PyResult<String> {
        json(&self.with(|watch| watch.counts()))
    }
}

impl WatchedHost {
    fn with<T>(&self, of: impl FnOnce(&mut Watch) -> T) -> T {
        of(&mut self.watch.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the names of the causes, in the order of metrics.
#[pyfunction]
pub(crate) fn watched_causes() -> PyResult<Vec<String>> {
    Cause::ALL.iter().map(|cause| Ok(json(cause)?.trim_matches('"').to_owned())).collect()
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyOSError::new_err(error.to_string()))
}

fn raised(error: Error) -> PyErr {
    let line = error.to_string();
    if error.is_denied { PyPermissionError::new_err(line) } else { PyOSError::new_err(line) }
}
