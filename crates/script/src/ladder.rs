//! Outcomes as text: expected and seen events side by side.

use core::fmt::{self, Write};

use crate::outcome::{Outcome, Row};
use eifel_base::time::Instant;

/// Widest left column.
const WIDEST: usize = 76;

impl fmt::Display for Outcome {
    /// Writes one line for a script that passed. Otherwise writes the ladder, and marks the failing
    /// line with `>>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(failure) = &self.failure else {
            return write!(f, "passed {} ({} s of virtual time)", self.origin, self.lasted.as_secs_f64());
        };
        writeln!(f, "FAILED {}:{}: {}", self.origin, failure.line, failure.what)?;
        let left: Vec<String> = self.rows.iter().map(expected).collect();
        let width = left.iter().map(|text| text.chars().count()).max().unwrap_or(0).min(WIDEST).max("expected".len());
        writeln!(f, "    line      time s  {:width$}      time s  seen", "expected")?;
        for (row, left) in self.rows.iter().zip(&left) {
            let mark = if row.failed { ">>" } else { "  " };
            let line = row.line.map_or(String::new(), |line| line.to_string());
            write!(f, "{mark} {line:>5}  {:>10}  {left:width$}", due(row))?;
            for (index, seen) in row.seen.iter().enumerate() {
                let indent = if index == 0 { String::new() } else { format!("\n{:1$}", "", 22 + width) };
                write!(f, "{indent}  {:>10}  {}", seconds(seen.at), seen.text)?;
            }
            f.write_char('\n')?;
        }
        self.notes.iter().try_for_each(|(line, note)| writeln!(f, "note: line {line}: {note}"))
    }
}

/// Returns the script's text with control characters replaced, because a terminal would obey them.
fn expected(row: &Row) -> String {
    row.expected.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn due(row: &Row) -> String {
    match row.due {
        None => String::new(),
        Some((_, Instant::NEVER)) => "*".into(),
        Some((from, to)) if from == to => seconds(from),
        Some((from, to)) => format!("{}~{}", seconds(from), seconds(to)),
    }
}

/// Returns seconds with as many decimals as needed, at least three.
fn seconds(at: Instant) -> String {
    let nanos = at.as_nanos();
    let mut text = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    let least = text.len() - 6;
    while text.len() > least && text.ends_with('0') {
        text.pop();
    }
    text
}
