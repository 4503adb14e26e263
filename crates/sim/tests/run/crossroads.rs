//! For many kinds of flows over one bottleneck, an observed run equals a run that is not observed.

use crate::common::{observed, scenario};

/// Returns a scenario of several kinds of flows over a bottleneck with spikes. `queue` is the
/// bottleneck's queue, and `access` the settings of each access link.
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

#[test]
fn observing_a_crossroads_changes_nothing() {
    let text = crossroads("rate_bps = 5_000_000, delay_ms = 2", r#"{ kind = "drop-tail", bytes = 40_000 }"#);
    let scenario = scenario(&text);
    for repetition in 0..3 {
        let plain = eifel_sim::run_with(&scenario, repetition, eifel_sim::Options::default()).unwrap();
        assert_eq!(plain.summary, observed(&scenario, repetition).summary);
    }
}
