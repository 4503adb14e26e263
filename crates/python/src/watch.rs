//! The commands `watch` and `counters`.

use pyo3::prelude::*;
use std::io::{stderr, stdout};

/// Runs `eifel watch` with these words, and returns the exit code. It writes to the standard output and the
/// standard error of the process.
#[pyfunction]
pub(crate) fn watch(py: Python<'_>, words: Vec<String>) -> u8 {
    py.detach(|| eifel_watch::command::main(&words, &mut stdout().lock(), &mut stderr().lock()))
}

/// Runs `eifel counters` with these words, and returns the exit code. It writes to the standard output and the
/// standard error of the process.
#[pyfunction]
pub(crate) fn counters(py: Python<'_>, words: Vec<String>) -> u8 {
    py.detach(|| eifel_watch::command::counters::main(&words, &mut stdout().lock(), &mut stderr().lock()))
}
