//! The runs of a scenario's repetitions on several threads. The result does not depend on their number.

use std::any::Any;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use super::Progress;
use super::means::{Mean, quantile};
use crate::record::Record;
use crate::scenario::Scenario;
use crate::summary::{FlowSummary, Number, Requests, Summary};

/// How often progress is asked whether to go on, while no run ends.
const PAUSE: Duration = Duration::from_millis(100);

/// The means of a flow's numbers, by name, in their order.
pub(super) type Means = Vec<(&'static str, Mean)>;

/// One repetition, and its result.
type Ended = (u32, Result<Summary, String>);

/// Runs repetitions of a scenario, and returns the means of each flow. A number that a flow does not have in
/// every repetition is left out.
///
/// # Errors
/// Returns why a run ended early, or what `progress` returned.
pub(super) fn run(
    scenario: Scenario,
    repetitions: Range<u32>,
    jobs: Option<u32>,
    progress: Progress<'_>,
) -> Result<Vec<Means>, String> {
    let asks = scenario.asks();
    let mut summaries = gather(&begun(scenario, repetitions.clone(), jobs), repetitions.clone(), progress)?;
    summaries.sort_by_key(|(repetition, _)| *repetition);
    let quantile = quantile(repetitions.len() as u32);
    let flows = summaries.first().map_or(0, |(_, summary)| summary.flows.len());
    let of_flow = |flow: usize| {
        let numbers: Vec<Vec<(&'static str, f64)>> =
            summaries.iter().map(|(_, summary)| numbers(&summary.flows[flow], asks)).collect();
        let of_number = |place: usize| {
            let values: Vec<f64> = numbers.iter().map(|of| of[place].1).collect();
            let name = numbers[0][place].0;
            // Without an answered request there are no times, and no count of requests.
            let is_there = !values.iter().any(|value| value.is_nan())
                && (name != Requests::NAMES[0] || values.iter().any(|count| *count > 0.0));
            Mean::of(&values, quantile).filter(|_| is_there).map(|mean| (name, mean))
        };
        (0..numbers[0].len()).filter_map(of_number).collect()
    };
    Ok((0..flows).map(of_flow).collect())
}

/// Returns the numbers of a flow's summary. All repetitions have the same ones.
fn numbers(flow: &FlowSummary, asks: bool) -> Vec<(&'static str, f64)> {
    let of_requests = asks.then(|| Requests::numbers(flow.requests.as_ref())).into_iter().flatten();
    let value = |number: Number| match number {
        Number::Count(count) => count as f64,
        Number::Measure(measure) => measure,
        Number::Flag(flag) => f64::from(u8::from(flag)),
    };
    flow.numbers().into_iter().chain(of_requests).map(|(name, number)| (name, value(number))).collect()
}

/// Begins to run, and returns where the results arrive.
fn begun(scenario: Scenario, repetitions: Range<u32>, jobs: Option<u32>) -> Receiver<Ended> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = jobs.map_or(cores, |jobs| jobs as usize).min(repetitions.len().max(1));
    let (sender, receiver) = channel();
    let (scenario, end) = (Arc::new(scenario), repetitions.end);
    let (next, failed) = (Arc::new(AtomicU32::new(repetitions.start)), Arc::new(AtomicBool::new(false)));
    for _ in 0..threads {
        let (scenario, next, failed, sender) =
            (Arc::clone(&scenario), Arc::clone(&next), Arc::clone(&failed), sender.clone());
        // Not joined: if the caller gives up, a run ends alone.
        thread::spawn(move || {
            loop {
                let repetition = next.fetch_add(1, Ordering::Relaxed);
                if repetition >= end || failed.load(Ordering::Relaxed) {
                    return;
                }
                let run = catch_unwind(AssertUnwindSafe(|| crate::run(&scenario, repetition, Record::none())));
                let ended = match run {
                    Ok(Ok(outcome)) => Ok(outcome.summary),
                    Ok(Err(error)) => Err(error.to_string()),
                    Err(panic) => Err(said(&*panic).to_owned()),
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

/// Collects the results, until one is an error.
fn gather(
    receiver: &Receiver<Ended>,
    repetitions: Range<u32>,
    progress: Progress<'_>,
) -> Result<Vec<(u32, Summary)>, String> {
    let mut summaries = Vec::new();
    let all = repetitions.len();
    while summaries.len() < all {
        match receiver.recv_timeout(PAUSE) {
            Ok((repetition, Ok(summary))) => summaries.push((repetition, summary)),
            Ok((repetition, Err(what))) => return Err(format!("repetition {repetition}: {what}")),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err("a run ended without a result".to_owned()),
        }
        progress(summaries.len() as u64, all as u64)?;
    }
    Ok(summaries)
}

/// Returns the message of a panic, as of an algorithm that the caller provided.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a run panicked")
}
