//! The search for counterexamples to a claim, as JSON.

use crate::{ScenarioError, parse, waiting};
use eifel_hunt::climb::{self, Effort};
use eifel_hunt::liars::{Liars, to_toml};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;

/// A message of the search's thread.
enum Told {
    Done(u32),
    Found(String),
    Refused(String),
    Panicked(String),
}

/// Searches for the receiver that gains most by lying to the sender of the scenario's first flow.
#[pyfunction]
#[pyo3(signature = (text, origin, runs, seed, progress))]
pub(crate) fn hunt_liars(
    py: Python<'_>,
    text: &str,
    origin: &str,
    runs: u32,
    seed: u64,
    progress: Py<PyAny>,
) -> PyResult<String> {
    let scenario = parse(text, origin)?;
    let effort = Effort { runs, glance: 2, judging: 40, survivors: 8, seed };
    let (sender, mut receiver) = mpsc::channel();
    // A thread of its own, so that this one can check for Ctrl-C. After that, no thread waits for
    // it.
    thread::spawn(move || {
        let told = sender.clone();
        // Nothing of what the search changes outlives it.
        let found = catch_unwind(AssertUnwindSafe(move || {
            let liars = Liars::new(&scenario, effort.glance + effort.judging)?;
            let found = climb::search(&liars, &effort, |done| drop(told.send(Told::Done(done))));
            let best = &found[0];
            Ok::<String, String>(
                json!({ "gain": best.judged, "runs": effort.judging, "liar": to_toml(&best.candidate) }).to_string(),
            )
        }));
        drop(sender.send(match found {
            Ok(Ok(found)) => Told::Found(found),
            Ok(Err(problem)) => Told::Refused(problem),
            Err(panic) => Told::Panicked(waiting::said(&*panic).to_owned()),
        }));
    });
    loop {
        match waiting::next(py, &mut receiver)? {
            Told::Done(runs) => drop(progress.call1(py, (runs,))?),
            Told::Found(found) => return Ok(found),
            Told::Refused(problem) => return Err(ScenarioError::new_err(format!("{origin}: {problem}"))),
            Told::Panicked(problem) => return Err(PyRuntimeError::new_err(format!("{origin}: {problem}"))),
        }
    }
}
