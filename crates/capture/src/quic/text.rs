//! Writes a summary of logs for people.

use super::{LossVerdict, Losses};
use crate::report::text::{escaped, wrap};
use crate::report::total::counted;
use crate::result::StackReaction;
use std::collections::BTreeMap;
use std::fmt::{Result, Write};

/// The title of the log's reasons.
const CAUSE: &str = "declared lost by";

/// Writes the summary, in lines of at most 120 characters.
pub(crate) fn write(losses: &Losses, text: &mut String) -> Result {
    for trace in &losses.traces {
        let vantage = trace.vantage.as_deref().unwrap_or("an unnamed end");
        let sent = counted(trace.sent, "packet", "packets");
        write!(text, "{}: {sent} sent by {}", escaped(&trace.file), escaped(vantage))?;
        writeln!(text, ", {} declared lost", trace.lost)?;
        if trace.damaged > 0 {
            writeln!(text, "  {} records could not be read", trace.damaged)?;
        }
        for note in &trace.notes {
            writeln!(text, "  {note}")?;
        }
    }
    if losses.traces.iter().all(|trace| trace.lost == 0) {
        return Ok(());
    }
    verdicts(losses, text)?;
    events(losses, text)?;
    way_on(losses, text)
}

/// Writes the verdicts by the log's reason to declare a packet lost.
fn verdicts(losses: &Losses, text: &mut String) -> Result {
    let mut rows: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for packet in &losses.packets {
        let row = rows.entry(packet.trigger.as_deref().unwrap_or("not in the log")).or_default();
        row[packet.verdict as usize] += 1;
    }
    if rows.is_empty() {
        return Ok(());
    }
    let width = rows.keys().map(|trigger| escaped(trigger).chars().count()).max().unwrap_or(0).max(CAUSE.len()) + 2;
    let titles = ["spurious", "genuine", "undecidable"].map(|title| format!("{title:>13}")).concat();
    writeln!(text, "\n  {CAUSE:<width$}{titles}")?;
    for (trigger, row) in rows {
        writeln!(text, "  {:<width$}{}", escaped(trigger), row.map(|count| format!("{count:>13}")).concat())?;
    }
    writeln!(text, "  spurious: it arrived; genuine: it did not; undecidable: the log does not show it")
}

fn events(losses: &Losses, text: &mut String) -> Result {
    if losses.events.is_empty() {
        return Ok(());
    }
    let noticed = |reaction| losses.events.iter().filter(|event| event.stack_noticed == reaction).count();
    let harmful = noticed(StackReaction::Harmful);
    let undone = noticed(StackReaction::Undone) + harmful;
    let events = counted(losses.events.len() as u64, "congestion event", "congestion events");
    write!(text, "\n{events} (losses of one recovery period), {undone} of them undone by the stack")?;
    if harmful > 0 {
        write!(text, " ({harmful} although packets were really lost)")?;
    }
    writeln!(text)?;
    let named: Vec<_> = losses.events.iter().filter(|event| !event.rules.is_empty()).collect();
    let Some(first) = named.first() else { return Ok(()) };
    let mut rows = Vec::new();
    for (place, rule) in first.rules.iter().enumerate().filter(|(_, rule)| rule.rule != "none") {
        let takes_back = named.iter().map(|event| event.rules[place].takes_back);
        let (sum, some) = takes_back.fold((0.0, 0), |(sum, some), back| (sum + back, some + usize::from(back > 0.0)));
        let stacks = if rule.stacks.is_empty() { "none" } else { rule.stacks };
        rows.push((some, format!("  {:<34}{some:>8}{sum:>12.1}  {stacks}", rule.rule)));
    }
    if rows.iter().all(|(some, _)| *some == 0) {
        return writeln!(text, "  no known rule would undo one");
    }
    writeln!(text, "  {:<34}{:>8}{:>12}  stacks that have the rule", "rule to undo an event", "events", "reductions")?;
    for (_, row) in rows {
        writeln!(text, "{row}")?;
    }
    writeln!(text, "  events: those that the rule would undo, some in part; reductions: the parts of windows, added up")
}

/// Writes what to do.
fn way_on(losses: &Losses, text: &mut String) -> Result {
    let alone = losses.traces.iter().any(|trace| trace.lost > 0 && trace.other_end.is_none());
    let open = losses.count(LossVerdict::Undecidable) > 0 || losses.traces.iter().any(|trace| trace.unnamed > 0);
    let said = [
        (losses.count(LossVerdict::Spurious) > 0, LARGER),
        (alone && open, "Give the logs of both ends together: that of the receiver may show which packets arrived."),
    ];
    for (_, said) in said.iter().filter(|(is_so, _)| *is_so) {
        writeln!(text)?;
        wrap(text, "", said)?;
    }
    Ok(())
}

/// What avoids spurious losses (RFC 9002, sections 6.1.1 and 6.1.2).
const LARGER: &str = "Larger thresholds of packets or of time avoid spurious losses (RFC 9002, sections 6.1.1 and 6.1.2): see \
                      whether the sender's stack has a setting for them, or adapts them.";
