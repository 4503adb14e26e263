//! Paths that are known exactly: the extraction reads the simulator's captures, and has to return
//! the simulated path.

use eifel_path::stream::Stream;
use eifel_sim::record::Record;
use eifel_whatif::events::{self, Captured};
use eifel_whatif::fifo::Kind;
use eifel_whatif::path::Path;
use eifel_whatif::trial::{CrossTraffic, trial};
use eifel_whatif::whatif::{self, RequestedSender};
use eifel_whatif::{change, replay, scenario};
use serde_json::{Value, json};

/// Returns a transfer of 3 MB at 4 Mbit/s and a round trip of 80 ms, with a queue of 40 packets and
/// a window of 60.
fn known() -> Value {
    json!({
        "duration_s": 300,
        "point_to_point": {
            "rate_bps": 4_000_000, "delay_ms": 40, "queue": {"kind": "drop-tail", "packets": 40},
        },
        "flow": [{
            "name": "main", "from": "sender", "to": "receiver",
            "application": {"kind": "bulk", "bytes": 3_000_000},
            "tcp": {"payload_bytes": 1448, "receive_window_segments": 60, "timestamp_values": "clock"},
            "sender": {"recover": "rfc6675", "detect": "none", "respond": "none", "rto": "linux", "congest": "reno"},
        }],
    })
}

fn captured(scenario: &Value) -> Captured {
    let outcome = replay::simulated(scenario, Record::none().capturing(0)).expect("it runs");
    events::of_pcapng(&outcome.captures[0].pcapng).expect("it is a capture")
}

fn path(scenario: &Value) -> Path {
    captured(scenario).path().expect("it shows a path")
}

fn near(found: f64, expected: f64, share: f64) {
    assert!((found / expected - 1.0).abs() < share, "{found}, not {expected}");
}

#[test]
fn rate_delay_and_queue_are_found_without_overflow() {
    let found = path(&known());
    near(found.rate_bps, 4e6, 0.002);
    // The base round trip includes the transmission of the ACK, 52 bytes at 4 Mbit/s.
    near(found.base_rtt_ms, 80.104, 0.002);
    assert!(found.rate_seen && !found.queue.overflowed);
    assert!(found.holds.is_empty(), "{:?}", found.holds);
    assert_eq!((found.losses.at_queue, found.losses.random, found.reordering.packets, found.acks.lost), (0, 0, 0, 0));
    assert_eq!((found.ends.payload_bytes, found.ends.bytes, found.ends.initial_window), (1448, 3_000_000, 10));
}

#[test]
fn the_limit_of_an_overflowed_queue_is_found() {
    let mut scenario = known();
    scenario["flow"][0]["tcp"]["receive_window_segments"] = 200.into();
    let found = path(&scenario);
    assert!(found.queue.overflowed && found.losses.at_queue > 0);
    assert_eq!((found.queue.largest_packets, found.losses.random), (40, 0));
}

#[test]
fn losses_of_known_segments_are_random_ones() {
    let mut scenario = known();
    scenario["point_to_point"]["drops"] =
        json!([{"flow": "main", "segments": [300, 700, 1500]}, {"flow": "main", "segments": [1100], "copies": 2}]);
    let found = path(&scenario);
    assert_eq!(found.losses.segments, [(300, 1), (700, 1), (1100, 2), (1500, 1)]);
    assert_eq!((found.losses.at_queue, found.losses.random), (0, 5));
}

#[test]
fn holds_and_how_they_release_packets_are_found() {
    for (holds, links, kind, end) in [
        ("sending", "bottleneck", Kind::Sending, 3.5),
        ("arriving", "bottleneck", Kind::Arriving, 3.5 - 0.04),
        ("arriving", "bottleneck-back", Kind::Back, 3.5 - 0.08),
    ] {
        let mut scenario = known();
        scenario["spike"] = json!([{"links": [links], "holds": holds, "at": [{"start_s": 2.0, "end_s": 3.5}]}]);
        let found = path(&scenario);
        let [hold] = found.holds.as_slice() else { panic!("{holds} {links}: {:?}", found.holds) };
        assert_eq!(hold.kind, kind, "{links}");
        assert!((hold.end_s - end).abs() < 0.0005, "{links}: {}, not {end}", hold.end_s);
        let start = end - 1.5;
        let (from, to) = hold.start_s;
        assert!(from - 0.004 <= start && start <= to + 0.004, "{links}: {start} is not within {:?}", hold.start_s);
    }
}

