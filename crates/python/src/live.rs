//! The engine on a real network.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs a command of `eifel live`; returns the exit code. `called_as` is how this program was called, up to `arguments`.
#[pyfunction]
pub(crate) fn live(py: Python<'_>, called_as: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| eifel_live::command::main(&called_as, &arguments))
}
