//! Runs with segments as bytes give the same results as runs with segments as values.

use crate::common::{LOSS, ROUGH, SPIKES, endless, observed, scenario};
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

/// Returns the dialogue with marked retransmissions: by header bits, or by timestamps.
fn marked(how: &str) -> String {
    format!(
        "{DIALOGUE}\n[flow.tcp]\ntimestamps = false\nretransmission_marks = \"{how}\"\n[flow.sender]\ndetect = \"eifel-bit\"\n"
    )
}

/// Returns a scenario over IPv6.
fn over_ipv6(text: &str) -> String {
    format!("ip = \"ipv6\"\n{text}")
}

#[test]
fn carrying_bytes_gives_the_same_tables() {
    let narrow = |buffer: u32, text: &str| format!("{text}\n[tcp]\nsend_buffer_bytes = {buffer}\n");
    // Each read frees enough room that the end sends a window update at once.
    let little = |segments: u32, every: u32| {
        format!("{DIALOGUE}\n[tcp]\nreceive_window_segments = {segments}\ndelayed_ack_every = {every}\n")
    };
    let others = [
        marked("bits"),
        marked("timestamps"),
        over_ipv6(ROUGH),
        over_ipv6(DIALOGUE),
        narrow(10_000, ROUGH),
        narrow(3_000, DIALOGUE),
        little(2, 2),
        little(10, 8),
    ];
    for text in [ROUGH, SPIKES, DIALOGUE].into_iter().chain(others.iter().map(String::as_str)) {
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

/// An endless transfer of values is written in one piece, and a transfer of bytes in many. The ends
/// of the pieces have no effect.
#[test]
fn carrying_bytes_gives_the_same_tables_of_an_endless_transfer() {
    for tcp in
        ["", "send_buffer_bytes = 9_000", "send_buffer_bytes = 200_000", "send_buffer_bytes = 9_000\nnagle = true"]
    {
        let scenario = endless(LOSS, &format!("tcp = {{ {} }}", tcp.replace('\n', ", ")));
        let values = observed(&scenario, 0);
        let options = Options { record: Record::all(), checked: true, bytes: true, ..Options::default() };
        let bytes = run_with(&scenario, 0, options).unwrap();
        assert!(values.summary.flows[0].bytes > 1_000_000, "{tcp}");
        assert_eq!((bytes.summary, bytes.tables), (values.summary, values.tables), "{tcp}");
    }
}

#[test]
fn a_link_charges_for_the_header_of_the_version_of_ip() {
    let bulk = r#"
        duration_s = 100
        [point_to_point]
        rate_bps = 1_000_000
        delay_ms = 10
        [[flow]]
        name = "main"
        from = "sender"
        to = "receiver"
        handshake = false
        application = { kind = "bulk", segments = 1 }
        tcp = { payload_bytes = 1000 }
    "#;
    // 1000 bytes of payload, 32 of TCP and the IP header, at 8 us each. Then the propagation delay.
    let arrives = |text: &str| crate::common::numbers(&observed(&scenario(text), 0), "arrivals", "t_ns")[0];
    assert_eq!(arrives(bulk), 10_000_000 + 8_000 * (1032 + 20));
    assert_eq!(arrives(&over_ipv6(bulk)), 10_000_000 + 8_000 * (1032 + 40));
}
