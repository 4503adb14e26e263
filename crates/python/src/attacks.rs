//! Attacks on the connection, as JSON.

use crate::waiting;
use eifel_attacks::{Attack, Effort, Finding, Limit};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::panic::catch_unwind;
use std::sync::mpsc;
use std::thread;

/// Returns every attack with its source and its defence, as JSON.
#[pyfunction]
pub(crate) fn attacks() -> String {
    let listed: Vec<Value> = eifel_attacks::all().iter().map(described).collect();
    Value::from(listed).to_string()
}

/// Runs one attack in full. Returns its findings as JSON.
#[pyfunction]
pub(crate) fn attack(py: Python<'_>, name: &str) -> PyResult<String> {
    let unknown = || PyValueError::new_err(format!("there is no attack {name}"));
    let attack = eifel_attacks::all().iter().find(|attack| attack.name == name).ok_or_else(unknown)?;
    let (sender, mut receiver) = mpsc::channel();
    // A separate thread, so that this one can check for Ctrl-C. After Ctrl-C, no thread waits for
    // it.
    thread::spawn(move || drop(sender.send(catch_unwind(|| attack.run(Effort::Whole)))));
    match waiting::next(py, &mut receiver)? {
        Ok(findings) => Ok(Value::from(findings.iter().map(found).collect::<Vec<_>>()).to_string()),
        Err(panic) => Err(PyRuntimeError::new_err(format!("{name}: {}", waiting::said(&*panic)))),
    }
}

fn described(attack: &Attack) -> Value {
    json!({
        "name": attack.name,
        "summary": attack.summary,
        "source": attack.source,
        "defence": attack.defence,
    })
}

fn found(finding: &Finding) -> Value {
    let (limit, bound) = match finding.limit {
        Limit::AtMost(most) => ("at most", number(most)),
        Limit::AtLeast(least) => ("at least", number(least)),
        Limit::Exactly(expected) => ("exactly", number(expected)),
        Limit::None => ("reported", Value::Null),
    };
    json!({
        "what": finding.what,
        "unit": finding.unit,
        "measured": number(finding.measured),
        "limit": limit,
        "bound": bound,
        "timed": finding.timed,
        "holds": finding.holds(),
    })
}

/// Returns an integer if the value is whole, and a float otherwise.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { Value::from(value as i64) } else { Value::from(value) }
}
