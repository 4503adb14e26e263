//! Lines that a script has for one stack only: `#ifdef NAME`, `#ifndef NAME`, `#else`, `#endif`.

use crate::error::{Fault, Place, shown};

/// Deepest nesting of conditions.
const DEEPEST: usize = 16;

/// Returns whether a script has lines for one stack only.
pub(super) fn is_in(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("#ifdef") || line.starts_with("#ifndef"))
}

/// Returns the script with blank lines in place of the conditions and of the lines that are not for
/// the stack `symbol`. So all other lines keep their places.
pub(super) fn chosen(text: &str, symbol: &str) -> Result<String, Fault> {
    let mut kept = String::with_capacity(text.len());
    // Whether each open condition holds.
    let mut open: Vec<bool> = Vec::new();
    // Whether the last line ended within a command in back quotes, or within an assertion.
    let (mut in_command, mut in_code) = (false, false);
    let mut last = Place { line: 1, column: 1 };
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let place = Place { line: number, column: 1 };
        let fault = |what: String, expected: &str| Err(Fault::new(place, what, expected));
        // Within a command or an assertion, `#` begins a comment of the shell or of Python.
        let condition = line.strip_prefix('#').filter(|_| !in_command && !in_code);
        let mut words = condition.unwrap_or_default().split_whitespace();
        match (words.next(), words.next()) {
            (Some("ifdef" | "ifndef"), None) => return fault("a condition without a name".into(), "#ifdef NAME"),
            (Some("ifdef" | "ifndef"), Some(_)) if open.len() == DEEPEST => {
                return fault("nested too deep".into(), &format!("at most {DEEPEST} levels"));
            }
            (Some(word @ ("ifdef" | "ifndef")), Some(name)) => {
                last = place;
                open.push((name == symbol) == (word == "ifdef"));
            }
            (Some("else"), None) if !open.is_empty() => {
                open.iter_mut().last().into_iter().for_each(|holds| *holds = !*holds)
            }
            (Some("endif"), None) if !open.is_empty() => {
                open.pop();
            }
            (Some(word), _) => {
                return fault(
                    format!("\"#{}\" does not fit here", shown(word)),
                    "#ifdef NAME, #ifndef NAME, #else or #endif",
                );
            }
            _ if open.iter().all(|holds| *holds) => {
                in_command ^= line.matches('`').count() % 2 == 1;
                in_code = match (line.rfind("%{"), line.rfind("}%")) {
                    (Some(begin), Some(end)) => begin > end,
                    (begin, end) => begin.is_some() || in_code && end.is_none(),
                };
                kept.push_str(line);
                continue;
            }
            _ => {}
        }
        kept.extend(line.chars().filter(|character| *character == '\n'));
    }
    match open.is_empty() {
        true => Ok(kept),
        false => Err(Fault::new(last, "the condition has no end", "#endif")),
    }
}
