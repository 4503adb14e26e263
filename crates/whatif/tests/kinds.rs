//! Captures of receivers, clocks and applications of other kinds than hidden paths have, and captures that missed frames.

use std::fmt::Write;

use eifel_capture::read::Reader;
use eifel_golden::{digest, golden, rounded};
use eifel_packet::pcapng::{Packet, Writer};
use eifel_path::stream::Stream;
use eifel_sim::record::Record;
use eifel_whatif::trial::{Cross, hidden};
use eifel_whatif::{events, replay, scenario};
use serde_json::{Value, json};

const SEEDS: u64 = 60;

fn one_of(dice: &mut Stream, values: &[Value]) -> Value {
    values[dice.below(values.len() as u64) as usize].clone()
}

/// A hidden path whose receiver, clocks and application are drawn too.
fn drawn(seed: u64) -> Value {
    let (mut scenario, _) = hidden(1000 + seed, Cross::None);
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

/// Copies a capture without some of its frames: each is left out with this probability, or all before a number.
fn thinned(pcapng: &[u8], missed: f64, before: u64, dice: &mut Stream) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "test").unwrap();
    let interface = writer.interface("sender").unwrap();
    let mut reader = Reader::new();
    reader.feed(pcapng);
    while let Some(frame) = reader.frame().unwrap() {
        if frame.number > before && !dice.chance(missed) {
            let packet = Packet { bytes: frame.bytes, wire_len: frame.wire_len, comment: None };
            writer.packet(interface, frame.nanos, packet).unwrap();
        }
    }
    writer.finish().unwrap()
}

/// What is made of a capture: its events, its path, and the scenarios of both kinds.
fn made(text: &mut String, pcapng: &[u8], sender: &Value, seed: u64) {
    let Some(captured) = events::of_pcapng(pcapng) else {
        writeln!(text, "nothing was sent").unwrap();
        return;
    };
    let json = |value: Value| rounded(&value.to_string());
    writeln!(text, "{}", json(serde_json::to_value(captured.events()).unwrap())).unwrap();
    match captured.path() {
        Ok(path) => {
            let whole = json(serde_json::to_value(&path).unwrap());
            let seen = json(scenario::as_seen(&path, sender, seed));
            writeln!(text, "{}\n{} {}", json(serde_json::to_value(&path.ends).unwrap()), digest(whole), digest(seen))
                .unwrap();
        }
        Err(refusal) => writeln!(text, "{}", refusal.0).unwrap(),
    }
}

#[test]
fn paths_of_other_ends_are_extracted_as_before() {
    let mut text = String::new();
    for seed in 0..SEEDS {
        let scenario = drawn(seed);
        let outcome = replay::simulated(&scenario, Record::none().capturing(2)).unwrap();
        let (pcapng, sender) = (&outcome.captures[0].pcapng, &scenario["flow"][0]["sender"]);
        writeln!(text, "# {seed}").unwrap();
        made(&mut text, pcapng, sender, seed);
        let dice = &mut Stream::new(seed, &["missed"]);
        let (missed, before) =
            if seed % 3 == 0 { (0.0, 2 + dice.below(100)) } else { (0.001 * dice.below(20) as f64, 0) };
        let thin = thinned(pcapng, missed, before, dice);
        made(&mut text, &thin, sender, seed);
    }
    golden!("kinds.txt", text);
}
