//! Connections that begin with what the last one to their destination learnt: `temporal_sharing`.

use crate::common::{numbers, observed, scenario};
use eifel_base::time::Duration;
use eifel_sim::scenario::Scenario;
use eifel_sim::{Options, Outcome, run_with};

/// Returns two transfers over a round trip of more than a second, the second one from `from` after
/// the end of the first.
fn two(from: &str, tcp: &str) -> Scenario {
    scenario(&format!(
        r#"
            duration_s = 60
            [tcp]
            {tcp}
            [sender]
            after_spurious = {{ name = "min-plus-plus", step_ms = 3000 }}
            [dumbbell]
            left = 2
            right = 1
            access = {{ rate_bps = "unlimited", delay_ms = 0 }}
            bottleneck = {{ rate_bps = 2_000_000, delay_ms = 500, queue = {{ kind = "drop-tail", packets = 100 }} }}
            [[spike]]
            links = ["bottleneck"]
            holds = "sending"
            at = [{{ start_s = 4.0, end_s = 8.0 }}]
            [[flow]]
            name = "first"
            from = "left1"
            to = "right1"
            application = {{ kind = "bulk", bytes = 900_000 }}
            [[flow]]
            name = "second"
            from = "{from}"
            to = "right1"
            start_s = 40
            application = {{ kind = "bulk", bytes = 30_000 }}
            "#
    ))
}

/// Returns the samples of the flow with this number: the round trip, SRTT, RTTVAR and RTO, in
/// nanoseconds.
fn samples(outcome: &Outcome, flow: i64) -> Vec<[i64; 4]> {
    let column = |name| numbers(outcome, "timer", name);
    let (flows, events) = (column("flow"), crate::common::words(outcome, "timer", "event"));
    let values = ["rtt_ns", "srtt_ns", "rttvar_ns", "rto_ns"].map(column);
    (0..flows.len())
        .filter(|&row| flows[row] == flow && events[row] == "sample")
        .map(|row| [0, 1, 2, 3].map(|name: usize| values[name][row]))
        .collect()
}

/// The handshake's round trip in nanoseconds: twice 500 ms, and 60 bytes at 2 Mbit/s each way.
const HANDSHAKE: i64 = 1_000_480_000;

/// The SYN is retransmitted after the initial second, so that the handshake gives no sample.
#[test]
fn without_sharing_the_first_sample_is_the_estimate() {
    let [rtt, srtt, rttvar, _] = samples(&observed(&two("left1", ""), 0), 1)[0];
    assert_eq!((srtt, rttvar), (rtt, rtt / 2));
}

/// The first flow's spurious timeout raises the minimum from 1 s to 4 s, so that the second one's SYN
/// is sent once. Its round trip is smoothed by RFC 6298, section 2.3, rounded to the nanosecond.
#[test]
fn the_second_connection_smooths_the_estimate_of_the_first() {
    let outcome = observed(&two("left1", "temporal_sharing = true"), 0);
    let flow = &outcome.summary.flows[0];
    assert_eq!((flow.completed, flow.spurious_timeouts), (true, 1), "{flow:?}");
    let [_, srtt, rttvar, _] = *samples(&outcome, 0).last().unwrap();
    let [_, next, deviation, rto] = samples(&outcome, 1)[0];
    assert!((srtt + (HANDSHAKE - srtt) / 8 - next).abs() <= 1, "{srtt} {next}");
    assert!((rttvar + ((srtt - HANDSHAKE).abs() - rttvar) / 4 - deviation).abs() <= 1, "{rttvar} {deviation}");
    assert_eq!(rto, Duration::from_secs(4).as_nanos() as i64);
}

#[test]
fn a_connection_from_another_host_inherits_nothing() {
    let [rtt, srtt, rttvar, _] = samples(&observed(&two("left2", "temporal_sharing = true"), 0), 1)[0];
    assert_eq!((srtt, rttvar), (rtt, rtt / 2));
}

#[test]
fn a_run_that_nobody_observes_shares_the_same() {
    let scenario = two("left1", "temporal_sharing = true");
    let plain = run_with(&scenario, 0, Options::default()).unwrap();
    assert_eq!(plain.summary, observed(&scenario, 0).summary);
}
