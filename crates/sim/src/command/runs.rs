//! The runs of a scenario's repetitions on several threads. The result does not depend on their number.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::Progress;
use super::means::{Mean, quantile};
use crate::record::Record;
use crate::scenario::Scenario;
use crate::summary::{FlowSummary, Number, Requests};
use eifel_command::panic_message;

/// How often progress is asked whether to go on, while no run ends.
const PAUSE: Duration = Duration::from_millis(100);

/// The means of a flow's numbers, by name, in their order.
pub(super) type Means = Vec<(&'static str, Mean)>;

/// The numbers of a flow in one repetition, by name.
pub type Numbers = BTreeMap<&'static str, f64>;

/// The numbers of all flows, by repetition.
pub type Ran = BTreeMap<u32, Vec<Numbers>>;

/// One repetition, and its result.
type Ended = (u32, Result<Vec<Numbers>, String>);

/// Runs repetitions of a scenario, but for those that `ran` already, and returns the means of each flow. A
/// number that a flow does not have in every repetition is left out.
///
/// # Errors
/// Returns why a run ended early, or what `progress` returned.
pub(super) fn run(
    scenario: Scenario,
    (repetitions, ran): (Range<u32>, &Ran),
    jobs: Option<u32>,
    progress: Progress<'_>,
) -> Result<Vec<Means>, String> {
    let names: Vec<&str> = names(scenario.asks()).collect();
    let quantile = quantile(repetitions.len() as u32);
    let (known, missing): (Vec<u32>, Vec<u32>) = repetitions.partition(|repetition| ran.contains_key(repetition));
    let mut all: Ran = known.into_iter().map(|repetition| (repetition, ran[&repetition].clone())).collect();
    gather(&begun(scenario, missing.clone(), jobs), (&mut all, missing.len()), progress)?;
    let flows = all.values().next().map_or(0, Vec::len);
    let of_flow = |flow: usize| {
        let of_number = |name: &'static str| {
            let values: Vec<f64> = all.values().filter_map(|of| of[flow].get(name).copied()).collect();
            // Without an answered request there are no times, and no count of requests.
            let is_there = values.len() == all.len()
                && !values.iter().any(|value| value.is_nan())
                && (name != Requests::NAMES[0] || values.iter().any(|count| *count > 0.0));
            Mean::of(&values, quantile).filter(|_| is_there).map(|mean| (name, mean))
        };
        names.iter().filter_map(|name| of_number(name)).collect()
    };
    Ok((0..flows).map(of_flow).collect())
}

/// Returns the names of a flow's numbers, in order. `asks` adds those of its requests.
fn names(asks: bool) -> impl Iterator<Item = &'static str> {
    let of_requests = asks.then_some(Requests::NAMES).into_iter().flatten();
    FlowSummary::default().numbers().into_iter().map(|(name, _)| name).chain(of_requests)
}

/// Returns the numbers of a flow that a caller has by name. Unknown names are left out. A flow whose requests
/// were not answered has no count of them.
pub fn numbers_of<'a>(flow: impl IntoIterator<Item = (&'a str, f64)>) -> Numbers {
    let mut numbers = Numbers::from([(Requests::NAMES[0], 0.0)]);
    numbers.extend(flow.into_iter().filter_map(|(name, value)| Some((names(true).find(|one| *one == name)?, value))));
    numbers
}

/// Returns the numbers of a flow's summary.
fn numbers(flow: &FlowSummary) -> Numbers {
    let of_requests = Requests::numbers(flow.requests.as_ref());
    let value = |number: Number| match number {
        Number::Count(count) => count as f64,
        Number::Measure(measure) => measure,
        Number::Flag(flag) => f64::from(u8::from(flag)),
    };
    flow.numbers().into_iter().chain(of_requests).map(|(name, number)| (name, value(number))).collect()
}

/// Begins to run, and returns where the results arrive.
fn begun(scenario: Scenario, repetitions: Vec<u32>, jobs: Option<u32>) -> Receiver<Ended> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = jobs.map_or(cores, |jobs| jobs as usize).min(repetitions.len());
    let (sender, receiver) = channel();
    let work = Arc::new((scenario, repetitions));
    let (next, failed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    for _ in 0..threads {
        let (work, next, failed, sender) = (Arc::clone(&work), Arc::clone(&next), Arc::clone(&failed), sender.clone());
        // Not joined: if the caller gives up, a run ends alone.
        thread::spawn(move || {
            let (scenario, repetitions) = &*work;
            loop {
                let next = repetitions.get(next.fetch_add(1, Ordering::Relaxed));
                let Some(&repetition) = next.filter(|_| !failed.load(Ordering::Relaxed)) else { return };
                let run = catch_unwind(AssertUnwindSafe(|| crate::run(scenario, repetition, Record::none())));
                let ended = match run {
                    Ok(Ok(outcome)) => Ok(outcome.summary.flows.iter().map(numbers).collect()),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(panic) => Err(panic_message(&*panic).unwrap_or("a run panicked").to_owned()),
                };
                failed.fetch_or(ended.is_err(), Ordering::Relaxed);
                // The receiver may be gone.
                if sender.send((repetition, ended)).is_err() {
                    return;
                }
            }
        });
    }
    receiver
}

/// Adds the results of the missing repetitions, `missing` in number, to `all`. Stops at the first error.
fn gather(receiver: &Receiver<Ended>, (all, missing): (&mut Ran, usize), progress: Progress<'_>) -> Result<(), String> {
    let total = all.len() + missing;
    while all.len() < total {
        match receiver.recv_timeout(PAUSE) {
            Ok((repetition, Ok(numbers))) => _ = all.insert(repetition, numbers),
            Ok((repetition, Err(what))) => return Err(format!("repetition {repetition}: {what}")),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err("a run ended without a result".to_owned()),
        }
        progress(all.len() as u64, total as u64)?;
    }
    Ok(())
}
