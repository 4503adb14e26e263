//! The command `advise`.

use eifel_capture::advise::command;
use eifel_command::page::Screen;
use pyo3::prelude::*;

/// Runs `eifel advise` with these words, for a screen of these columns that shows bold letters or does not. Returns
/// the exit code, and what the command wrote to standard output and to standard error.
#[pyfunction]
pub(crate) fn advise(py: Python<'_>, words: Vec<String>, screen: (usize, bool)) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (columns, styled) = screen;
    let code = py.detach(|| command::main(&words, Screen { columns, styled }, (&mut out, &mut err)));
    let [out, err] = [out, err].map(|text| String::from_utf8_lossy(&text).into_owned());
    (code, out, err)
}
