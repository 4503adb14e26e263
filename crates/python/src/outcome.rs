//! Converts the simulator's results to names and columns. No other file knows their structure.

use crate::numbers::Number;
use eifel_sim::Outcome;
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_sim::summary::{self, FlowSummary};

/// A flow's summary: its names and numbers.
pub(crate) struct Numbered {
    /// The flow's name and its ends.
    pub(crate) words: [(&'static str, String); 3],
    /// The numbers, in the order that they are shown in.
    pub(crate) numbers: Vec<(&'static str, Number)>,
}

/// Returns the record of these tables, with captures at these nodes. An error for an unknown name
/// lists the known ones.
pub(crate) fn kept<'a>(
    scenario: &Scenario,
    tables: &[String],
    nodes: impl IntoIterator<Item = &'a str>,
) -> Result<Record, String> {
    let record = Record::named(tables.iter().map(String::as_str)).map_err(|error| error.to_string())?;
    nodes.into_iter().try_fold(record, |record, name| {
        let node = scenario.nodes.iter().position(|node| node.name == name);
        node.map(|node| record.capturing(node)).ok_or_else(|| format!("there is no node {name:?} to capture at"))
    })
}

/// Returns the summary of every flow, in the scenario's order.
pub(crate) fn flows(scenario: &Scenario, outcome: &Outcome) -> Vec<Numbered> {
    let name = |node: usize| scenario.nodes[node].name.clone();
    let flows = scenario.flows.iter().zip(&outcome.summary.flows);
    flows.map(|(flow, summary)| numbered(name(flow.from), name(flow.to), summary)).collect()
}

/// Returns the summary of a flow between two nodes.
pub(crate) fn numbered(from: String, to: String, summary: &FlowSummary) -> Numbered {
    Numbered {
        words: [("flow", summary.flow.clone()), ("from", from), ("to", to)],
        numbers: summary.numbers().map(|(name, value)| (name, number(value))).to_vec(),
    }
}

fn number(number: summary::Number) -> Number {
    match number {
        summary::Number::Count(count) => Number::Integer(i64::try_from(count).unwrap_or(i64::MAX)),
        summary::Number::Measure(measure) => Number::Real(measure),
        summary::Number::Flag(flag) => Number::Switch(flag),
    }
}
