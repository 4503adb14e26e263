//! Packets that cross two links with one event fare as they do with one on each.

use crate::common::{numbers, observed, scenario};
use eifel_sim::Outcome;

/// Flows of several kinds and sizes over a bottleneck with a queue of its own kind, and spikes, onto
/// access links that are now faster and now slower than it; `access` is said of each of them.
fn crossroads(access: &str, queue: &str) -> String {
    format!(
        r#"
        duration_s = 40
        [dumbbell]
        left = 8
        right = 8
        access = {{ {access}, queue = {{ kind = "drop-tail", packets = 12 }} }}
        bottleneck = {{ rate_bps = 4_001_387, delay_ms = 30.000_019, queue = {queue} }}
        [[spike]]
        links = ["bottleneck", "bottleneck-back"]
        holds = "sending"
        first_s = 3
        length_s = {{ uniform = [0.2, 3] }}
        interval_s = {{ uniform = [4, 9] }}
        interval = "end-to-start"
        [[flow]]
        name = "bulk#"
        repeat = 7
        from = "left#"
        to = "right#"
        start_s = {{ uniform = [0, 2] }}
        application = {{ kind = "bulk", bytes = 2_000_000 }}
        [[flow]]
        name = "exchange#"
        repeat = 3
        from = "left#"
        to = "right6"
        start_s = {{ uniform = [0, 2] }}
        application = {{ kind = "exchange", bytes = 500_000, back_bytes = 300_000 }}
        [[flow]]
        name = "dialogue#"
        repeat = 8
        from = "right#"
        to = "left8"
        start_s = {{ uniform = [0, 2] }}
        application = {{ kind = "request-response", requests = 50, request_bytes = 300, response_bytes = 5_000, think_ms = 50 }}
        [[flow]]
        name = "datagrams#"
        repeat = 8
        from = "left#"
        to = "right#"
        application = {{ kind = "cbr", rate_bps = 50_000, packet_bytes = 200, jitter = 0.5 }}
        [[flow]]
        name = "background"
        from = "entry"
        to = "exit"
        application = {{ kind = "on-off", rate_bps = 1_500_000, packet_bytes = 300, on_ms = 500, off_ms = 700 }}
    "#
    )
}

/// An element that does nothing, but that a lane does not know.
const IDLE: &str = r#", loss = { kind = "random", rate = 0 }"#;

/// All rows of all tables. Those of one instant may come in another order.
fn rows(outcome: &Outcome) -> Vec<(&'static str, Vec<Vec<i64>>)> {
    let tables = outcome.tables.clone().into_columns();
    let rows = |(name, columns): (&'static str, Vec<(&str, _)>)| {
        let columns: Vec<Vec<i64>> = columns.iter().map(|&(column, _)| numbers(outcome, name, column)).collect();
        let count = columns.first().map_or(0, Vec::len);
        let mut rows: Vec<Vec<i64>> =
            (0..count).map(|row| columns.iter().filter_map(|column| column.get(row).copied()).collect()).collect();
        rows.sort_unstable();
        (name, rows)
    };
    tables.into_iter().map(rows).collect()
}

#[test]
fn in_a_lane_or_not_is_the_same_run() {
    let red = r#"{ kind = "adaptive-red", packets = 40 }"#;
    for access in [
        "rate_bps = 20_013_571, delay_ms = 2.000_173",
        "rate_bps = 2_039_417, delay_ms = 0.531_71",
        "rate_bps = \"unlimited\", delay_ms = 1.000_37",
    ] {
        for queue in [r#"{ kind = "drop-tail", packets = 40 }"#, red] {
            let lanes = observed(&scenario(&crossroads(access, queue)), 0);
            let events = observed(&scenario(&crossroads(&format!("{access}{IDLE}"), queue)), 0);
            assert!(lanes.summary.flows.iter().all(|flow| flow.segments_sent > 0), "{:?}", lanes.summary);
            assert_eq!(lanes.summary, events.summary, "{access} {queue}");
            for ((name, lanes), (_, events)) in rows(&lanes).into_iter().zip(rows(&events)) {
                let differs = lanes.iter().zip(&events).find(|(lanes, events)| lanes != events);
                assert_eq!(differs, None, "{name}, {access} {queue}");
                assert_eq!(lanes.len(), events.len(), "{name}, {access} {queue}");
            }
        }
    }
}

#[test]
fn observing_a_lane_changes_nothing() {
    let text = crossroads("rate_bps = 5_000_000, delay_ms = 2", r#"{ kind = "drop-tail", bytes = 40_000 }"#);
    let scenario = scenario(&text);
    for repetition in 0..3 {
        let plain = eifel_sim::run_with(&scenario, repetition, eifel_sim::Options::default()).unwrap();
        assert_eq!(plain.summary, observed(&scenario, repetition).summary);
    }
}
