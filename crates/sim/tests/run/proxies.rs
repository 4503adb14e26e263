//! A proxy in front of a wireless link: the packets that it withholds, and the effects. In every
//! run the checkers verify that all withheld data has already arrived.

use crate::common::{numbers, observed, scenario, words};
use eifel_sim::Outcome;
use eifel_sim::summary::FlowSummary;

/// Runs `flows` over a wired link, then a wireless link of 200 kbit/s and 150 ms. A spike holds the
/// wireless link from 20 s to 30 s.
fn path(proxy: bool, wired: &str, wireless: &str, flows: &str) -> Outcome {
    let wired = if wired.contains("delay_ms") { wired.to_owned() } else { format!("delay_ms = 20\n{wired}") };
    let proxy = if proxy { "proxy = { links = [\"wireless\"] }" } else { "" };
    observed(
        &scenario(&format!(
            r#"
        duration_s = 600
        {proxy}
        [[node]]
        name = "server"
        [[node]]
        name = "edge"
        [[node]]
        name = "mobile"
        [[link]]
        name = "wired"
        from = "server"
        to = "edge"
        both = true
        rate_bps = 10_000_000
        {wired}
        [[link]]
        name = "wireless"
        from = "edge"
        to = "mobile"
        both = true
        rate_bps = 200_000
        delay_ms = 150
        {wireless}
        [[spike]]
        links = ["wireless"]
        holds = "sending"
        at = [{{ start_s = 20, length_s = 10 }}]
        [tcp]
        payload_bytes = 1000
        receive_window_bytes = 20_000
        sack = false
        {flows}
        "#
        )),
        0,
    )
}

/// Returns a flow of 1 MB with this sender.
fn one(sender: &str) -> String {
    format!(
        r#"
        [[flow]]
        name = "main"
        from = "server"
        to = "mobile"
        isn = [4_294_500_000, 4_294_967_290]
        application = {{ kind = "bulk", bytes = 1_000_000 }}
        sender = {{ {sender} }}
        "#
    )
}

/// Reno without the bugfix: duplicate ACKs after a timeout count.
const RENO: &str = r#"detect = "none", respond = "none", recover = { name = "reno", bugfix = false }"#;

fn main(outcome: &Outcome) -> &FlowSummary {
    &outcome.summary.flows[0]
}

fn withheld(outcome: &Outcome) -> usize {
    words(outcome, "drops", "cause").iter().filter(|cause| *cause == "proxy").count()
}

/// The sequence numbers of both ends wrap during the transfer.
#[test]
fn after_a_spike_it_spares_reno_the_spurious_fast_retransmit() {
    let (without, with) = (path(false, "", "", &one(RENO)), path(true, "", "", &one(RENO)));
    assert!(main(&without).spurious_fast_retransmits > 0, "{:?}", main(&without));
    assert_eq!(main(&with).spurious_fast_retransmits, 0);
    assert_eq!(withheld(&without), 0);
    assert!(withheld(&with) > 10, "{}", withheld(&with));
    assert!(main(&with).completed && main(&with).time_s < main(&without).time_s);
    // The sender's timer expired too early. A proxy cannot change that.
    assert_eq!(main(&with).spurious_timeouts, main(&without).spurious_timeouts);
}

/// If the sender is near, the retransmissions reach the proxy before the ACKs. If it is far, they
/// reach the proxy after them.
#[test]
fn the_farther_the_sender_the_more_of_the_data_itself_is_withheld() {
    let data = |delay_ms: u32| {
        let outcome = path(true, &format!("delay_ms = {delay_ms}"), "", &one(RENO));
        assert!(main(&outcome).completed && main(&outcome).spurious_fast_retransmits == 0, "{:?}", main(&outcome));
        let causes = words(&outcome, "drops", "cause");
        let segments = numbers(&outcome, "drops", "tx").into_iter().zip(causes);
        segments.filter(|(tx, cause)| *tx >= 0 && cause == "proxy").count()
    };
    let withheld = [20, 100, 300].map(data);
    assert!(withheld[0] < withheld[1] && withheld[1] < withheld[2], "{withheld:?}");
}

