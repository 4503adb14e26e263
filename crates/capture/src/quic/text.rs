//! Writes a summary of logs for people.

use super::{LossVerdict, Losses};
use crate::report::text::{escaped, percentage};
use crate::result::StackReaction;
use std::fmt::{Result, Write};

/// Writes the summary, in lines of at most 120 characters.
pub(crate) fn write(losses: &Losses, text: &mut String) -> Result {
    for trace in &losses.traces {
        let vantage = trace.vantage.as_deref().unwrap_or("an unnamed end");
        write!(text, "{}: {} packets sent by {}", escaped(&trace.file), trace.sent, escaped(vantage))?;
        writeln!(text, ", {} declared lost", trace.lost)?;
        if trace.damaged > 0 {
            writeln!(text, "  {} records could not be read", trace.damaged)?;
        }
        for note in &trace.notes {
            writeln!(text, "  {note}")?;
        }
    }
    let unnamed: u64 = losses.traces.iter().map(|trace| trace.unnamed).sum();
    let all = losses.packets.len();
    if all == 0 && unnamed == 0 {
        return writeln!(text, "nothing was declared lost");
    }
    if all > 0 {
        let (spurious, genuine) = (losses.count(LossVerdict::Spurious), losses.count(LossVerdict::Genuine));
        writeln!(
            text,
            "\n{all} packets declared lost: {spurious} spurious ({}), {genuine} genuine, {} undecidable",
            percentage(spurious, all),
            all - spurious - genuine
        )?;
    }
    events(losses, text)
}

fn events(losses: &Losses, text: &mut String) -> Result {
    let noticed = |reaction| losses.events.iter().filter(|event| event.stack_noticed == reaction).count();
    let harmful = noticed(StackReaction::Harmful);
    let undone = noticed(StackReaction::Undone) + harmful;
    write!(text, "{} congestion events, {undone} of them undone by the stack", losses.events.len())?;
    if harmful > 0 {
        write!(text, " ({harmful} although packets were really lost)")?;
    }
    let named: Vec<_> = losses.events.iter().filter(|event| !event.rules.is_empty()).collect();
    let Some(first) = named.first() else { return writeln!(text) };
    writeln!(text, "; what known rules would undo:")?;
    for (place, rule) in first.rules.iter().enumerate().filter(|(_, rule)| rule.rule != "none") {
        let takes_back = named.iter().map(|event| event.rules[place].takes_back);
        let (sum, some) = takes_back.fold((0.0, 0), |(sum, some), back| (sum + back, some + usize::from(back > 0.0)));
        writeln!(text, "  {:<34}{some:>5} events, {sum:.1} in all  {}", rule.rule, rule.stacks)?;
    }
    Ok(())
}
