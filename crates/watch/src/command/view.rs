//! A table of connections for a terminal, worst first, redrawn each second.

use super::found::{Connection, Found, Summary};
use super::metrics::word;

/// Lines above the connections.
const ABOVE: usize = 3;
/// Clears from the cursor to the end of the screen.
const CLEAR: &str = "\x1b[J";
/// Moves to the first line.
const HOME: &str = "\x1b[H";

/// Returns the lines that a terminal of `(columns, rows)` shows at `now_s`, in seconds since 1970. They begin
/// with a move to its first line.
pub(super) fn screen(found: &Found, now_s: f64, (columns, rows): (usize, usize)) -> String {
    let summary = found.summary(rows.saturating_sub(ABOVE + 1));
    let mut lines = vec![totals(&summary), dropped(&summary)];
    lines.extend(table(&summary.worst, Some(now_s)));
    let cut = |line: &String| line.chars().take(columns).collect::<String>();
    let text: Vec<String> = lines.iter().take(rows).map(|line| format!("{}\x1b[K", cut(line))).collect();
    format!("{HOME}{}\r\n{CLEAR}", text.join("\r\n"))
}

/// Returns the first sentence of a summary.
pub(super) fn totals(summary: &Summary<'_>) -> String {
    let verdicts = summary.verdicts;
    format!(
        "{} retransmissions on {} connections: {} spurious, {} needed, {} undecidable",
        summary.retransmissions, summary.connections, verdicts.spurious, verdicts.needed, verdicts.undecidable
    )
}

/// Returns what the kernel did not tell; empty if it told everything.
pub(super) fn dropped(summary: &Summary<'_>) -> String {
    match summary.facts_dropped {
        0 => String::new(),
        facts => format!(
            "{facts} facts are missing, {} retransmissions among them: the kernel had no room for them, or told of none",
            summary.retransmissions_dropped
        ),
    }
}

/// Returns the lines of a table of connections. With `now_s` it says how long ago the latest retransmission was.
pub(super) fn table(connections: &[&Connection], now_s: Option<f64>) -> Vec<String> {
    let mut rows = vec![
        [
            "local",
            "remote",
            "retransmissions",
            "spurious",
            "needed",
            "undecidable",
            "bytes",
            "bytes spurious",
            "causes",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for one in connections {
        let numbers = [one.retransmissions, one.verdicts.spurious, one.verdicts.needed, one.verdicts.undecidable];
        let mut row = vec![one.local.to_string(), one.remote.to_string()];
        row.extend(numbers.iter().chain([&one.bytes, &one.bytes_spurious]).map(u64::to_string));
        row.push(
            one.causes.iter().map(|(cause, count)| format!("{} {count}", word(cause))).collect::<Vec<_>>().join(", "),
        );
        rows.push(row);
    }
    if let Some(now_s) = now_s {
        rows[0].push("last".to_owned());
        for (row, one) in rows[1..].iter_mut().zip(connections) {
            row.push(format!("{:.0} s ago", (now_s - one.latest_s).max(0.0)));
        }
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let is_text = |column: usize| [0, 1, 8].contains(&column);
    let cell = |(column, text): (usize, &String)| match is_text(column) {
        true => format!("{text:<width$}", width = widths[column]),
        false => format!("{text:>width$}", width = widths[column]),
    };
    let line =
        |row: &Vec<String>| row.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned();
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::found::tests::row;
    use super::*;
    use crate::observation::Judged;
    use crate::watch::Counts;

    fn found() -> Found {
        let mut found = Found::default();
        let other = Judged { connection: 1, local: "[fd77::1]:443".parse().unwrap(), ..row() };
        found.add(&[row(), other.clone(), other]);
        found.counts = Counts { connections: 2, facts_dropped: 9, retransmissions_dropped: 1, ..Counts::default() };
        found
    }

    #[test]
    fn the_worst_connection_is_the_first_line_of_the_table() {
        let found = found();
        let summary = found.summary(9);
        assert_eq!(totals(&summary), "3 retransmissions on 2 connections: 3 spurious, 0 needed, 0 undecidable");
        let said =
            "9 facts are missing, 1 retransmissions among them: the kernel had no room for them, or told of none";
        assert_eq!(dropped(&summary), said);
        assert_eq!(
            table(&summary.worst, Some(6.4)),
            [
                "local          remote         retransmissions  spurious  needed  undecidable  bytes  bytes spurious  causes     last",
                "[fd77::1]:443  10.0.0.2:4000                2         2       0            0    200             200  tlp 2   5 s ago",
                "10.0.0.1:80    10.0.0.2:4000                1         1       0            0    100             100  tlp 1   5 s ago",
            ]
        );
    }

    #[test]
    fn a_screen_is_cut_to_the_terminal() {
        let text = screen(&found(), 2.0, (20, 5));
        assert!(text.starts_with("\x1b[H3 retransmissions on\x1b[K\r\n"), "{text:?}");
        let lines: Vec<&str> = text.split("\r\n").collect();
        assert_eq!(lines.len(), 5, "totals, what was dropped, the table of one connection, and what clears the rest");
        assert!(lines.iter().all(|line| line.replace("\x1b[K", "").trim_start_matches("\x1b[H").chars().count() <= 20));
    }
}
