//! Tries every fate of a few segments, as JSON.

use crate::{ScenarioError, parse, waiting};
use eifel_recovery::registry::{Choice, part};
use eifel_sim::scenario::{Scenario, Traffic};
use eifel_worlds::{
    Arrow, Episodes, Failure, HeldUntil, Ladder, Note, Question, Size, Tally, Verdicts, draw, search_each,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

/// A message from the worker threads.
enum Told {
    Counted(u64),
    Over(Result<Vec<Tally>, String>),
    Panicked(Box<dyn Any + Send>),
}

/// Counts outcomes over every fate of a few segments of the scenario's first TCP flow, and of their
/// ACKs. Counts for each of these responses, or for the sender's own if there are none. Returns a
/// JSON list.
#[pyfunction]
#[pyo3(signature = (
    text, origin, *, responses, segments, before, after, held_until, late_ms, threads=None, progress=None
))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub(crate) fn small_worlds(
    py: Python<'_>,
    text: &str,
    origin: &str,
    responses: Vec<String>,
    segments: u32,
    before: u32,
    after: u32,
    held_until: &str,
    late_ms: u32,
    threads: Option<usize>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let held_until = match held_until {
        "timeout" => HeldUntil::Timeout,
        "loss-signal" => HeldUntil::LossSignal,
        other => {
            let what = format!("held_until: {other:?}; allowed: \"timeout\", \"loss-signal\"");
            return Err(PyValueError::new_err(what));
        }
    };
    let size = Size { segments, before, after, held_until, late_ms };
    let question = Arc::new(question(&parse(text, origin)?, size, origin)?);
    let responses: Arc<[Choice]> = match responses.is_empty() {
        true => [question.sender.respond.clone()].into(),
        false => responses.iter().map(|name| Choice::named(name)).collect(),
    };
    for response in responses.iter() {
        part::response(response).map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    size.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|error| PyValueError::new_err(format!("{threads:?} threads: {error}")))?;
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, mut receiver) = mpsc::channel();
    pool.spawn({
        let (stop, question, responses) = (Arc::clone(&stop), Arc::clone(&question), Arc::clone(&responses));
        move || {
            let tell = |counted| {
                // The receiver may be gone.
                let gone = sender.send(Told::Counted(counted)).is_err();
                if gone || stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let over = match catch_unwind(AssertUnwindSafe(|| search_each(&question, &responses, tell))) {
                Ok(Ok(Some(tallies))) => Told::Over(Ok(tallies)),
                Ok(Ok(None)) => Told::Over(Err("broken off".into())),
                Ok(Err(error)) => Told::Over(Err(error.to_string())),
                Err(panic) => Told::Panicked(panic),
            };
            drop(sender.send(over));
        }
    });
    let answer = gather(py, &mut receiver, size.worlds() * responses.len() as u64, progress.as_ref());
    stop.store(true, Ordering::Relaxed);
    let tallies = answer?;
    let each = responses.iter().zip(&tallies).map(|(response, tally)| {
        let mut question = Question::clone(&question);
        question.sender.respond = response.clone();
        told(&question, tally)
    });
    Ok(Value::Array(each.collect()).to_string())
}

fn gather(
    py: Python<'_>,
    receiver: &mut mpsc::Receiver<Told>,
    worlds: u64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Tally>> {
    loop {
        match waiting::next(py, receiver)? {
            Told::Over(found) => return found.map_err(PyRuntimeError::new_err),
            Told::Panicked(panic) => return Err(waiting::raised(&*panic, "worlds")),
            Told::Counted(counted) => {
                py.check_signals()?;
                if let Some(progress) = progress {
                    progress.call1((counted, worlds))?;
                }
            }
        }
    }
}

fn question(scenario: &Scenario, size: Size, origin: &str) -> PyResult<Question> {
    let connection = scenario.flows.iter().find_map(|flow| match &flow.traffic {
        Traffic::Stream { connection, .. } => Some(connection),
        Traffic::Messages { .. } | Traffic::Datagrams(_) => None,
    });
    let connection = connection.ok_or_else(|| ScenarioError::new_err(format!("{origin}: no flow goes over TCP")))?;
    let same = connection.settings == connection.answering_settings && connection.sender == connection.answering_sender;
    if !same {
        let what = "flow.answering_tcp and flow.answering_sender mean nothing in small worlds, whose ends are alike";
        return Err(ScenarioError::new_err(format!("{origin}: {what}; allowed: neither of them")));
    }
    Ok(Question { settings: connection.settings, sender: connection.sender.clone(), size })
}

fn told(question: &Question, tally: &Tally) -> Value {
    let failures: Vec<Value> = Failure::ALL.iter().map(|failure| failed(question, tally, *failure)).collect();
    json!({
        "worlds": tally.worlds,
        "run": tally.run,
        "with_loss": tally.with_loss,
        "with_episode": tally.with_episode,
        "undone": tally.undone,
        "after_timeout": episodes(&tally.after_timeout),
        "after_duplicates": episodes(&tally.after_duplicates),
        "failures": failures,
    })
}

fn episodes(episodes: &Episodes) -> Value {
    json!({"needless": verdicts(&episodes.needless), "needed": verdicts(&episodes.needed)})
}

fn verdicts(verdicts: &Verdicts) -> Value {
    json!({"spurious": verdicts.spurious, "genuine": verdicts.genuine, "undecided": verdicts.undecided})
}

fn failed(question: &Question, tally: &Tally, failure: Failure) -> Value {
    let failed = tally.failed(failure);
    let smallest = failed.smallest.as_ref().and_then(|fates| {
        let ladder = draw(question, fates).ok()?;
        Some(json!({"fates": fates.to_string(), "ladder": ladder.to_string(), "drawn": drawn(&ladder)}))
    });
    json!({"name": failure.name(), "worlds": failed.worlds, "smallest": smallest})
}

fn drawn(ladder: &Ladder) -> Value {
    let arrow = |arrow: &Arrow| {
        json!({
            "left_ms": arrow.left_ms,
            "arrived_ms": arrow.arrived_ms,
            "from_sender": arrow.from_sender,
            "label": arrow.label,
            "fate": arrow.fate.name(),
        })
    };
    let note = |note: &Note| json!({"at_ms": note.at_ms, "text": note.text});
    json!({
        "arrows": ladder.arrows.iter().map(arrow).collect::<Vec<_>>(),
        "notes": ladder.notes.iter().map(note).collect::<Vec<_>>(),
    })
}
