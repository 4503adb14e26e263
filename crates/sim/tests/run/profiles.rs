//! Flows between stacks as they are deployed: `profile = "linux"`.

use crate::common::{ROUGH, numbers, observed, scenario};
use eifel_sim::Outcome;

/// Runs 3 MB over `rate_bps` and a round trip of 40 ms between Linux hosts; `path` and `flow` add
/// settings.
fn linux(rate_bps: u64, path: &str, flow: &str) -> Outcome {
    let text = format!(
        r#"
        duration_s = 60
        [point_to_point]
        rate_bps = {rate_bps}
        delay_ms = 20
        queue = {{ kind = "drop-tail", packets = 1000 }}
        {path}
        [[flow]]
        name = "main"
        from = "sender"
        to = "receiver"
        profile = "linux"
        application = {{ kind = "bulk", bytes = 3_000_000 }}
        {flow}
        "#
    );
    let outcome = observed(&scenario(&text), 0);
    assert!(outcome.summary.flows[0].completed);
    outcome
}

/// The spike holds everything for a second, which is longer than the RTO of about 240 ms. The first
/// ACK after it echoes an original.
#[test]
fn a_spike_costs_linux_one_retransmission() {
    let path = "
        [[spike]]
        links = [\"bottleneck\"]
        holds = \"sending\"
        at = [{ start_s = 1.0, end_s = 2.0 }]";
    let outcome = linux(20_000_000, path, "");
    let flow = &outcome.summary.flows[0];
    assert_eq!((flow.spurious_timeouts, flow.detected_spurious, flow.undos), (1, 1, 1), "{flow:?}");
    assert!(flow.spurious_retransmissions <= 2, "{flow:?}");
}

/// Without the bursts a segment leaves each 11.6 us or so. With them, at least two leave together,
/// and all of a burst have the same TSval, since their clock has ticks of 1 ms.
#[test]
fn segments_leave_in_bursts_that_share_their_instant() {
    let alone = |outcome: &Outcome| {
        let times = numbers(outcome, "transmissions", "t_ns");
        let together = times.windows(2).filter(|pair| pair[0] == pair[1]).count();
        (times.len() as u64, together as u64)
    };
    let (all, together) = alone(&linux(1_000_000_000, "", ""));
    assert!(together * 2 >= all - 20, "{together} of {all}");
    let (all, together) = alone(&linux(1_000_000_000, "", "sender.pace = \"pacing\""));
    assert!(together * 4 < all, "{together} of {all}");
}

#[test]
fn acks_stretch_over_batches() {
    let acks = |flow: &str| numbers(&linux(1_000_000_000, "", flow), "acks", "t_ns").len();
    let (merged, usual) = (acks(""), acks("tcp.gro_wait_ms = 0"));
    assert!(merged < usual, "{merged} and {usual}");
}

/// Linux's composite, its response and its pacer keep the laws over a rough path.
#[test]
fn linux_keeps_the_laws() {
    let text = ROUGH.replace("[[flow]]", "[[flow]]\nprofile = \"linux\"");
    for repetition in 0..10 {
        assert!(observed(&scenario(&text), repetition).summary.flows[0].completed, "{repetition}");
    }
}