#[test]
fn a_pause_too_short_for_a_hold_affects_few_answers() {
    let mut scenario = known();
    let link = json!({"rate_bps": 40_000_000, "delay_ms": 40, "queue": {"kind": "drop-tail", "packets": 400}});
    scenario["point_to_point"] = link;
    scenario["flow"][0]["tcp"]["receive_window_segments"] = 450.into();
    let clean = path(&scenario);
    // After a pause, the transmitter stays late by its length while packets wait for each other.
    scenario["spike"] =
        json!([{"links": ["bottleneck"], "holds": "sending", "at": [{"start_s": 0.8, "end_s": 0.806}]}]);
    let found = path(&scenario);
    assert!(found.holds.is_empty(), "{:?}", found.holds);
    assert!(found.explained > clean.explained - 0.01, "{} beside {}", found.explained, clean.explained);
}

#[test]
fn the_length_of_reordering_is_found() {
    let mut scenario = known();
    scenario["point_to_point"]["reorder"] = json!({"flow": "main", "segments": [400, 900, 1300], "length": 5});
    let found = path(&scenario);
    assert_eq!((found.reordering.segments.as_slice(), found.reordering.length), ([400, 900, 1300].as_slice(), 5));
    assert_eq!(found.losses.random, 0);
}

#[test]
fn the_replay_of_the_real_sender_has_the_same_events() {
    let mut scenario = known();
    scenario["spike"] = json!([{"links": ["bottleneck"], "holds": "sending", "at": [{"start_s": 2.0, "end_s": 3.5}]}]);
    let captured = captured(&scenario);
    let path = captured.path().expect("it shows a path");
    let again = replay::run(&scenario::as_seen(&path, &scenario["flow"][0]["sender"], 1)).expect("it runs");
    let events = captured.events();
    assert_eq!((again.retransmissions, again.timeouts), (events.retransmissions, events.timeouts));
    near(again.took_s, events.took_s, 0.01);
    let found = replay::replay(&captured, &path).expect("it runs");
    assert!(found.agrees, "{:?}", found.compared);
}

#[test]
fn a_sender_that_grows_as_linux_does_is_found() {
    // Linux's slow start fills a short queue in other steps than the RFC's, so other segments are
    // lost.
    let mut scenario = known();
    let queue = json!({"kind": "drop-tail", "packets": 20});
    scenario["point_to_point"] = json!({"rate_bps": 2_000_000, "delay_ms": 50, "queue": queue});
    scenario["flow"][0]["tcp"]["receive_window_segments"] = 200.into();
    for congest in [
        json!({"name": "reno", "counting": "linux", "grow": "when-limiting-window"}),
        json!({"name": "cubic", "curve": "linux", "counting": "linux", "grow": "when-limiting-window", "slow_start": "hystart"}),
    ] {
        scenario["flow"][0]["sender"]["congest"] = congest.clone();
        scenario["flow"][0]["sender"]["recover"] = "rack-tlp".into();
        let captured = captured(&scenario);
        let path = captured.path().expect("it shows a path");
        assert!(path.queue.overflowed, "{congest}");
        let found = replay::replay(&captured, &path).expect("it runs");
        assert!(found.agrees, "{congest}: {:?}", found.compared);
        let table = &found.sender["congest"];
        assert_eq!((&table["name"], &table["counting"]), (&congest["name"], &"linux".into()), "{table}");
    }
}

#[test]
fn a_prediction_holds_the_truth_and_names_the_faster_sender() {
    let mut scenario = known();
    scenario["spike"] = json!([{"links": ["bottleneck"], "holds": "sending", "at": [{"start_s": 2.0, "end_s": 3.5}]}]);
    let shown = captured(&scenario);
    let path = shown.path().expect("it shows a path");
    let replay = replay::replay(&shown, &path).expect("it runs");
    let changes = [("detect", "eifel-timestamps"), ("respond", "rfc4015")];
    let asked = RequestedSender {
        name: "eifel".into(),
        changes: changes.map(|(key, value)| (format!("sender.{key}"), value.into())).to_vec(),
    };
    let found = whatif::whatif((&shown, &path, &replay), &[asked], (20, 1), &mut |_| Ok(())).expect("it runs");
    for (key, value) in changes {
        scenario["flow"][0]["sender"][key] = value.into();
    }
    let truth = captured(&scenario).events().goodput_bps();
    let range = found.senders[1].goodput_bps;
    assert!(range.low <= truth && truth <= range.high, "{truth} is not within {range:?}");
    assert!(found.senders[1].faster > 0.7, "{}", found.senders[1].faster);
}

