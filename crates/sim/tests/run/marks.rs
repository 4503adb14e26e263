//! Explicit congestion notification over a queue that marks, and over routers that alter the ECN
//! field.

use crate::common::{observed, scenario};
use eifel_sim::summary::FlowSummary;
use eifel_sim::{Options, run_with};

/// Runs a flow of 2 MB through RED at 5 Mbit/s, with a round trip of 60 ms.
fn flow(ends: &str, queue: &str, faults: &str) -> FlowSummary {
    let text = format!(
        r#"
        duration_s = 300
        [point_to_point]
        rate_bps = 5_000_000
        delay_ms = 30
        queue = {{ kind = "red", packets = 60, minimum_packets = 5, maximum_packets = 30, mean_packet_bytes = 1000{queue} }}
        {faults}
        [tcp]
        payload_bytes = 1000
        {ends}
        [[flow]]
        name = "main"
        from = "sender"
        to = "receiver"
        application = {{ kind = "bulk", bytes = 2_000_000 }}
        "#
    );
    observed(&scenario(&text), 0).summary.flows[0].clone()
}

const ASKS: &str = "ecn = \"ask\"";
const MARKS: &str = ", ecn = true";

#[test]
fn marks_take_the_place_of_early_drops() {
    let (without, with) = (flow("", MARKS, ""), flow(ASKS, MARKS, ""));
    assert_eq!((without.bytes, with.bytes), (2_000_000, 2_000_000));
    // Slow start overshoots the upper threshold in both runs.
    assert!(with.drops < without.drops, "{} and {} drops", with.drops, without.drops);
    assert!(with.retransmissions < without.retransmissions);
    // A queue that does not mark drops as before.
    assert_eq!(flow(ASKS, "", "").drops, flow("", "", "").drops);
}

#[test]
fn routers_that_clear_or_forge_marks_cost_no_data() {
    let cleared = flow(ASKS, MARKS, "ecn_faults = { clear = 1.0 }");
    assert_eq!(cleared.bytes, 2_000_000);
    assert!(cleared.drops > 0, "congestion is told by drops");
    for forge in [0.01, 1.0] {
        let forged = flow(ASKS, MARKS, &format!("ecn_faults = {{ forge = {forge} }}"));
        assert_eq!(forged.bytes, 2_000_000, "{forge}");
    }
    let honest = flow("", "", "");
    let nobody_asked = flow("", "", "ecn_faults = { forge = 1.0 }");
    assert_eq!(
        (nobody_asked.segments_sent, nobody_asked.timeouts),
        (honest.segments_sent, honest.timeouts),
        "not agreed, not heard"
    );
}

/// A mark on a datagram has no effect, with or without a connection on the path.
#[test]
fn datagrams_pass_routers_that_forge_marks() {
    let datagrams = r#"
        duration_s = 5
        stop = "at-duration"
        [dumbbell]
        left = 1
        right = 1
        access = { rate_bps = 5_000_000, delay_ms = 1, ecn_faults = { forge = 0.5, clear = 0.2 } }
        bottleneck = { rate_bps = 5_000_000, delay_ms = 1 }
        [[flow]]
        name = "datagrams"
        from = "left1"
        to = "right1"
        application = { kind = "cbr", rate_bps = 100_000, packet_bytes = 500 }
    "#;
    let connection = r#"
        [[flow]]
        name = "main"
        from = "left1"
        to = "right1"
        application = { kind = "bulk", bytes = 200_000 }
    "#;
    for text in [datagrams.to_owned(), format!("{datagrams}{connection}")] {
        let scenario = scenario(&text);
        let unseen = run_with(&scenario, 0, Options::default()).unwrap().summary;
        let options = Options { checked: true, bytes: true, ..Options::default() };
        assert_eq!(run_with(&scenario, 0, options).unwrap().summary, unseen);
        assert!(unseen.flows.iter().all(|flow| flow.bytes > 50_000), "{unseen:?}");
    }
}
