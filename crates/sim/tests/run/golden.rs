//! Runs that are small enough to compute by hand, to the nanosecond.

use crate::common::{numbers, observed, scenario, words};

/// 1 Mbit/s and 10 ms each way. 1000 bytes take 8 ms to send, and an ACK of 40 bytes 0.32 ms.
const PATH: &str = r#"
    duration_s = 60
    header_bytes = 40
    [point_to_point]
    rate_bps = 1_000_000
    delay_ms = 10
    [tcp]
    payload_bytes = 960
    timestamps = false
    delayed_ack_every = 1
    [sender]
    detect = "none"
    respond = "none"
    recover = "reno"
    congest = { name = "reno", initial_window_segments = 2 }
    [[flow]]
    name = "main"
    from = "sender"
    to = "receiver"
    handshake = false
    application = { kind = "bulk", segments = 4 }
"#;

fn micros(nanos: Vec<i64>) -> Vec<i64> {
    let nanos: Vec<i64> = nanos.into_iter().filter(|&nanos| nanos >= 0).collect();
    assert!(nanos.iter().all(|nanos| nanos % 1000 == 0), "{nanos:?}");
    nanos.into_iter().map(|nanos| nanos / 1000).collect()
}

#[test]
fn four_segments() {
    let outcome = observed(&scenario(PATH), 0);
    // Two segments leave at once. The ACK of the first, sent at 18 ms, releases two more.
    assert_eq!(micros(numbers(&outcome, "transmissions", "t_ns")), [0, 0, 28_320, 28_320]);
    assert_eq!(numbers(&outcome, "transmissions", "start"), [1, 961, 1921, 2881]);
    assert_eq!(numbers(&outcome, "transmissions", "segment"), [1, 2, 3, 4]);
    assert_eq!(micros(numbers(&outcome, "transmissions", "arrived_ns")), [18_000, 26_000, 46_320, 54_320]);
    assert_eq!(numbers(&outcome, "transmissions", "needed"), [0; 4]);
    assert_eq!(micros(numbers(&outcome, "acks", "t_ns")), [28_320, 36_320, 56_640, 64_640]);
    assert_eq!(numbers(&outcome, "acks", "cumulative"), [961, 1921, 2881, 3841]);
    // The last ACK finds one segment in a window of five. A window that is not full does not grow.
    assert_eq!(numbers(&outcome, "window", "cwnd"), [1920, 2880, 3840, 4800, 4800]);
    let rto = numbers(&outcome, "timer", "rto_ns");
    assert!(rto.iter().all(|&rto| rto == 1_000_000_000), "{rto:?}");
    // In the bottleneck's queue, the second segment waits behind the first.
    assert_eq!(numbers(&outcome, "queues", "packets"), [1, 2, 1, 1, 1, 2, 1, 1]);
    let flow = &outcome.summary.flows[0];
    assert_eq!((flow.completed, flow.bytes, flow.segments_sent), (true, 3840, 4));
    assert_eq!(flow.time_s, 0.05432);
    assert_eq!(outcome.summary.duration_s, 0.06464);
}

#[test]
fn a_spike_that_outlasts_the_timer() {
    let spike = r#"
        [[spike]]
        links = ["bottleneck"]
        holds = "arriving"
        at = [{ start_s = 0.02, end_s = 3 }]
    "#;
    let outcome = observed(&scenario(&format!("{PATH}{spike}")), 0);
    // The second segment, due at 26 ms, is held. The first ACK restarted the timer at 28.32 ms,
    // with the minimum of 1 s. The next timeout would come 2 s after the first, but everything
    // arrives at 3 s.
    let sent = micros(numbers(&outcome, "transmissions", "t_ns"));
    assert_eq!(sent[..5], [0, 0, 28_320, 28_320, 1_028_320]);
    assert_eq!(numbers(&outcome, "transmissions", "start")[4], 961);
    assert_eq!(words(&outcome, "transmissions", "cause")[4], "timeout");
    let arrived = micros(numbers(&outcome, "transmissions", "arrived_ns"));
    assert_eq!(arrived[..5], [18_000, 3_000_000, 3_000_000, 3_000_000, 3_000_000]);
    assert_eq!(words(&outcome, "transmissions", "needed")[..5], ["-", "-", "-", "-", "spurious"]);
    // The ACKs of the three held segments leave back to back at 3 s.
    assert_eq!(micros(numbers(&outcome, "acks", "t_ns"))[..4], [28_320, 3_010_320, 3_010_640, 3_010_960]);
    assert_eq!(numbers(&outcome, "arrivals", "new_bytes")[..5], [960, 960, 960, 960, 0]);
    // Without timestamps, retransmitted segments are not timed (Karn's rule), so no sample follows.
    assert_eq!(words(&outcome, "timer", "event"), ["sample", "expired", "back-off"]);
    assert_eq!(numbers(&outcome, "timer", "rto_ns"), [1_000_000_000, 1_000_000_000, 2_000_000_000]);
    assert_eq!(micros(numbers(&outcome, "episodes", "opened_ns")), [1_028_320]);
    assert_eq!(words(&outcome, "episodes", "truth"), ["spurious"]);
    // The only sample before the episode is the first segment's.
    assert_eq!(micros(numbers(&outcome, "episodes", "saved_srtt_ns")), [28_320]);
    assert_eq!(micros(numbers(&outcome, "spikes", "start_ns")), [20_000]);
    assert_eq!(micros(numbers(&outcome, "spikes", "end_ns")), [3_000_000]);
    let flow = &outcome.summary.flows[0];
    assert_eq!((flow.timeouts, flow.timeout_episodes, flow.spurious_timeouts, flow.genuine_timeouts), (1, 1, 1, 0));
    assert_eq!((flow.completed, flow.time_s, flow.genuine_timeouts_wait_s), (true, 3.0, 0.0));
}

#[test]
fn a_listed_drop_is_repaired_after_a_timeout_that_was_needed() {
    let drop = r#"drops = { flow = "main", segments = [4] }"#;
    let text = PATH.replace("delay_ms = 10", &format!("delay_ms = 10\n    {drop}"));
    let outcome = observed(&scenario(&text), 0);
    // The last segment is lost, so only the timer detects it. The ACK of the third segment
    // restarted the timer at 56.64 ms.
    assert_eq!(micros(numbers(&outcome, "transmissions", "t_ns")), [0, 0, 28_320, 28_320, 1_056_640]);
    assert_eq!(
        words(&outcome, "transmissions", "fate"),
        ["delivered", "delivered", "delivered", "dropped", "delivered"]
    );
    assert_eq!(words(&outcome, "transmissions", "needed")[4], "needed");
    assert_eq!(numbers(&outcome, "transmissions", "segment"), [1, 2, 3, 4, 4]);
    assert_eq!(numbers(&outcome, "transmissions", "copy"), [0, 0, 0, 0, 1]);
    assert_eq!(words(&outcome, "drops", "cause"), ["listed"]);
    assert_eq!(words(&outcome, "drops", "link"), ["bottleneck"]);
    assert_eq!(numbers(&outcome, "drops", "tx"), [3]);
    let flow = &outcome.summary.flows[0];
    assert_eq!((flow.genuine_timeouts, flow.spurious_timeouts, flow.drops), (1, 0, 1));
    assert_eq!(flow.time_s, 1.07464);
    // The lost segment was sent at 28.32 ms.
    assert_eq!(flow.genuine_timeouts_wait_s, 1.02832);
}
