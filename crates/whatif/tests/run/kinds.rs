//! Captures with other kinds of receivers, clocks and applications than hidden paths have, and
//! captures with missing frames.

use eifel_capture::frame::read::Reader;
use eifel_packet::pcapng::{Packet, Writer};
use eifel_path::stream::Stream;
use eifel_sim::record::Record;
use eifel_testkit::{digest, golden, rounded};
use eifel_whatif::trial::{CrossTraffic, hidden};
use eifel_whatif::{events, replay, scenario};
use serde::Serialize;
use serde_json::{Value, json};

const SEEDS: u64 = 60;

fn one_of(dice: &mut Stream, values: &[Value]) -> Value {
    values[dice.below(values.len() as u64) as usize].clone()
}

/// Returns a hidden path whose receiver, clocks and application are also drawn.
fn drawn(seed: u64) -> Value {
    let (mut scenario, _) = hidden(1000 + seed, CrossTraffic::None);
    let dice = &mut Stream::new(seed, &["kinds"]);
    let flow = &mut scenario["flow"][0];
    let tcp = &mut flow["tcp"];
    let mut set = |dice: &mut Stream, key: &str, values: &[Value]| tcp[key] = one_of(dice, values);
    set(dice, "delayed_ack_every", &[json!(1), json!(2), json!(3), json!(8)]);
    set(dice, "delayed_ack_ms", &[json!(0), json!(40), json!(50), json!(100), json!(200), json!(300)]);
    set(dice, "payload_bytes", &[json!(500), json!(1000), json!(1448)]);
    set(dice, "window_scale", &[json!("fit"), json!("fit"), json!(0), json!(7)]);
    if tcp["timestamps"] == true {
        tcp["timestamp_values"] = json!("clock");
        tcp["timestamp_granularity_ms"] = one_of(dice, &[json!(0.001), json!(1), json!(4), json!(10), json!(100)]);
    }
    if dice.chance(0.3) {
        tcp["receive_window_segments"] = json!(4 + dice.below(12));
        flow["reading"] = json!({"bytes": 6000, "every_ms": 20 + dice.below(60)});
    }
    if dice.chance(0.3) {
        flow["application"] = json!({"kind": "bulk", "bytes": 1000 + dice.below(300_000)});
    }
    scenario
}

/// Copies a capture without some of its frames: each is left out with probability `missed`, and all
/// up to number `before`.
fn thinned(pcapng: &[u8], missed: f64, before: u64, dice: &mut Stream) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "test").expect("memory takes all");
    let interface = writer.interface("sender").expect("memory takes all");
    let mut reader = Reader::new();
    reader.feed(pcapng);
    while let Some(frame) = reader.frame().expect("a whole capture") {
        if frame.number > before && !dice.chance(missed) {
            let packet = Packet { bytes: frame.bytes, wire_len: frame.wire_len, comment: None };
            writer.packet(interface, frame.nanos, packet).expect("memory takes all");
        }
    }
    writer.finish().expect("memory takes all")
}

fn json(value: impl Serialize) -> String {
    rounded(&serde_json::to_value(value).expect("text from numbers").to_string())
}

/// Appends the results of a capture: its events, its ends, and digests of its path and of its
/// scenario.
fn made(text: &mut String, pcapng: &[u8], sender: &Value, seed: u64) {
    let Some(captured) = events::of_pcapng(pcapng) else {
        text.push_str("nothing was sent\n");
        return;
    };
    text.push_str(&json(captured.events()));
    text.push('\n');
    match captured.path() {
        Ok(path) => {
            let (whole, seen) = (digest(json(&path)), digest(json(scenario::as_seen(&path, sender, seed))));
            text.push_str(&format!("{}\n{whole} {seen}\n", json(path.ends)));
        }
        Err(refusal) => text.push_str(&format!("{}\n", refusal.0)),
    }
}

#[test]
fn extracted_paths_of_other_ends_match_the_golden() {
    let mut text = String::new();
    for seed in 0..SEEDS {
        let scenario = drawn(seed);
        let outcome = replay::simulated(&scenario, Record::none().capturing(2)).unwrap();
        let (pcapng, sender) = (&outcome.captures[0].pcapng, &scenario["flow"][0]["sender"]);
        text.push_str(&format!("# {seed}\n"));
        made(&mut text, pcapng, sender, seed);
        let dice = &mut Stream::new(seed, &["missed"]);
        let (missed, before) =
            if seed % 3 == 0 { (0.0, 2 + dice.below(100)) } else { (0.001 * dice.below(20) as f64, 0) };
        let thin = thinned(pcapng, missed, before, dice);
        made(&mut text, &thin, sender, seed);
    }
    golden!("kinds.txt", text);
}
