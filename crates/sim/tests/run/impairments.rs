//! What a link does to packets, seen by a whole connection.

use crate::common::{numbers, observed, scenario, words};

/// Returns a scenario of a transfer of `bytes` over 8 Mbit/s and 10 ms each way. `link` adds
/// settings of the link there.
fn transfer(link: &str, bytes: u32) -> String {
    format!(
        r#"
        duration_s = 20
        [point_to_point]
        rate_bps = 8_000_000
        delay_ms = 10
        {link}
        [[flow]]
        name = "main"
        from = "sender"
        to = "receiver"
        handshake = false
        application = {{ kind = "bulk", bytes = {bytes} }}
        [flow.tcp]
        mss_bytes = 1460
        timestamps = false
        [flow.sender]
        rto = {{ name = "rfc6298", minimum_ms = 1000 }}
        "#
    )
}

/// Packets of 1500 bytes vanish and the timer doubles from its first 1 s on. The segment of 540
/// bytes passes, and so does every acknowledgement.
#[test]
fn a_link_that_drops_long_packets_lets_only_short_ones_pass() {
    let outcome = observed(&scenario(&transfer(r#"loss = { kind = "larger-than", bytes = 1499 }"#, 2 * 1460 + 500)), 0);
    assert!(!outcome.summary.flows[0].completed);
    let times: Vec<_> = numbers(&outcome, "drops", "t_ns").into_iter().map(|t| t / 1_000_000).collect();
    assert_eq!(times, [0, 0, 1000, 3000, 7000, 15_000]);
    assert!(words(&outcome, "drops", "cause").iter().all(|cause| cause == "larger-than"));
    assert_eq!(words(&outcome, "drops", "link"), ["bottleneck"; 6]);
    assert_eq!(numbers(&outcome, "arrivals", "t_ns"), [10_540_000]);

    let passes = observed(&scenario(&transfer(r#"loss = { kind = "larger-than", bytes = 1500 }"#, 3000)), 0);
    assert!(passes.summary.flows[0].completed && numbers(&passes, "drops", "t_ns").is_empty());
}

#[test]
fn losses_of_a_list_are_met_in_their_order() {
    let both = r#"loss = [{ kind = "larger-than", bytes = 1000 }, { kind = "random", rate = 1 }]"#;
    let causes = words(&observed(&scenario(&transfer(both, 1460 + 500)), 0), "drops", "cause");
    assert_eq!(causes[..2], ["larger-than", "random"]);
}

/// Each segment takes 1.5 ms of the link. The first is 2 ms late, and so the second overtakes it.
#[test]
fn a_segment_that_is_late_is_overtaken_by_those_behind_it() {
    let late = r#"reorder = { flow = "main", segments = [1], late_ms = 2 }"#;
    let outcome = observed(&scenario(&transfer(late, 4 * 1460)), 0);
    let arrived = numbers(&outcome, "arrivals", "t_ns").into_iter().zip(numbers(&outcome, "arrivals", "start"));
    let arrived: Vec<_> = arrived.map(|(t, start)| (t / 1000, start / 1460)).collect();
    assert_eq!(arrived, [(11_500, 1), (13_000, 2), (14_500, 3), (16_000, 0)]);
    assert!(outcome.summary.flows[0].completed);
}

/// Lateness that is drawn reorders some of the packets, and the same seed gives the same run.
#[test]
fn lateness_may_be_drawn() {
    let link = r#"reorder = { rate = 0.1, late_ms = { uniform = [1, 20] } }"#;
    let out_of_order = |seed: u32| {
        let text = format!("seed = {seed}\n{}", transfer(link, 200_000));
        let starts = numbers(&observed(&scenario(&text), 0), "arrivals", "start");
        starts.windows(2).filter(|pair| pair[0] > pair[1]).count()
    };
    assert!(out_of_order(1) > 3, "{}", out_of_order(1));
    assert_eq!(out_of_order(1), out_of_order(1));
}

/// One message leaves every 5 ms and each is acknowledged after 20 ms, so something is always
/// outstanding. A timer that ACKs never restart expires 100 ms after its start, although nothing is
/// late. RFC 6298's starts anew with each ACK and never expires.
#[test]
fn a_timer_that_acks_never_restart_expires_over_a_good_path() {
    let sender = |name: &str, transport: &str| {
        let handshake = if transport == "tcp" { "handshake = false" } else { "" };
        let acks = if transport == "tcp" { "tcp = { delayed_ack_ms = 0 }" } else { "sctp = { sack_every = 1 }" };
        observed(
            &scenario(&format!(
                r#"
                duration_s = 20
                [point_to_point]
                rate_bps = 8_000_000
                delay_ms = 10
                [[flow]]
                name = "main"
                from = "sender"
                to = "receiver"
                transport = "{transport}"
                {handshake}
                {acks}
                application = {{ kind = "messages", bytes = 100, interval_ms = 5, messages = 40 }}
                [flow.sender]
                rto = {{ name = "{name}", initial_ms = 100, minimum_ms = 100 }}
                "#
            )),
            0,
        )
    };
    for transport in ["tcp", "sctp"] {
        let standard = sender("rfc6298", transport);
        assert_eq!(standard.summary.flows[0].timeouts, 0, "{transport}");
        let fault = sender("never-restarted", transport);
        assert!(fault.summary.flows[0].timeouts > 0 && fault.summary.flows[0].completed, "{transport}");
        let starts = numbers(&fault, "transmissions", "start");
        let again = (0..starts.len()).find(|&row| starts[..row].contains(&starts[row])).unwrap();
        let times = numbers(&fault, "transmissions", "t_ns");
        assert_eq!(times[again] - times[0], 100_000_000, "{transport}");
    }
}
