//! Many runs on all cores; the result does not depend on how many there are.

use crate::numbers::{Columns, Number};
use crate::outcome::{Numbered, flows};
use crate::{parse, waiting};
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};

/// `progress` is called at the most about every that many parts of the whole.
const STEPS: usize = 200;

/// The flows of one run, or why it failed.
type Flows = Result<Vec<Numbered>, String>;

/// Runs every repetition of every scenario; a row a flow, ordered by scenario, repetition and flow.
#[pyfunction]
#[pyo3(signature = (scenarios, repetitions, threads=None, progress=None))]
pub(crate) fn run_many<'py>(
    py: Python<'py>,
    scenarios: Vec<(String, String)>,
    repetitions: u32,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let parsed: Vec<Scenario> = scenarios.iter().map(|(text, origin)| parse(text, origin)).collect::<PyResult<_>>()?;
    let times = repetitions as usize;
    let total = parsed.len() * times;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|error| PyValueError::new_err(format!("{threads:?} threads: {error}")))?;

    let stop = Arc::new(AtomicBool::new(false));
    let (sender, mut receiver) = mpsc::channel();
    let work = Arc::new(parsed);
    pool.spawn({
        let (stop, work) = (Arc::clone(&stop), Arc::clone(&work));
        move || run_all(&work, repetitions, &stop, &sender)
    });

    let gathered = gather(&mut receiver, py, total, progress.as_ref());
    // After an interrupt or a failure, what has not begun is left; what has begun ends on its own.
    stop.store(true, Ordering::Relaxed);

    let mut columns = Columns::default();
    for (index, run) in gathered?.into_iter().enumerate() {
        let run = run.map_err(|what| {
            let origin = &scenarios[index / times].1;
            PyRuntimeError::new_err(format!("{origin}: repetition {}: {what}", index % times))
        })?;
        for (flow, numbered) in run.into_iter().enumerate() {
            let place = [("scenario", index / times), ("repetition", index % times), ("flow", flow)];
            let place = place.into_iter().map(|(name, value)| (name, Number::Integer(value as i64)));
            columns.push(place.chain(numbered.numbers));
        }
    }
    columns.into_dict(py)
}

/// What all runs gave, in their order; up to the first failure if there is one.
fn gather(
    receiver: &mut Receiver<(usize, Flows)>,
    py: Python<'_>,
    total: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Flows>> {
    let mut runs: Vec<Flows> = Vec::new();
    runs.resize_with(total, || Ok(Vec::new()));
    for done in 1..=total {
        let (index, run) = waiting::next(py, receiver)?;
        let failed = run.is_err();
        runs[index] = run;
        if failed {
            break;
        }
        if done == total || done % total.div_ceil(STEPS) == 0 {
            py.check_signals()?;
            if let Some(progress) = progress {
                progress.call1((done, total))?;
            }
        }
    }
    Ok(runs)
}

fn run_all(scenarios: &[Scenario], repetitions: u32, stop: &AtomicBool, sender: &Sender<(usize, Flows)>) {
    let times = repetitions as usize;
    (0..scenarios.len() * times).into_par_iter().for_each_with(sender.clone(), |sender, index| {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let scenario = &scenarios[index / times];
        let repetition = (index % times) as u32;
        let run = catch_unwind(AssertUnwindSafe(|| eifel_sim::run(scenario, repetition, Record::none())));
        let numbers = match run {
            Ok(Ok(outcome)) => Ok(flows(scenario, &outcome)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(panic) => Err(waiting::said(&*panic).to_owned()),
        };
        // Nobody may be there to receive it any more.
        drop(sender.send((index, numbers)));
    });
}
