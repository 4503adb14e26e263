//! Runs of the simulator.

use crate::answer::Answer;
use eifel_sim::record::Record;
use eifel_sim::scenario::{Scenario, Traffic};
use eifel_sim::{Options, run_with};
use serde_json::{Value, json};

/// The most events of a run: some ten seconds of work. A page that was asked for more says so, and does not hang.
const MOST_EVENTS: u64 = 100_000_000;

/// Runs the scenario in `bytes`, and keeps the tables that are asked for.
pub(crate) fn run(asked: &Value, bytes: &[u8]) -> Result<Answer, String> {
    let scenario = Scenario::parse(text(bytes)?, "scenario".as_ref()).map_err(|error| error.to_string())?;
    let names = asked["tables"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let record = Record::named(names).map_err(|error| error.to_string())?;
    let repetition = asked["repetition"].as_u64().and_then(|one| u32::try_from(one).ok()).unwrap_or(0);
    let options = Options { record, most_events: Some(MOST_EVENTS), ..Options::default() };
    let outcome = run_with(&scenario, repetition, options).map_err(|error| error.to_string())?;
    let mut answer = Answer::of(json!({
        // As text, so that it is byte for byte what every other face of the engine says.
        "summary": outcome.summary.flows_json(&scenario),
        "algorithms": scenario.flows.iter().map(|flow| algorithms(&flow.traffic)).collect::<Vec<_>>(),
        "duration_s": outcome.summary.duration_s,
        "words": outcome.tables.categories().into_iter().collect::<std::collections::BTreeMap<_, _>>(),
    }));
    for (table, columns) in outcome.tables.into_columns() {
        answer.table(table, columns);
    }
    Ok(answer)
}

/// Names the algorithms of the end that opens a flow, seam by seam.
fn algorithms(traffic: &Traffic) -> Value {
    let (sender, association) = match traffic {
        Traffic::Stream { connection, .. } => (&connection.sender, None),
        Traffic::Messages { association, .. } => {
            let brain = &association.settings[0].brain;
            (&brain.path, Some(brain))
        }
        Traffic::Datagrams(_) => return json!({}),
    };
    let mut named = json!({
        "detect": sender.detect.name,
        "respond": sender.respond.name,
        "grant": sender.grant.name,
        "rto": sender.rto.name,
        "after_spurious": sender.after_spurious.name,
        "congest": sender.congest.name,
        "pace": sender.pace.name,
    });
    match association {
        // Its loss recovery is RFC 9260's own.
        Some(brain) => {
            named["retransmit"] = json!(brain.retransmit.name);
            named["credit"] = json!(brain.credit.name);
        }
        None => named["recover"] = json!(sender.recover.name),
    }
    named
}

/// Writes a scenario that is JSON as TOML.
pub(crate) fn toml(bytes: &[u8]) -> Result<Answer, String> {
    let scenario: Value = serde_json::from_slice(bytes).map_err(|error| format!("scenario: {error}"))?;
    let toml = toml::to_string(&scenario).map_err(|error| format!("scenario: {error}"))?;
    Ok(Answer::of(json!({ "toml": toml })))
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| format!("scenario: not UTF-8 from byte {} on", error.valid_up_to()))
}
