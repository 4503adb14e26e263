//! Receivers that cheat. Each lie misleads its target detector. An honest receiver misleads none.

use crate::common::{LOSS, endless, scenario};
use eifel_sim::record::Record;
use eifel_sim::run;
use eifel_sim::summary::FlowSummary;

/// Runs a transfer with marked retransmissions and a loss of one packet in a hundred.
fn transfer(liar: &str, sender: &str) -> FlowSummary {
    let flow = format!(
        r#"
        liar = "{liar}"
        tcp = {{ payload_bytes = 1000, retransmission_marks = "bits" }}
        sender = {{ {sender} }}
        "#
    );
    run(&endless(LOSS, &flow), 0, Record::none()).unwrap().summary.flows[0].clone()
}

/// Runs a transfer of the default sender, over a path with this loss and these spikes.
fn default(liar: &str, loss: &str, spikes: &str) -> FlowSummary {
    let flow = format!("liar = \"{liar}\"\ntcp = {{ payload_bytes = 1000 }}");
    run(&endless(&format!("{loss}\n{spikes}"), &flow), 0, Record::none()).unwrap().summary.flows[0].clone()
}

/// [rfc4015:5]
#[test]
fn the_default_s_timestamps_can_neither_be_forged_nor_guessed() {
    let loss = "loss = { kind = \"random\", rate = 0.02 }";
    let honest = default("none", loss, "");
    assert!(honest.fast_retransmits > 30 && honest.detected_spurious == 0, "{honest:?}");
    for liar in ["forged-echo", "guessed-echo", "random-echo"] {
        let flow = default(liar, loss, "");
        // The detector distrusts the peer after three failed guesses. In one of ten connections, a
        // guess succeeds before that.
        assert!(flow.detected_spurious <= 1, "{liar}: {}", flow.detected_spurious);
        assert!(flow.goodput_bps <= 1.05 * honest.goodput_bps, "{liar}");
    }
}

#[test]
fn the_default_finds_every_spike() {
    let at = [10, 20, 30, 40, 50].map(|start| format!("{{ start_s = {start}, length_s = 3 }}")).join(", ");
    let spikes = format!("[[spike]]\nlinks = [\"bottleneck\"]\nholds = \"arriving\"\nat = [{at}]");
    let flow = default("none", "", &spikes);
    assert!(flow.spurious_timeouts >= 5, "{}", flow.spurious_timeouts);
    assert_eq!(flow.detected_spurious, flow.spurious_timeouts + flow.spurious_fast_retransmits);
}

#[test]
fn an_honest_receiver_causes_no_wrong_verdict() {
    for detect in ["eifel-timestamps", "eifel-bit", "dsack", "f-rto"] {
        let flow = transfer("none", &format!("detect = \"{detect}\""));
        assert_eq!(flow.detected_spurious, 0, "{detect}");
    }
}

#[test]
fn each_lie_misleads_its_detector() {
    for (liar, sender) in [
        ("forged-echo", "detect = { name = \"eifel-timestamps\", proof = \"older\" }"),
        ("forged-dsack", "detect = \"dsack\""),
    ] {
        let flow = transfer(liar, sender);
        let episodes = flow.timeout_episodes + flow.fast_retransmits;
        assert!(flow.detected_spurious * 2 > episodes, "{liar}: {} of {episodes}", flow.detected_spurious);
        let spurious = flow.spurious_timeouts + flow.spurious_fast_retransmits;
        assert!(spurious * 4 < flow.detected_spurious, "{liar}: {spurious} in truth");
    }
}

/// The receiver never marks an answer to a retransmission, as if all retransmissions were lost.
/// After three such answers, the detector distrusts the receiver.
#[test]
fn a_forged_mark_misleads_three_times() {
    assert_eq!(transfer("forged-mark", "detect = \"eifel-bit\"").detected_spurious, 3);
}

/// With a duplicate threshold of 100, losses lead to timeouts instead of fast retransmits.
#[test]
fn a_withheld_ack_misleads_f_rto() {
    let sender = "detect = \"f-rto\", recover = { name = \"reno\", duplicate_threshold = 100 }";
    let flow = transfer("withheld-ack", sender);
    assert!(
        flow.detected_spurious * 2 > flow.timeout_episodes,
        "{} of {}",
        flow.detected_spurious,
        flow.timeout_episodes
    );
    assert_eq!(transfer("none", sender).detected_spurious, 0);
}

/// An impossible echo gives no round-trip sample, so the timer keeps its initial value.
#[test]
fn random_echoes_are_not_believed() {
    let (liar, honest) = (transfer("random-echo", ""), transfer("none", ""));
    assert_eq!(liar.detected_spurious, 0);
    assert!(liar.goodput_bps <= 1.05 * honest.goodput_bps, "{} beside {}", liar.goodput_bps, honest.goodput_bps);
}

/// Runs a transfer of three packets. Two leave at once, and the third when the first is
/// acknowledged. Returns the time at which the receiver has everything, in seconds.
fn time_of_two_windows(transport: &str, liar: &str) -> f64 {
    let text = format!(
        r#"
        duration_s = 60
        [point_to_point]
        rate_bps = 100_000_000
        delay_ms = 50
        [[flow]]
        name = "main"
        from = "sender"
        to = "receiver"
        transport = "{transport}"
        liar = {liar}
        sender.congest = {{ name = "reno", initial_window_segments = 2 }}
        application = {{ kind = "bulk", bytes = 3000 }}
        "#
    );
    run(&scenario(&text), 0, Record::none()).unwrap().summary.flows[0].time_s
}

#[test]
fn an_acknowledgement_that_is_held_leaves_when_its_time_has_come() {
    for transport in ["tcp", "sctp"] {
        let time = |liar| time_of_two_windows(transport, liar);
        let honest = time("{ in_order = { number = \"all\" } }");
        let held = time("{ in_order = { held_ms = 300 } }");
        assert!((held - honest - 0.3).abs() < 1e-9, "{transport}: {held} beside {honest}");
        // If the hold outlasts the timeout, the answer to a retransmission releases the third
        // packet.
        let late = time("{ in_order = { held_ms = 30_000 } }");
        assert!(late - honest > 0.9 && late < 31.0, "{transport}: {late} beside {honest}");
    }
}

/// The second acknowledgement overtakes the first, which then acknowledges nothing new.
#[test]
fn others_leave_while_one_is_held() {
    let liar = "{ in_order = { held_ms = 10_000, turns = true }, other = { in_order = { held_ms = 200 } } }";
    let (honest, lying) = (time_of_two_windows("tcp", "\"none\""), time_of_two_windows("tcp", liar));
    assert!((lying - honest - 0.2).abs() < 1e-3, "{lying} beside {honest}");
}

#[test]
fn a_lie_that_there_is_not_is_refused() {
    let text = "duration_s = 1\n[point_to_point]\nrate_bps = 1\ndelay_ms = 1\n[[flow]]\nname = \"a\"\nfrom = \"sender\"\nto = \"receiver\"\n\
                liar = \"forged\"\napplication = { kind = \"bulk\", bytes = 1 }";
    let error = eifel_sim::scenario::Scenario::parse(text, "test.toml".as_ref()).unwrap_err().to_string();
    assert!(error.contains("liar") && error.contains("forged-echo"), "{error}");
}
