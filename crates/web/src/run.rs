//! Runs of the simulator.

use crate::answer::Answer;
use eifel_sim::record::Record;
use eifel_sim::scenario::{Scenario, Traffic};
use eifel_sim::{Options, run_with};
use serde_json::{Value, json};

/// The most events of a run: about ten seconds of work. Beyond it, the page shows an error instead
/// of hanging.
const MOST_EVENTS: u64 = 100_000_000;

/// Runs the scenario in `bytes`, and keeps the requested tables.
pub(crate) fn run(asked: &Value, bytes: &[u8]) -> Result<Answer, String> {
    let scenario = Scenario::parse(text(bytes)?, "scenario".as_ref()).map_err(|error| error.to_string())?;
    let names = asked["tables"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let record = Record::named(names).map_err(|error| error.to_string())?;
    let repetition = asked["repetition"].as_u64().and_then(|one| u32::try_from(one).ok()).unwrap_or(0);
    let options = Options { record, most_events: Some(MOST_EVENTS), ..Options::default() };
    let outcome = run_with(&scenario, repetition, options).map_err(|error| error.to_string())?;
    let mut answer = Answer::of(json!({
        // Kept as text, so that it is byte for byte the output of every other interface of the
        // engine.
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

/// Runs the scenario in `bytes`, and returns the packets at the sender of its first flow.
pub(crate) fn capture(bytes: &[u8]) -> Result<Answer, String> {
    let scenario = Scenario::parse(text(bytes)?, "scenario".as_ref()).map_err(|error| error.to_string())?;
    let record = Record::none().capturing(scenario.flows[0].from);
    let options = Options { record, most_events: Some(MOST_EVENTS), ..Options::default() };
    let outcome = run_with(&scenario, 0, options).map_err(|error| error.to_string())?;
    let mut answer = Answer::default();
    let pcapng = answer.bytes("pcapng", outcome.captures.into_iter().next().map(|one| one.pcapng).unwrap_or_default());
    Ok(answer.with("pcapng", pcapng))
}

/// Returns the algorithms of the end that opens a flow, by seam.
fn algorithms(traffic: &Traffic) -> Value {
    let (sender, association) = match traffic {
        Traffic::Stream { connection, .. } => (&connection.sender, None),
        Traffic::Messages { association, .. } => {
            let engine = &association.settings[0].engine;
            (&engine.path, Some(engine))
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
        // An association's loss recovery is always RFC 9260's.
        Some(engine) => {
            named["retransmit"] = json!(engine.retransmit.name);
            named["credit"] = json!(engine.credit.name);
        }
        None => named["recover"] = json!(sender.recover.name),
    }
    named
}

/// Converts a scenario from JSON to TOML.
pub(crate) fn toml(bytes: &[u8]) -> Result<Answer, String> {
    let scenario: Value = serde_json::from_slice(bytes).map_err(|error| format!("scenario: {error}"))?;
    let toml = toml::to_string(&scenario).map_err(|error| format!("scenario: {error}"))?;
    Ok(Answer::of(json!({ "toml": toml })))
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| format!("scenario: not UTF-8 from byte {} on", error.valid_up_to()))
}
