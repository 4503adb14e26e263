//! Receivers of associations that cheat. Each lie misleads its target detector. An honest receiver
//! misleads none.

use crate::common::{LOSS, endless};
use eifel_sim::record::Record;
use eifel_sim::scenario::Scenario;
use eifel_sim::summary::FlowSummary;
use eifel_sim::{Options, run, run_with};

/// Returns a transfer with a loss of one packet in a hundred. Both signals of Eifel are negotiated.
fn transfer(liar: &str, detect: &str) -> Scenario {
    let flow = format!(
        r#"
        transport = "sctp"
        liar = {liar}
        sctp = {{ timestamp_chunk = "agreed", retransmit_bit = true, receive_window_bytes = 1_000_000 }}
        sender = {{ detect = {detect}, respond = "rfc4015" }}
        "#
    );
    endless(LOSS, &flow)
}

fn flow(liar: &str, detect: &str) -> FlowSummary {
    run(&transfer(liar, detect), 0, Record::none()).unwrap().summary.flows[0].clone()
}

const DETECTORS: [&str; 7] = [
    "{ name = \"eifel-cover-timestamps\", proof = \"older\" }",
    "\"eifel-cover-bit\"",
    "{ name = \"eifel-cover-or-dsack\", proof = \"older\" }",
    "{ name = \"eifel-cover-or-dsack\", signal = \"bit\" }",
    "\"dsack\"",
    "\"f-rto-sctp\"",
    SAFE,
];
/// A detector that requires the original's own timestamp. Each packet has a distinct timestamp.
const SAFE: &str = "\"eifel-cover-timestamps\"";

#[test]
fn an_honest_receiver_causes_no_wrong_verdict() {
    for detect in DETECTORS {
        let found = flow("\"none\"", detect);
        assert!(found.fast_retransmits > 20 && found.detected_spurious == 0, "{detect}: {found:?}");
    }
}

/// A table without lies alters nothing. The observed run equals the run of an honest receiver.
#[test]
fn a_liar_that_never_lies_is_honest() {
    let detect = "\"eifel-cover-or-dsack\"";
    assert_eq!(flow("\"none\"", detect), flow("{ in_order = { echo = \"due\" } }", detect));
}

#[test]
fn each_lie_misleads_its_detector() {
    for (liar, detect) in [
        ("\"forged-echo\"", DETECTORS[0]),
        ("\"forged-mark\"", DETECTORS[1]),
        ("\"forged-echo\"", DETECTORS[2]),
        ("\"forged-dsack\"", DETECTORS[2]),
        ("\"forged-dsack\"", DETECTORS[4]),
    ] {
        let found = flow(liar, detect);
        let episodes = found.timeout_episodes + found.fast_retransmits;
        let spurious = found.spurious_timeouts + found.spurious_fast_retransmits;
        assert!(found.detected_spurious * 2 > episodes, "{liar}, {detect}: {found:?}");
        assert!(spurious * 4 < found.detected_spurious, "{liar}, {detect}: {spurious} in truth");
    }
}

#[test]
fn no_echo_misleads_the_one_that_asks_for_the_originals_own() {
    let honest = flow("\"none\"", SAFE);
    for liar in ["\"forged-echo\"", "\"guessed-echo\"", "\"random-echo\""] {
        let found = flow(liar, SAFE);
        assert!(found.detected_spurious <= 1 && found.fast_retransmits > 20, "{liar}: {found:?}");
        assert!(
            found.goodput_bps < honest.goodput_bps * 1.05,
            "{liar}: {} and {}",
            found.goodput_bps,
            honest.goodput_bps
        );
    }
}

/// Forged gap reports hide losses. When the true reports come, the sender believes them (RFC 9260,
/// section 6.2.1, D iii).
#[test]
fn forged_gap_reports_gain_nothing() {
    let (honest, lying) = (flow("\"none\"", "\"none\""), flow("\"forged-sack\"", "\"none\""));
    assert!(lying.fast_retransmits < honest.fast_retransmits, "it hides nothing: {lying:?}");
    assert!(lying.goodput_bps <= honest.goodput_bps, "{} beside {}", lying.goodput_bps, honest.goodput_bps);
}

/// Every message arrives and every law of the simulator holds, regardless of the receiver's lies.
#[test]
fn a_liar_loses_nothing() {
    let named =
        ["forged-echo", "guessed-echo", "forged-dsack", "forged-mark", "forged-sack", "withheld-ack", "random-echo"];
    let holds = "{ in_order = { held_ms = 30 }, above_gap = { held_ms = 500 } }".to_owned();
    for liar in named.iter().map(|name| format!("{name:?}")).chain([holds]) {
        for detect in DETECTORS {
            let options = Options { checked: true, bytes: true, ..Options::default() };
            let found = run_with(&transfer(&liar, detect), 1, options).unwrap();
            assert!(found.summary.flows[0].goodput_bps > 0.0, "{liar}, {detect}");
        }
    }
}
