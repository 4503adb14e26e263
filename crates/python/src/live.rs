//! The engine on a real network.

use crate::single::Run;
use crate::{parse, waiting};
use eifel_live::command::{self, Recorded};
use eifel_live::mirror::{self, Mirrored};
use eifel_live::system::Error;
use eifel_live::system::namespace::Namespace;
use eifel_live::system::random;
use eifel_sim::record::Record;
use pyo3::exceptions::{PyOSError, PyPermissionError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;

/// A recording: its folder, the text of its scenario, the origin of that text, and the run.
type Recording = (String, String, String, Run);

/// Runs a command of `eifel live`. Returns the exit code and the recordings. `called_as` is the
/// command line of this program up to `arguments`.
#[pyfunction]
pub(crate) fn live(py: Python<'_>, called_as: Vec<OsString>, arguments: Vec<OsString>) -> (u8, Vec<Recording>) {
    let mut recorded = Vec::new();
    let code = py.detach(|| command::main(&called_as, &arguments, Some(&mut recorded)));
    let handed = |one: Recorded| {
        let run = Run::new(format!("[{}]", one.summary.json("sender", "receiver")), one.tables);
        (one.folder, one.scenario, one.origin, run)
    };
    (code, recorded.into_iter().map(handed).collect())
}

/// Runs the first flow of a scenario live, between two hosts in separate namespaces, and keeps the
/// named tables. Returns the run and the lateness of the emulated path in microseconds: the median,
/// the 99th percentile and the maximum.
#[pyfunction]
pub(crate) fn live_run(
    py: Python<'_>,
    text: &str,
    origin: &str,
    tables: Vec<String>,
) -> PyResult<(Run, (f64, f64, f64))> {
    let scenario = parse(text, origin)?;
    let kept = Record::named(tables.iter().map(String::as_str));
    let kept = kept.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (sender, mut receiver) = mpsc::channel();
    thread::spawn(move || {
        let run = || {
            let places = [Namespace::new()?, Namespace::new()?];
            mirror::run(&scenario, kept, places, random()?)
        };
        let outcome = catch_unwind(AssertUnwindSafe(run));
        drop(sender.send((scenario, outcome)));
    });
    let (scenario, outcome) = waiting::next(py, &mut receiver)?;
    let Mirrored { tables, summary, report, .. } = match outcome {
        Ok(done) => done.map_err(raised)?,
        Err(panic) => return Err(PyRuntimeError::new_err(format!("{origin}: {}", waiting::said(&*panic)))),
    };
    let name = |node: usize| scenario.nodes[node].name.clone();
    let flow = &scenario.flows[0];
    let run = Run::new(format!("[{}]", summary.json(&name(flow.from), &name(flow.to))), tables);
    let us = |share: f64| report.lateness.quantile(share).as_nanos() as f64 / 1e3;
    Ok((run, (us(0.5), us(0.99), report.lateness.longest().as_nanos() as f64 / 1e3)))
}

fn raised(error: Error) -> PyErr {
    if error.is_denied() {
        PyPermissionError::new_err(error.to_string())
    } else {
        PyOSError::new_err(error.to_string())
    }
}
