//! Runs one script.

use crate::ScriptError;
use pyo3::prelude::*;

/// Runs a script for a stack with this profile. Returns its outcome as JSON, and as text for people.
#[pyfunction]
pub(crate) fn converse(py: Python<'_>, text: &str, origin: &str, profile: &str) -> PyResult<(String, String)> {
    let profile = eifel_script::Profile::named(profile).ok_or_else(|| {
        ScriptError::new_err(format!("no profile \"{profile}\"; expected standard, linux or freebsd"))
    })?;
    let script =
        eifel_script::parse_for(profile, text, origin).map_err(|error| ScriptError::new_err(error.to_string()))?;
    let outcome = py.detach(|| eifel_script::run(&script));
    Ok((outcome.json().to_string(), outcome.to_string()))
}
