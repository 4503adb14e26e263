//! Segments as bytes give the run that segments as values give.

use crate::common::{ROUGH, SPIKES, observed, scenario};
use eifel_sim::record::Record;
use eifel_sim::{Options, run_with};

const DIALOGUE: &str = r#"
    duration_s = 100
    [point_to_point]
    rate_bps = 1_000_000
    delay_ms = 30
    loss = { kind = "random", rate = 0.03 }
    [[flow]]
    name = "dialogue"
    from = "sender"
    to = "receiver"
    application = { kind = "request-response", requests = 20, request_bytes = 300, response_bytes = 20_000, think_ms = 50 }
"#;

/// With marks of retransmissions in the header, and in timestamps.
fn marked(how: &str) -> String {
    format!(
        "{DIALOGUE}\n[flow.tcp]\ntimestamps = false\nretransmission_marks = \"{how}\"\n[flow.sender]\ndetect = \"eifel-bit\"\n"
    )
}

#[test]
fn carrying_bytes_gives_the_same_tables() {
    let marks = [marked("bits"), marked("timestamps")];
    for text in [ROUGH, SPIKES, DIALOGUE].into_iter().chain(marks.iter().map(String::as_str)) {
        let scenario = scenario(text);
        let values = observed(&scenario, 1);
        let options = Options { record: Record::all(), checked: true, bytes: true, ..Options::default() };
        let bytes = run_with(&scenario, 1, options).unwrap();
        assert!(values.summary.flows[0].completed);
        assert_eq!(bytes.summary, values.summary);
        assert!(!values.tables.transmissions.t_ns.is_empty());
        assert_eq!(bytes.tables, values.tables);
    }
}
