//! Whole runs over queues that decide at dequeue whether to drop a packet.

use crate::common::{numbers, observed, scenario, words};
use eifel_sim::Outcome;

/// Runs an endless transfer for 20 s over 10 Mbit/s and 40 ms with this queue, and a client that
/// sends requests.
fn run(queue: &str, tcp: &str) -> Outcome {
    let text = format!(
        r#"
        duration_s = 20
        [point_to_point]
        rate_bps = 10_000_000
        delay_ms = 20
        queue = {{ {queue} }}
        back = {{ queue = {{ kind = "unlimited" }} }}
        [tcp]
        payload_bytes = 1400
        receive_window_bytes = 4_000_000
        {tcp}
        [[flow]]
        name = "main"
        from = "sender"
        to = "receiver"
        application = {{ kind = "bulk", endless = true }}
        [[flow]]
        name = "client"
        from = "receiver"
        to = "sender"
        application = {{ kind = "request-response", requests = 1000, request_bytes = 200, response_bytes = 10_000, think_ms = 200 }}
        "#
    );
    observed(&scenario(&text), 0)
}

/// Returns the mean number of bytes in the bottleneck's queue, from 10 s on.
fn backlog(outcome: &Outcome) -> f64 {
    let times = numbers(outcome, "queues", "t_ns");
    let (bytes, links) = (numbers(outcome, "queues", "bytes"), words(outcome, "queues", "link"));
    let late = |&at: &usize| times[at] > 10_000_000_000 && links[at] == "bottleneck";
    let late: Vec<i64> = (0..times.len()).filter(late).map(|at| bytes[at]).collect();
    late.iter().sum::<i64>() as f64 / late.len() as f64
}

#[test]
fn codel_keeps_a_queue_short_that_drop_tail_fills() {
    let plain = run(r#"kind = "drop-tail", packets = 400"#, "");
    let codel = run(r#"kind = "codel""#, "");
    // The target of 5 ms is 6 kB at 10 Mbit/s. With a round trip of 40 ms, the sender's sawtooth
    // rises above it.
    assert!(backlog(&plain) > 200_000.0, "{}", backlog(&plain));
    assert!(backlog(&codel) < 30_000.0, "{}", backlog(&codel));
    let causes = words(&codel, "drops", "cause");
    assert!(causes.iter().filter(|cause| *cause == "codel").count() > 3, "{causes:?}");
    let goodput = |outcome: &Outcome| outcome.summary.flows[0].goodput_bps;
    // A sawtooth between half and all of the path's capacity fills three quarters of it.
    assert!(goodput(&codel) > 0.75 * goodput(&plain), "{} of {}", goodput(&codel), goodput(&plain));
}

#[test]
fn codel_marks_in_place_of_drops() {
    let marked = run(r#"kind = "codel", ecn = true"#, "ecn = \"ask\"");
    assert!(!words(&marked, "drops", "cause").contains(&"codel".to_owned()));
    assert_eq!(marked.summary.flows[0].retransmissions, 0);
    assert!(backlog(&marked) < 40_000.0, "{}", backlog(&marked));
}

#[test]
fn a_flow_with_its_own_fq_codel_queue_is_not_delayed_by_others() {
    let times = |queue: &str| run(queue, "").summary.flows[1].requests.unwrap();
    let (plain, fair) = (times(r#"kind = "drop-tail", packets = 400"#), times(r#"kind = "fq-codel""#));
    // A response takes two round trips at first, and later one. Each of its packets waits for at
    // most one packet of the transfer.
    assert!(fair.p90_s < 0.07 && fair.p50_s > 0.04, "{fair:?}");
    // The transfer keeps about 400 packets of 1.15 ms each in the shared queue.
    assert!(plain.p50_s > 0.3, "{plain:?}");
    assert!(fair.answered > 2 * plain.answered * 3 / 4, "{} and {}", fair.answered, plain.answered);
}
