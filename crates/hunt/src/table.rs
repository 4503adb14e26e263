//! A field's scenario as a table: its senders, and its runs.

use eifel_sim::Outcome;
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use toml::{Table, Value};

/// Returns the flows of a scenario.
pub fn flows(scenario: &mut Table) -> &mut [Value] {
    match scenario.get_mut("flow") {
        Some(Value::Array(flows)) => flows,
        _ => &mut [],
    }
}

/// Returns the sender's table of each flow.
pub(crate) fn senders(scenario: &mut Table) -> impl Iterator<Item = &mut Table> {
    flows(scenario).iter_mut().filter_map(|flow| flow.get_mut("sender")?.as_table_mut())
}

/// Runs the repetitions of a field's scenario, from `first` on.
///
/// # Panics
/// If the scenario is refused or a run fails. A field makes only scenarios that run.
pub(crate) fn outcomes(
    scenario: &Table,
    first: u32,
    repetitions: u32,
    record: Record,
) -> impl Iterator<Item = Outcome> + use<> {
    let text = scenario.to_string();
    let scenario = Scenario::parse(&text, "place".as_ref()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (first..first + repetitions).map(move |repetition| {
        eifel_sim::run(&scenario, repetition, record.clone()).unwrap_or_else(|error| panic!("{error}\n{text}"))
    })
}
