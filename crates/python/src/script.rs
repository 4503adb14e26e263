//! One script, run.

use crate::ScriptError;
use pyo3::prelude::*;

/// Runs a script. Returns its outcome as JSON, and as text for people.
#[pyfunction]
pub(crate) fn converse(py: Python<'_>, text: &str, origin: &str) -> PyResult<(String, String)> {
    let script = eifel_script::parse(text, origin).map_err(|error| ScriptError::new_err(error.to_string()))?;
    let outcome = py.detach(|| eifel_script::run(&script));
    Ok((outcome.json().to_string(), outcome.to_string()))
}