/// A sender learns of the last byte's arrival half a round trip later, and later still if the ACK
/// is delayed.
#[test]
fn predicted_and_captured_times_end_with_the_same_data() {
    let mut scenario = known();
    scenario["flow"][0]["application"]["bytes"] = 200_000.into();
    scenario["point_to_point"]["delay_ms"] = 200.into();
    let shown = captured(&scenario);
    let path = shown.path().expect("it shows a path");
    let replay = replay::replay(&shown, &path).expect("it runs");
    let found = whatif::whatif((&shown, &path, &replay), &[], (20, 1), &mut |_| Ok(())).expect("it runs");
    let (range, took) = (found.senders[0].time_s, shown.events().took_s);
    assert!(range.low <= took && took <= range.high, "{took} is not within {range:?}");
    assert!(range.high < 1.03 * range.low, "{range:?}");
    near(found.captured_goodput_bps, 200_000.0 * 8.0 / took, 1e-9);
}

#[test]
fn other_traffic_in_the_queue_is_refused() {
    let mut scenario = known();
    let link = scenario["point_to_point"].take();
    scenario.as_object_mut().expect("it is a table").remove("point_to_point");
    scenario["dumbbell"] =
        json!({"left": 2, "right": 2, "bottleneck": link, "access": {"rate_bps": 1_000_000_000, "delay_ms": 0.1}});
    scenario["stop"] = "first-flow-done".into();
    let mut flow = scenario["flow"][0].clone();
    (flow["from"], flow["to"]) = ("left1".into(), "right1".into());
    scenario["flow"] = json!([flow, {
        "name": "other", "from": "left2", "to": "right2", "start_s": 0.5,
        "application": {"kind": "bulk", "endless": true}, "tcp": {"payload_bytes": 1000},
    }]);
    let outcome = replay::simulated(&scenario, Record::none().capturing(2)).expect("it runs");
    let captured = events::of_pcapng(&outcome.captures[0].pcapng).expect("it is a capture");
    let refused = match captured.path() {
        Err(_) => true,
        Ok(path) => !replay::replay(&captured, &path).expect("it runs").agrees,
    };
    assert!(refused);
}

#[test]
fn an_application_that_pauses_is_refused() {
    let mut scenario = known();
    scenario["flow"][0]["application"] = json!({"kind": "request-response", "requests": 8, "request_bytes": 100_000, "response_bytes": 10, "think_ms": 500});
    let refused = captured(&scenario).path().expect_err("it pauses");
    assert!(refused.0.contains("application paused 7 times"), "{}", refused.0);
}

#[test]
fn an_unknown_key_of_a_change_is_named() {
    let mut scenario = known();
    for (key, said) in [("flow.other.sender.rto", "\"other\" is no key"), ("seed.x", "\"x\" is no key")] {
        scenario["seed"] = 1.into();
        let error = change::put(&mut scenario, key, 1.into()).expect_err("there is no such key");
        assert!(error.0.contains(said), "{}", error.0);
    }
}

#[test]
fn a_trial_is_the_same_each_time() {
    let twice = [0, 1].map(|_| trial(5, CrossTraffic::None, 5).expect("it runs"));
    assert_eq!(twice[0], twice[1]);
}

#[test]
fn losses_that_come_in_runs_are_drawn_in_bursts() {
    let sender = known()["flow"][0]["sender"].clone();
    let mut path = path(&known());
    let mut loss = |random: u32, runs: u32| {
        (path.losses.random, path.losses.runs) = (random, runs);
        let drawn = scenario::drawn(&path, &sender, &mut Stream::new(1, &["draws"]));
        drawn["point_to_point"]["loss"].clone()
    };
    assert_eq!(loss(0, 0), Value::Null);
    assert_eq!(loss(6, 5)["kind"], "random");
    // A run lasts three packets.
    let bursts = loss(6, 2);
    assert_eq!(bursts["kind"], "gilbert-elliott");
    near(bursts["bad_to_good"].as_f64().expect("a number"), 1.0 / 3.0, 1e-9);
}
