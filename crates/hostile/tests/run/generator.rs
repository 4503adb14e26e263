//! Checks that the generator draws each feature often enough.

use eifel_hostile::generate;
use toml::{Table, Value};

const SEEDS: u64 = 4000;

/// Returns whether any value at this key, anywhere in the scenario, satisfies `is`.
fn any(table: &Table, key: &str, is: &dyn Fn(&Value) -> bool) -> bool {
    table.iter().any(|(name, value)| (name == key && is(value)) || inside(value, key, is))
}

fn inside(value: &Value, key: &str, is: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Table(table) => any(table, key, is),
        Value::Array(list) => list.iter().any(|one| inside(one, key, is)),
        _ => false,
    }
}

fn word(value: &Value, word: &str) -> bool {
    value.as_str() == Some(word)
}

fn of_kind(value: &Value, kind: &str) -> bool {
    value.get("kind").is_some_and(|value| word(value, kind))
}

fn number(value: &Value) -> f64 {
    value.as_float().or(value.as_integer().map(|whole| whole as f64)).unwrap_or(f64::NAN)
}

type Feature = (&'static str, f64, fn(&Table) -> bool);

macro_rules! features {
    ($($percent:literal $name:literal: $key:literal $is:expr;)*) => {
        &[$(($name, $percent, |table| any(table, $key, &$is))),*]
    };
}

/// Each feature with the least percentage of scenarios that must have it.
const FEATURES: &[Feature] = features! {
    // The whole scenario.
    5.0 "headers of their own": "header_bytes" |_| true;
    5.0 "IPv6": "ip" |value| word(value, "ipv6");
    5.0 "a proxy": "proxy" |_| true;
    15.0 "SCTP": "transport" |value| word(value, "sctp");
    10.0 "two paths": "alternates" |_| true;
    10.0 "a send buffer": "send_buffer_bytes" |_| true;
    10.0 "several flows": "flow" |value| value.as_array().is_some_and(|flows| flows.len() > 1);
    15.0 "small segments": "payload_bytes" |value| number(value) <= 200.0;
    // Links.
    5.0 "an unlimited rate": "rate_bps" |value| word(value, "unlimited");
    5.0 "a recorded link": "trace" |_| true;
    10.0 "no delay": "delay_ms" |value| number(value) == 0.0;
    10.0 "rates that change": "rate_changes" |_| true;
    25.0 "listed drops": "drops" |_| true;
    25.0 "duplicates": "duplicate" |_| true;
    15.0 "reordering by rate": "reorder" |value| value.get("rate").is_some();
    15.0 "listed reordering": "reorder" |value| value.get("segments").is_some();
    5.0 "a path that carries nothing": "loss" |value| value.get("rate").is_some_and(|rate| number(rate) == 1.0);
    25.0 "random loss": "loss" |value| of_kind(value, "random");
    25.0 "loss in bursts": "loss" |value| of_kind(value, "gilbert-elliott");
    5.0 "loss by length": "loss" |value| {
        of_kind(value, "larger-than")
            || value.as_array().is_some_and(|losses| losses.iter().any(|loss| of_kind(loss, "larger-than")))
    };
    5.0 "packets that are late": "late_ms" |_| true;
    20.0 "drop-tail by packets": "queue" |value| of_kind(value, "drop-tail") && value.get("packets").is_some();
    10.0 "drop-tail by bytes": "queue" |value| of_kind(value, "drop-tail") && value.get("bytes").is_some();
    10.0 "an unlimited queue": "queue" |value| of_kind(value, "unlimited");
    8.0 "RED": "queue" |value| of_kind(value, "red");
    8.0 "adaptive RED": "queue" |value| of_kind(value, "adaptive-red");
    6.0 "CoDel": "queue" |value| of_kind(value, "codel");
    6.0 "FQ-CoDel": "queue" |value| of_kind(value, "fq-codel");
    4.0 "FQ-CoDel of several queues": "queues" |value| number(value) > 1.0;
    5.0 "outages": "outage" |value| inside(value, "at", &|_| true);
    5.0 "changes of delay": "delay_changes" |_| true;
    5.0 "jitter": "jitter" |value| inside(value, "keeps_order", &|_| true);
    20.0 "listed spikes": "spike" |value| inside(value, "at", &|_| true);
    8.0 "drawn spikes": "spike" |value| inside(value, "first_s", &|_| true);
    15.0 "spikes at the transmitter": "holds" |value| word(value, "sending");
    15.0 "spikes at the far end": "holds" |value| word(value, "arriving");
    // Flows.
    30.0 "bulk": "application" |value| of_kind(value, "bulk");
    30.0 "an exchange": "application" |value| of_kind(value, "exchange");
    12.0 "requests and responses": "application" |value| of_kind(value, "request-response");
    10.0 "a bulk of more than 20 000 bytes": "application" |value| {
        of_kind(value, "bulk") && value.get("bytes").is_some_and(|bytes| number(bytes) > 20_000.0)
    };
    4.0 "messages at intervals": "application" |value| of_kind(value, "messages");
    3.0 "a flow that is stopped": "end_s" |_| true;
    20.0 "a late start": "start_s" |_| true;
    10.0 "no handshake": "handshake" |value| value.as_bool() == Some(false);
    5.0 "a simultaneous open": "handshake" |value| word(value, "simultaneous");
    20.0 "a slow reader": "reading" |_| true;
    40.0 "numbers that wrap": "isn" |value| value.as_array().is_some_and(|isns| isns.iter().all(|isn| number(isn) > 3e9));
    10.0 "an answering stack of its own": "answering_tcp" |_| true;
    10.0 "an answering sender of its own": "answering_sender" |_| true;
    20.0 "observers": "observers" |_| true;
    // Associations.
    4.0 "heartbeats": "heartbeat_interval_s" |value| number(value) > 0.0;
    2.0 "no heartbeats": "heartbeat_interval_s" |value| number(value) == 0.0;
    // Connections.
    5.0 "a window below a segment": "tcp" |tcp| {
        let of = |key: &str| tcp.get(key).map(number);
        of("receive_window_bytes").zip(of("payload_bytes")).is_some_and(|(window, payload)| window < payload)
    };
    5.0 "no window scale": "window_scale" |value| word(value, "off");
    10.0 "a window scale": "window_scale" |value| value.as_integer().is_some();
    20.0 "no timestamps": "timestamps" |value| value.as_bool() == Some(false);
    20.0 "distinct timestamps": "timestamp_values" |value| word(value, "distinct");
    20.0 "a clock for timestamps": "timestamp_values" |value| word(value, "clock");
    20.0 "timestamps that wrap": "timestamp_offset" |value| number(value) > 4e9;
    8.0 "echoes on duplicates": "timestamp_echo" |value| word(value, "on-duplicates");
    10.0 "marks by bits": "retransmission_marks" |value| word(value, "bits");
    3.0 "marks by timestamps": "retransmission_marks" |value| word(value, "timestamps");
    20.0 "no SACK": "sack" |value| value.as_bool() == Some(false);
    5.0 "no DSACK": "dsack" |value| value.as_bool() == Some(false);
    10.0 "Nagle": "nagle" |value| value.as_bool() == Some(true);
    10.0 "empty window probes": "window_probe" |value| word(value, "empty");
    5.0 "a FIN whatever cwnd": "fin_beyond_cwnd" |value| value.as_bool() == Some(true);
    8.0 "Linux at both ends": "profile" |value| word(value, "linux");
    15.0 "SACK beside data": "out_of_order_ack" |value| word(value, "with-data");
    8.0 "quick ACKs": "quick_acks" |_| true;
    10.0 "receive offload": "gro_wait_ms" |_| true;
    5.0 "receive offload of few segments": "gro_segments" |_| true;
    10.0 "delayed ACKs that wait for nothing": "delayed_ack_ms" |value| number(value) == 0.0;
    5.0 "ends that give up": "give_up_timeouts" |value| number(value) <= 15.0;
    3.0 "a user timeout": "user_timeout_s" |_| true;
    5.0 "a TIME-WAIT that reopens": "time_wait" |value| word(value, "reopens");
    5.0 "a short TIME-WAIT": "time_wait_s" |value| number(value) <= 240.0;
};

#[test]
fn each_feature_is_drawn_often_enough() {
    let mut counts = vec![0_u64; FEATURES.len()];
    for seed in 0..SEEDS {
        let scenario = generate::scenario(seed);
        for (count, (_, _, has)) in counts.iter_mut().zip(FEATURES) {
            *count += u64::from(has(&scenario));
        }
    }
    let percent = |count: u64| 100.0 * count as f64 / SEEDS as f64;
    let counted = FEATURES.iter().zip(&counts).map(|(&(name, least, _), &count)| (name, least, percent(count)));
    let rare: Vec<_> = counted.filter(|&(_, least, found)| found < least).collect();
    assert!(rare.is_empty(), "name, percent wanted, percent found: {rare:#?}");
}

#[test]
fn the_second_path_of_an_association_joins_the_second_addresses_of_its_ends() {
    let mut seen = [0; 2];
    for seed in 0..SEEDS {
        let scenario = generate::scenario(seed);
        for flow in scenario["flow"].as_array().expect("an array") {
            let Some(alternate) = flow.get("alternates").map(|all| &all[0]) else { continue };
            for end in ["from", "to"] {
                let host = flow[end].as_str().expect("a name");
                assert!(word(&alternate[end], &format!("{host}-2")), "seed {seed}: {flow}");
            }
            seen[usize::from(word(&flow["from"], "sender"))] += 1;
        }
    }
    assert!(seen.iter().all(|flows| *flows > 100), "{seen:?}");
}

#[test]
fn an_answering_stacks_segments_are_at_least_an_eighth_of_the_others() {
    let mut seen = 0;
    for seed in 0..SEEDS {
        let scenario = generate::scenario(seed);
        for flow in scenario["flow"].as_array().expect("an array") {
            let payload = |table: &str| flow.get(table)?.get("payload_bytes").map(number);
            if let (Some(own), Some(other)) = (payload("tcp"), payload("answering_tcp")) {
                assert!(other >= (own / 8.0).floor().max(1.0) && other <= own, "seed {seed}: {flow}");
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn the_same_seed_is_the_same_scenario_and_another_is_another() {
    assert_eq!(generate::scenario(17), generate::scenario(17));
    assert_ne!(generate::scenario(17), generate::scenario(18));
}
