//! Converts the simulator's results to names and columns. No other file knows their structure.

use crate::numbers::Number;
use eifel_sim::Outcome;
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_sim::summary::{self, Requests};

/// The numbers of a flow's summary, in display order.
pub(crate) type Numbered = Vec<(&'static str, Number)>;

/// Returns the record with these tables, and captures at these nodes. An error about an unknown
/// table lists the known ones.
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

/// Returns the numbers of every flow, in the scenario's order. With `requests`, adds the durations
/// of requests.
pub(crate) fn flows(outcome: &Outcome, requests: bool) -> Vec<Numbered> {
    let of_one = |flow: &summary::FlowSummary| {
        let times = requests.then(|| Requests::numbers(flow.requests.as_ref()));
        let all = flow.numbers().into_iter().chain(times.into_iter().flatten());
        all.map(|(name, value)| (name, number(value))).collect()
    };
    outcome.summary.flows.iter().map(of_one).collect()
}

fn number(number: summary::Number) -> Number {
    match number {
        summary::Number::Count(count) => Number::Integer(i64::try_from(count).unwrap_or(i64::MAX)),
        summary::Number::Measure(measure) => Number::Real(measure),
        summary::Number::Flag(flag) => Number::Switch(flag),
    }
}
