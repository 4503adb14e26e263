//! Runs many simulations on all cores. The result does not depend on the number of cores.

use crate::numbers::{Columns, Number};
use crate::outcome::{Numbered, flows};
use crate::{parse, waiting};
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};

/// The number of calls of `progress`, at most (and one at the end).
const STEPS: usize = 200;

/// The flows of one run, or its error. `None` if the run was not done.
type Flows = Option<Result<Vec<Numbered>, String>>;

/// A failed run: scenario, repetition, error.
type Failed = (usize, u32, String);

/// The reaction to a failed run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OnFailure {
    /// No further run begins.
    Stop,
    /// The other runs continue.
    GoOn,
}

/// Runs repetitions of scenarios. A range is the number of a scenario, the first repetition, and
/// the number of repetitions. Returns the columns, with one row per flow in the order of the
/// ranges, and the failed runs.
#[pyfunction]
#[pyo3(signature = (scenarios, ranges, threads=None, progress=None, keep_going=false))]
pub(crate) fn run_many<'py>(
    py: Python<'py>,
    scenarios: Vec<(String, String)>,
    ranges: Vec<(usize, u32, u32)>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
    keep_going: bool,
) -> PyResult<(Bound<'py, PyDict>, Vec<Failed>)> {
    let parsed: Vec<Scenario> = scenarios.iter().map(|(text, origin)| parse(text, origin)).collect::<PyResult<_>>()?;
    if let Some((scenario, ..)) = ranges.iter().find(|range| range.0 >= parsed.len()) {
        return Err(PyValueError::new_err(format!(
            "range of scenario {scenario}: there are {} scenarios",
            parsed.len()
        )));
    }
    let runs: Vec<(usize, u32)> = ranges
        .into_iter()
        .flat_map(|(scenario, first, count)| (first..first.saturating_add(count)).map(move |one| (scenario, one)))
        .collect();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|error| PyValueError::new_err(format!("{threads:?} threads: {error}")))?;

    let stop = Arc::new(AtomicBool::new(false));
    let (sender, mut receiver) = mpsc::channel();
    let work = Arc::new((parsed, runs));
    pool.spawn({
        let (stop, work) = (Arc::clone(&stop), Arc::clone(&work));
        move || run_all(&work, &stop, &sender)
    });

    let on_failure = if keep_going { OnFailure::GoOn } else { OnFailure::Stop };
    let gathered = gather(&mut receiver, py, work.1.len(), progress.as_ref(), on_failure);
    // After an interrupt or a failure, no further run begins; running ones finish on their own.
    stop.store(true, Ordering::Relaxed);

    let mut columns = Columns::default();
    let mut failed = Vec::new();
    for (&(scenario, repetition), run) in work.1.iter().zip(gathered?) {
        match run {
            None => {}
            Some(Err(what)) => failed.push((scenario, repetition, what)),
            Some(Ok(flows)) => {
                for (flow, numbered) in flows.into_iter().enumerate() {
                    let place = [("scenario", scenario), ("repetition", repetition as usize), ("flow", flow)];
                    let place = place.into_iter().map(|(name, value)| (name, Number::Integer(value as i64)));
                    columns.push(place.chain(numbered));
                }
            }
        }
    }
    Ok((columns.into_dict(py)?, failed))
}

/// Collects the results of the runs, in order.
fn gather(
    receiver: &mut Receiver<(usize, Flows)>,
    py: Python<'_>,
    total: usize,
    progress: Option<&Bound<'_, PyAny>>,
    on_failure: OnFailure,
) -> PyResult<Vec<Flows>> {
    let mut runs: Vec<Flows> = Vec::new();
    runs.resize_with(total, || None);
    for done in 1..=total {
        let (index, run) = waiting::next(py, receiver)?;
        let failed = matches!(run, Some(Err(_)));
        runs[index] = run;
        if failed && on_failure == OnFailure::Stop {
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

fn run_all(work: &(Vec<Scenario>, Vec<(usize, u32)>), stop: &AtomicBool, sender: &Sender<(usize, Flows)>) {
    let (scenarios, runs) = work;
    // All rows have the same columns.
    let requests = scenarios.iter().any(Scenario::asks);
    (0..runs.len()).into_par_iter().for_each_with(sender.clone(), |sender, index| {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (scenario, repetition) = runs[index];
        let scenario = &scenarios[scenario];
        let run = catch_unwind(AssertUnwindSafe(|| eifel_sim::run(scenario, repetition, Record::none())));
        let numbers = match run {
            Ok(Ok(outcome)) => Ok(flows(&outcome, requests)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(panic) => Err(waiting::said(&*panic).to_owned()),
        };
        // The receiver may be gone.
        drop(sender.send((index, Some(numbers))));
    });
}
