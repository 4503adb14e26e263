//! The command `script`.

use pyo3::prelude::*;

/// Runs `eifel script` with these words. Returns the exit code, and what it wrote to standard output and
/// to standard error.
#[pyfunction]
pub(crate) fn script(py: Python<'_>, words: Vec<String>) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = py.detach(|| eifel_script::command::main(&words, &mut out, &mut err));
    let [out, err] = [out, err].map(|text| String::from_utf8_lossy(&text).into_owned());
    (code, out, err)
}
