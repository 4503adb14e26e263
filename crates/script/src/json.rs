//! Outcomes as JSON.

use crate::outcome::{Outcome, Row, Seen, Side};
use eifel_base::time::Instant;
use serde_json::{Value, json};

impl Outcome {
    /// Returns the outcome as JSON: `script`, `passed`, `lasted_s`, `failure` (`line`, `what`),
    /// `notes` (`line`, `what`) and `rows`. Each row has `line`, `side`, `due_s`, `expected`, `seen` (`at_s`, `text`) and
    /// `failed`.
    pub fn json(&self) -> Value {
        json!({
            "script": self.origin,
            "passed": self.passed(),
            "lasted_s": self.lasted.as_secs_f64(),
            "failure": self.failure.as_ref().map(|failure| json!({"line": failure.line, "what": failure.what})),
            "notes": self.notes.iter().map(|(line, what)| json!({"line": line, "what": what})).collect::<Vec<_>>(),
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }
}

fn row(row: &Row) -> Value {
    json!({
        "line": row.line,
        "side": match row.side {
            Side::Arrives => "arrives",
            Side::Leaves => "leaves",
            Side::Application => "application",
        },
        "due_s": row.due.map(|(from, to)| [seconds(from), seconds(to)]),
        "expected": row.expected,
        "seen": row.seen.iter().map(seen).collect::<Vec<_>>(),
        "failed": row.failed,
    })
}

fn seen(seen: &Seen) -> Value {
    json!({"at_s": seconds(seen.at), "text": seen.text})
}

/// Returns seconds; null for an event that never comes.
fn seconds(at: Instant) -> Value {
    if at == Instant::NEVER { Value::Null } else { json!(at.as_secs_f64()) }
}
