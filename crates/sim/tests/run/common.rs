//! Scenarios of the tests, and functions to run them and to read their results.

use eifel_sim::record::Record;
use eifel_sim::record::column::Column;
use eifel_sim::scenario::Scenario;
use eifel_sim::{Options, Outcome, run_with};

pub fn scenario(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml".as_ref()).unwrap()
}

/// The loss of one packet in a hundred.
pub const LOSS: &str = "loss = { kind = \"random\", rate = 0.01 }";

/// Returns a scenario of an endless flow for a minute over 2 Mbit/s and 100 ms. `path` adds
/// settings of the link, and `flow` of the flow.
pub fn endless(path: &str, flow: &str) -> Scenario {
    scenario(&format!(
        r#"
        duration_s = 60
        [point_to_point]
        rate_bps = 2_000_000
        delay_ms = 50
        queue = {{ kind = "drop-tail", packets = 50 }}
        {path}
        [[flow]]
        name = "main"
        from = "sender"
        to = "receiver"
        application = {{ kind = "bulk", endless = true }}
        {flow}
        "#
    ))
}

/// Runs a scenario with all tables and checkers.
pub fn observed(scenario: &Scenario, repetition: u32) -> Outcome {
    run_with(scenario, repetition, Options { record: Record::all(), checked: true, ..Options::default() }).unwrap()
}

/// Returns a column as numbers.
pub fn numbers(outcome: &Outcome, table: &str, column: &str) -> Vec<i64> {
    let tables = outcome.tables.clone().into_columns();
    let (_, columns) = tables.into_iter().find(|(name, _)| *name == table).unwrap();
    match columns.into_iter().find(|(name, _)| *name == column).unwrap().1 {
        Column::Integers(values) => values,
        Column::Small(values) => values.into_iter().map(i64::from).collect(),
        Column::Codes(values) => values.into_iter().map(i64::from).collect(),
        Column::WideCodes(values) => values.into_iter().map(i64::from).collect(),
        Column::Flags(values) => values.into_iter().map(i64::from).collect(),
    }
}

/// Returns a column of codes as words.
pub fn words(outcome: &Outcome, table: &str, column: &str) -> Vec<String> {
    let (_, known) =
        outcome.tables.categories().into_iter().find(|(name, _)| *name == format!("{table}.{column}")).unwrap();
    numbers(outcome, table, column).into_iter().map(|code| known[code as usize].clone()).collect()
}

/// 2 MB over 2 Mbit/s and 300 ms, with spikes that hold both directions, as in Gurtov and Ludwig,
/// section IV.
pub const SPIKES: &str = r#"
    duration_s = 3000
    [dumbbell]
    left = 2
    right = 1
    access = { rate_bps = 100_000_000, delay_ms = 0 }
    bottleneck = { rate_bps = 2_000_000, delay_ms = 150, queue = { kind = "drop-tail", packets = 75 } }
    [[spike]]
    links = ["bottleneck", "bottleneck-back"]
    holds = "sending"
    first_s = 5
    length_s = { uniform = [3, 15] }
    interval_s = { uniform = [20, 40] }
    interval = "start-to-start"
    [tcp]
    payload_bytes = 1000
    receive_window_bytes = 150_000
    [[flow]]
    name = "main"
    from = "left1"
    to = "right1"
    handshake = false
    application = { kind = "bulk", bytes = 2_000_000 }
"#;

/// A short path with loss, duplication and reordering in both directions.
pub const ROUGH: &str = r#"
    duration_s = 300
    [point_to_point]
    rate_bps = 5_000_000
    delay_ms = 20
    queue = { kind = "drop-tail", bytes = 40_000 }
    loss = { kind = "gilbert-elliott", good_to_bad = 0.005, bad_to_good = 0.4 }
    duplicate = { rate = 0.01 }
    reorder = { rate = 0.01, length = 4 }
    [point_to_point.back]
    loss = { kind = "random", rate = 0.02 }
    duplicate = { rate = 0.01 }
    reorder = { rate = 0.01, length = 2 }
    [[flow]]
    name = "main"
    from = "sender"
    to = "receiver"
    application = { kind = "bulk", bytes = 1_000_000 }
"#;
