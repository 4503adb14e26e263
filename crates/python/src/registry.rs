//! The registry as JSON.

use eifel_base::time::Duration;
use eifel_recovery::registry::{Entry, Kind, Parameter, association_entries, entries};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Returns every algorithm of every seam with its parameters, as JSON. Algorithms of connections
/// come first, then those that only an association can use.
#[pyfunction]
pub(crate) fn registry() -> String {
    let connection = entries().map(|entry| listed(entry, false));
    let association = association_entries().map(|entry| listed(entry, true));
    Value::from(connection.chain(association).collect::<Vec<_>>()).to_string()
}

fn listed(entry: &Entry, association: bool) -> Value {
    json!({
        "seam": entry.seam.name(),
        "name": entry.name,
        "summary": entry.summary,
        "source": entry.source,
        "association": association,
        "needs": entry.needs.map(|need| need.name()),
        "parameters": entry.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}

fn parameter(parameter: &Parameter) -> Value {
    let (kind, default, minimum, maximum, allowed) = match parameter.kind {
        Kind::Integer { default, minimum, maximum } => {
            ("integer", json!(default), json!(minimum), json!(maximum), Value::Null)
        }
        Kind::Milliseconds { default, minimum, maximum } => {
            ("milliseconds", milliseconds(default), milliseconds(minimum), milliseconds(maximum), Value::Null)
        }
        Kind::Switch { default } => ("switch", json!(default), Value::Null, Value::Null, Value::Null),
        Kind::Word { default, allowed } => ("word", json!(default), Value::Null, Value::Null, json!(allowed)),
    };
    json!({
        "name": parameter.name,
        "summary": parameter.summary,
        "kind": kind,
        "default": default,
        "minimum": minimum,
        "maximum": maximum,
        "allowed": allowed,
    })
}

/// Returns milliseconds: an integer if they are whole, and a float otherwise.
fn milliseconds(duration: Duration) -> Value {
    let nanos = duration.as_nanos();
    if nanos.is_multiple_of(1_000_000) { json!(nanos / 1_000_000) } else { json!(nanos as f64 / 1e6) }
}
