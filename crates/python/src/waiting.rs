//! Waits for worker threads without the GIL, and handles Ctrl-C meanwhile.

use crate::{RunError, own};
use eifel_command::panic_message;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::any::Any;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// The interval between checks for signals while no message arrives.
const LOOK: Duration = Duration::from_millis(50);

/// Returns the next message. Raises `KeyboardInterrupt` after Ctrl-C, and `RuntimeError` if all
/// senders are gone.
pub(crate) fn next<T: Send>(py: Python<'_>, receiver: &mut Receiver<T>) -> PyResult<T> {
    loop {
        let waiting = &mut *receiver;
        match py.detach(move || waiting.recv_timeout(LOOK)) {
            Ok(arrived) => return Ok(arrived),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the engine's threads ended without a result"));
            }
        }
    }
}

/// Returns the message of a panic, or of a detector of Python that ended a run.
pub(crate) fn said(panic: &(dyn Any + Send)) -> &str {
    panic_message(panic).or_else(|| own::fault(panic)).unwrap_or("it panicked without a message")
}

/// Returns what is raised for a panic during `what`: `RunError` for a detector of Python,
/// `RuntimeError` for a fault of this program.
pub(crate) fn raised(panic: &(dyn Any + Send), what: &str) -> PyErr {
    match own::fault(panic) {
        Some(fault) => RunError::new_err(format!("{what}: {fault}")),
        None => PyRuntimeError::new_err(format!("{what}: {}", said(panic))),
    }
}
