//! Evaluating ends ahead of the clock gives the same results as an observed run, which handles
//! every event in order.

use crate::common::{observed, scenario};
use eifel_sim::{Options, run_with};

const SPIKES: &str = r#"
    [[spike]]
    links = ["LINKS"]
    holds = "HOLDS"
    first_s = 2
    length_s = { uniform = [0.2, 3] }
    interval_s = { uniform = [2, 6] }
    interval = "end-to-start"
"#;

const FLOW: &str = r#"
    [[flow]]
    name = "bulk"
    from = "sender"
    to = "receiver"
    application = { kind = "bulk", endless = true }
"#;

/// Returns a scenario of one flow over `link`. ACKs are delayed by `delayed_ack_ms`, and spikes
/// hold `links`.
fn path(link: &str, delayed_ack_ms: f64, (links, holds): (&str, &str)) -> String {
    let spikes = SPIKES.replace("LINKS", links).replace("HOLDS", holds);
    format!(
        "duration_s = 30.123_457\nseed = 5\n[point_to_point]\n{link}\n[tcp]\ndelayed_ack_ms = {delayed_ack_ms}\n\
         [sender]\ndetect = \"eifel-timestamps\"\nrespond = \"rfc4015\"\n{spikes}{FLOW}"
    )
}

/// Returns a scenario of endless flows over a bottleneck. The flow `company` shares access links
/// with `bulk1`, so neither is evaluated ahead.
fn dumbbell(flows: usize, access: &str, queue: &str) -> String {
    format!(
        r#"
        duration_s = 20
        [dumbbell]
        left = {flows}
        right = {flows}
        access = {{ {access} }}
        bottleneck = {{ rate_bps = 8_000_000, delay_ms = 20, queue = {queue} }}
        [sender]
        detect = "eifel-timestamps"
        respond = "rfc4015"
        [[flow]]
        name = "bulk#"
        repeat = {flows}
        from = "left#"
        to = "right#"
        application = {{ kind = "bulk", endless = true }}
        [[flow]]
        name = "company"
        from = "right1"
        to = "left1"
        start_s = 3
        application = {{ kind = "bulk", endless = true }}
        [[flow]]
        name = "datagrams"
        from = "left2"
        to = "right2"
        application = {{ kind = "cbr", rate_bps = 50_000, packet_bytes = 200, jitter = 0.5 }}
        [[spike]]
        links = ["bottleneck"]
        holds = "sending"
        first_s = 3
        length_s = {{ uniform = [0.2, 3] }}
        interval_s = {{ uniform = [4, 9] }}
        interval = "end-to-start"
        "#
    )
}

/// Returns a scenario of endless flows whose timeouts are undone, rightly or wrongly. Segments sent
/// before the undo are then still on their way to a queue that drops them.
fn undone(detect: &str) -> String {
    format!(
        r#"
        duration_s = 60
        [dumbbell]
        left = 12
        right = 12
        access = {{ rate_bps = 60_000_000, delay_ms = 0 }}
        bottleneck = {{ rate_bps = 20_000_000, delay_ms = 400, queue = {{ kind = "drop-tail", bytes = 5_625 }} }}
        [tcp]
        payload_bytes = 536
        receive_window_bytes = 5_000
        [sender]
        detect = "{detect}"
        respond = "option-1"
        recover = "fack"
        {SPIKES}
        [[flow]]
        name = "bulk#"
        repeat = 12
        from = "left#"
        to = "right#"
        start_s = {{ uniform = [0, 2] }}
        application = {{ kind = "bulk", endless = true }}
        "#
    )
    .replace("LINKS", "bottleneck\", \"bottleneck-back")
    .replace("HOLDS", "sending")
}

fn is_the_same_run(text: &str) {
    let scenario = scenario(text);
    for repetition in 0..2 {
        let unseen = run_with(&scenario, repetition, Options::default()).unwrap().summary;
        assert!(unseen.flows.iter().all(|flow| flow.bytes > 0), "{text}\n{unseen:?}");
        assert_eq!(unseen, observed(&scenario, repetition).summary, "{text}");
    }
}

#[test]
fn lookahead_does_not_change_one_flow_on_any_path() {
    let links = [
        "rate_bps = 5_000_000\ndelay_ms = 50\nqueue = { kind = \"drop-tail\", packets = 20 }",
        // The timers of both ends can expire while a single packet or ACK is in transmission.
        "rate_bps = 12_000\ndelay_ms = 150\nqueue = { kind = \"drop-tail\", packets = 9 }",
        "rate_bps = 300_000\ndelay_ms = 40.000_01\nqueue = { kind = \"adaptive-red\", packets = 30 }",
        "rate_bps = 2_000_000\ndelay_ms = 10\nrate_changes = [{ at_s = 5, rate_bps = 40_000 }, { at_s = 15, rate_bps = 9_000_000 }]",
        "trace = [3, 20, 20, 21, 500, 501]\ndelay_ms = 20\nqueue = { kind = \"drop-tail\", bytes = 20_000 }",
    ];
    for link in links {
        for delayed_ack_ms in [0.0, 7.5, 200.0] {
            for spikes in [
                ("bottleneck", "sending"),
                ("bottleneck-back", "arriving"),
                ("bottleneck\", \"bottleneck-back", "arriving"),
            ] {
                is_the_same_run(&path(link, delayed_ack_ms, spikes));
            }
        }
    }
}

