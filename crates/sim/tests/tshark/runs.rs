//! The runs whose captures are dissected.

use std::sync::OnceLock;

use eifel_recovery::registry::Seam;
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_sim::{Options, Outcome, run_with};

use crate::dissect::{Frame, dissect};

/// Loss, duplication and reordering both ways.
const ROUGH: &str = r#"
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
"#;

/// Spikes that cause spurious timeouts, and little loss.
const SPIKES: &str = r#"
    [point_to_point]
    rate_bps = 2_000_000
    delay_ms = 100
    loss = { kind = "random", rate = 0.002 }
    [[spike]]
    links = ["bottleneck", "bottleneck-back"]
    holds = "sending"
    first_s = 1
    length_s = 3
    interval_s = 8
    interval = "start-to-start"
"#;

const BULK: &str = r#"
    [[flow]]
    name = "main"
    from = "sender"
    to = "receiver"
    application = { kind = "bulk", bytes = 600_000 }
"#;

const BOTH_WAYS: &str = r#"
    [[flow]]
    name = "main"
    from = "sender"
    to = "receiver"
    application = { kind = "request-response", requests = 40, request_bytes = 20_000, response_bytes = 5_000, think_ms = 50 }
"#;

/// A run, and its captures as Wireshark dissects them.
pub struct Run {
    pub name: String,
    pub outcome: Outcome,
    pub at_sender: Vec<Frame>,
    pub at_receiver: Vec<Frame>,
}

/// Returns all runs, which are executed and dissected once. Empty if tshark is not installed.
pub fn runs() -> &'static [Run] {
    static RUNS: OnceLock<Vec<Run>> = OnceLock::new();
    RUNS.get_or_init(|| outcomes().into_iter().map_while(dissected).collect())
}

fn dissected((name, outcome): (String, Outcome)) -> Option<Run> {
    let frames = |end: usize| dissect(&format!("{name}-{end}"), &outcome.captures[end].pcapng);
    let (at_sender, at_receiver) = (frames(0)?, frames(1)?);
    Some(Run { name, outcome, at_sender, at_receiver })
}

/// Runs each recovery algorithm over each path. The algorithms take the connection settings in
/// turn.
fn outcomes() -> Vec<(String, Outcome)> {
    let settings = [
        "",
        "sack = false",
        "dsack = false",
        "timestamps = false",
        // The timestamp clock wraps after two seconds.
        "timestamp_offset = 4_294_965_296",
        "timestamps = false\nsack = false\ndelayed_ack_every = 1",
    ];
    let detectors = ["eifel-timestamps", "none"];
    let recoveries = Seam::Recover.entries().iter().map(|entry| entry.name);
    let mut runs = Vec::new();
    for (index, recover) in recoveries.enumerate() {
        for (path, way) in [(ROUGH, "rough"), (SPIKES, "spikes")] {
            let flow = if index % 3 == 2 { BOTH_WAYS } else { BULK };
            let (tcp, detect) = (settings[index % settings.len()], detectors[index % 2]);
            let text = format!(
                "seed = {index}\nduration_s = 300\n{path}\n[tcp]\n{tcp}\n[sender]\nrecover = \"{recover}\"\n\
                 detect = \"{detect}\"\n{flow}"
            );
            let scenario = Scenario::parse(&text, "dissected.toml".as_ref()).unwrap();
            let record = Record::all().capturing(0).capturing(1).with_payload();
            let outcome = run_with(&scenario, 0, Options { record, checked: true, ..Options::default() }).unwrap();
            assert!(outcome.summary.flows[0].completed, "{way} {recover}");
            runs.push((format!("{way}-{recover}"), outcome));
        }
    }
    runs
}