#[test]
fn losses_on_the_wireless_link_are_repaired_as_without_the_proxy() {
    let lossy = r#"loss = { kind = "random", rate = 0.05 }"#;
    for sender in [RENO, r#"recover = "newreno""#, r#"recover = { name = "reno", bugfix = true }"#] {
        let with = path(true, "", lossy, &one(sender));
        assert!(main(&with).completed, "{sender}: {:?}", main(&with));
    }
    // Losses of listed segments and their first retransmissions are repaired too.
    let listed = r#"drops = { flow = "main", segments = [30, 60, 61, 90], copies = 2 }"#;
    let (with, without) = (path(true, "", listed, &one(RENO)), path(false, "", listed, &one(RENO)));
    assert!(main(&with).genuine_timeouts > 0 && main(&with).completed && main(&without).completed);
}

#[test]
fn the_proxy_does_not_react_to_reordering() {
    let reordered = r#"reorder = { rate = 0.02, length = 5 }"#;
    for place in [(reordered, ""), ("", reordered)] {
        let (with, without) = [true, false].map(|proxy| path(proxy, place.0, place.1, &one(RENO))).into();
        assert!(main(&with).completed, "{:?}", main(&with));
        assert!(main(&with).time_s < 1.2 * main(&without).time_s, "{place:?}");
    }
}

#[test]
fn acks_that_are_lost_on_the_wired_side_do_no_lasting_harm() {
    let lost = r#"back = { loss = { kind = "random", rate = 0.1 } }"#;
    let (with, without) = (path(true, lost, "", &one(RENO)), path(false, lost, "", &one(RENO)));
    assert!(main(&with).completed && withheld(&with) > 0, "{:?}", main(&with));
    assert!(main(&with).time_s < 2.0 * main(&without).time_s, "{:?}", main(&with));
}

#[test]
fn duplicates_from_the_wired_side_do_no_harm() {
    let twice = "duplicate = { rate = 0.3 }";
    let with = path(true, twice, "", &one(RENO));
    assert!(main(&with).completed && main(&with).goodput_bps > 100_000.0, "{:?}", main(&with));
}

#[test]
fn the_proxy_keeps_state_per_connection() {
    let several = r#"
        [[flow]]
        name = "down#"
        from = "server"
        to = "mobile"
        repeat = 3
        isn = [4_294_967_000, 4_294_967_290]
        application = { kind = "bulk", bytes = 200_000 }
        sender = { detect = "none", respond = "none", recover = { name = "reno", bugfix = false } }
        [[flow]]
        name = "both"
        from = "mobile"
        to = "server"
        application = { kind = "exchange", bytes = 100_000, back_bytes = 200_000 }
        sender = { detect = "none", respond = "none", recover = { name = "reno", bugfix = false } }
        [[flow]]
        name = "noise"
        from = "server"
        to = "mobile"
        application = { kind = "cbr", rate_bps = 20_000, packet_bytes = 100 }
    "#;
    let with = path(true, "", "", several);
    for flow in &with.summary.flows[..3] {
        assert!(flow.completed && flow.spurious_fast_retransmits == 0, "{flow:?}");
    }
    // The data that the mobile sends does not enter the proxy's link.
    assert!(with.summary.flows[3].completed, "{:?}", with.summary.flows[3]);
    assert!(withheld(&with) > 0);
}

#[test]
fn observing_a_run_does_not_change_it() {
    let text = r#"
        duration_s = 100
        proxy = { links = ["bottleneck"] }
        [dumbbell]
        left = 1
        right = 1
        access = { rate_bps = 10_000_000, delay_ms = 10 }
        bottleneck = { rate_bps = 200_000, delay_ms = 150, queue = { kind = "drop-tail", packets = 10 } }
        [[spike]]
        links = ["bottleneck"]
        holds = "sending"
        at = [{ start_s = 20, length_s = 10 }]
        [[flow]]
        name = "main"
        from = "left1"
        to = "right1"
        application = { kind = "bulk", bytes = 500_000 }
    "#;
    let scenario = scenario(text);
    let plain = eifel_sim::run(&scenario, 0, eifel_sim::record::Record::none()).unwrap().summary;
    assert_eq!(plain, observed(&scenario, 0).summary);
}
