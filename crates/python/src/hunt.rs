//! Searches for counterexamples to a claim, as JSON.

use crate::{ScenarioError, parse, waiting};
use eifel_hunt::claim::{self, Claim, Counterexample};
use eifel_hunt::climb::Effort;
use eifel_hunt::liars::{Liars, best_liar, to_toml};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;

/// A message from the thread that searches.
enum Told {
    Done(u32),
    Found(String),
    Refused(String),
    Panicked(Box<dyn Any + Send>),
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
    let effort = Effort { runs, glance: 2, judging: 40, survivors: 8, seed, threads: None };
    in_a_thread(py, origin, progress, move |tell| {
        let liars = Liars::new(&scenario, effort.glance + effort.judging)?;
        let best = best_liar(&liars, &effort, tell);
        Ok(json!({ "gain": best.judged.value, "runs": effort.judging, "liar": to_toml(&best.candidate) }))
    })
}

/// Searches scenarios for one that refutes a claim, given as TOML. Uses `threads` threads, or all
/// cores if it is 0.
#[pyfunction]
#[pyo3(signature = (claim, scenarios, most, seed, threads, progress))]
#[expect(clippy::too_many_arguments, reason = "a function of Python, where arguments have names")]
pub(crate) fn hunt_claim(
    py: Python<'_>,
    claim: &str,
    scenarios: u32,
    most: f64,
    seed: u64,
    threads: usize,
    progress: Py<PyAny>,
) -> PyResult<String> {
    let effort = claim::effort(seed, (threads > 0).then_some(threads));
    let claim = Claim::parse(claim, seed).map_err(|problem| ScenarioError::new_err(format!("claim: {problem}")))?;
    in_a_thread(py, "hunt", progress, move |tell| {
        let found = claim.hunt(scenarios, most, &effort, tell);
        let told = |one: &Counterexample| json!({ "value": one.value, "error": one.error, "scenario": one.scenario });
        let against: Vec<Value> = found.against.iter().map(told).collect();
        let worst = found.worst.as_ref().map(told);
        Ok(json!({ "drawn": found.drawn, "against": against, "mean": found.mean, "worst": worst }))
    })
}

/// Runs a search in a separate thread, so that this one can check for Ctrl-C. After Ctrl-C, no
/// thread waits for it.
fn in_a_thread(
    py: Python<'_>,
    origin: &str,
    progress: Py<PyAny>,
    search: impl FnOnce(&mut dyn FnMut(u32)) -> Result<Value, String> + Send + 'static,
) -> PyResult<String> {
    let (sender, mut receiver) = mpsc::channel();
    thread::spawn(move || {
        let told = sender.clone();
        let found = catch_unwind(AssertUnwindSafe(move || search(&mut |done| drop(told.send(Told::Done(done))))));
        drop(sender.send(match found {
            Ok(Ok(found)) => Told::Found(found.to_string()),
            Ok(Err(problem)) => Told::Refused(problem),
            Err(panic) => Told::Panicked(panic),
        }));
    });
    loop {
        match waiting::next(py, &mut receiver)? {
            Told::Done(runs) => drop(progress.call1(py, (runs,))?),
            Told::Found(found) => return Ok(found),
            Told::Refused(problem) => return Err(ScenarioError::new_err(format!("{origin}: {problem}"))),
            Told::Panicked(panic) => return Err(waiting::raised(&*panic, origin)),
        }
    }
}