#[test]
fn drops_after_an_undo_are_counted_by_their_time() {
    for detect in ["min-rtt", "eifel-timestamps"] {
        is_the_same_run(&undone(detect));
    }
}

/// After a spike, originals leave the bottleneck in a burst and fill the next queue, of five
/// packets. The ACK of the first original undoes the timeout. If the next links took packets in
/// ahead of the clock, drops would be counted before the undo.
#[test]
fn a_drop_on_the_link_behind_counts_against_the_undo_before_it() {
    let text = undone("eifel-timestamps")
        .replace("\"bottleneck\", \"bottleneck-back\"", "\"bottleneck\"")
        .replace(
            "rate_bps = 60_000_000, delay_ms = 0",
            "rate_bps = 1_000_000, delay_ms = 0, queue = { kind = \"drop-tail\", packets = 5 }",
        )
        .replace(
            "delay_ms = 400, queue = { kind = \"drop-tail\", bytes = 5_625 }",
            "delay_ms = 400, back = { delay_ms = 1 }",
        )
        .replace("receive_window_bytes = 5_000", "receive_window_bytes = 20_000");
    let outcome = observed(&scenario(&text), 0).summary;
    assert!(outcome.flows.iter().any(|flow| flow.drops_after_undo > 0), "{outcome:?}");
    is_the_same_run(&text);
}

#[test]
fn lookahead_does_not_change_many_flows_behind_one_bottleneck() {
    let red = r#"{ kind = "adaptive-red", packets = 40 }"#;
    for flows in [3, 12] {
        for access in [
            "rate_bps = 20_000_000, delay_ms = 2",
            "rate_bps = 1_000_000, delay_ms = 1.000_37",
            "rate_bps = 8_000_000, delay_ms = 3, queue = { kind = \"drop-tail\", packets = 4096 }",
            "rate_bps = 1_000_000, delay_ms = 3, queue = { kind = \"drop-tail\", packets = 4 }",
        ] {
            for queue in [r#"{ kind = "drop-tail", packets = 40 }"#, red] {
                is_the_same_run(&dumbbell(flows, access, queue));
            }
        }
    }
}

#[test]
fn lookahead_does_not_change_an_association() {
    let settings = [
        "",
        "message_bytes = 300\nstreams = 3",
        "message_bytes = 5000\nunordered = true",
        "timestamp_chunk = \"agreed\"\nretransmit_bit = true\nreceive_window_bytes = 20_000",
        "nagle = true\nmessage_bytes = 700\nsack_delay_ms = 0\nsack_every = 1",
    ];
    let links = [
        "rate_bps = 1_000_000\ndelay_ms = 100\nqueue = { kind = \"drop-tail\", packets = 100 }",
        "rate_bps = 5_000_000\ndelay_ms = 20\nqueue = { kind = \"drop-tail\", packets = 9 }",
        "rate_bps = 2_000_000\ndelay_ms = 30\nloss = { kind = \"random\", rate = 0.02 }\nback = { loss = { kind = \"random\", rate = 0.05 } }",
    ];
    for link in links {
        for settings in settings {
            is_the_same_run(&format!(
                "duration_s = 60\n[point_to_point]\n{link}\n[sctp]\n{settings}\n[[flow]]\nname = \"main\"\nfrom = \"sender\"\n\
                 to = \"receiver\"\ntransport = \"sctp\"\napplication = {{ kind = \"bulk\", endless = true }}\n{}",
                SPIKES.replace("LINKS", "bottleneck\", \"bottleneck-back").replace("HOLDS", "arriving")
            ));
        }
    }
}

/// A flow with `end_s` stops at exactly that time, so its ends are not evaluated ahead.
#[test]
fn a_flow_with_an_end_has_the_same_outcome_observed_or_not() {
    let link = "rate_bps = 1_000_000\ndelay_ms = 100\nqueue = { kind = \"drop-tail\", packets = 30 }";
    for end_s in ["7.123_4", "10", "29.9"] {
        for spikes in [("bottleneck", "sending"), ("bottleneck-back", "arriving")] {
            is_the_same_run(&format!("{}\nend_s = {end_s}\n", path(link, 7.5, spikes)));
        }
        is_the_same_run(&format!(
            "duration_s = 30\n[point_to_point]\n{link}\n[[flow]]\nname = \"main\"\nfrom = \"sender\"\nto = \"receiver\"\n\
             transport = \"sctp\"\napplication = {{ kind = \"bulk\", endless = true }}\nend_s = {end_s}\n"
        ));
    }
}
