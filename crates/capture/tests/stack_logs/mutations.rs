//! Changes to logs that add or take away knowledge must not turn a verdict into its opposite with
//! certainty: logs cut at the start or at the end, events of one time in another order, and events
//! and fields that nobody knows.

use super::{PAIRS, judge, log};
use eifel_capture::quic::{LossVerdict, Losses, analyse};
use eifel_capture::result::Confidence;
use eifel_testkit::random::Random;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const VARIANTS: u64 = 30;

/// A log as its parts: the file without events, and the events.
struct Parts {
    head: Value,
    events: Vec<Value>,
    sequence: bool,
}

impl Parts {
    fn of(text: &str) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(mut head) => {
                let events = head["traces"][0]["events"].take();
                Self { head, events: events.as_array().unwrap().clone(), sequence: false }
            }
            Err(_) => {
                let records = text.split(['\n', '\u{1e}']).filter(|record| !record.trim().is_empty());
                let mut records = records.map(|record| serde_json::from_str(record).unwrap());
                Self { head: records.next().unwrap(), events: records.collect(), sequence: true }
            }
        }
    }

    fn text(&self) -> String {
        if self.sequence {
            let records = std::iter::once(&self.head).chain(&self.events);
            return records.map(|record| format!("\u{1e}{record}\n")).collect();
        }
        let mut whole = self.head.clone();
        whole["traces"][0]["events"] = self.events.clone().into();
        whole.to_string()
    }

    fn change(&mut self, random: &mut Random) {
        let length = self.events.len() as u64;
        match random.below(4) {
            0 => self.events.truncate(random.below(length + 1) as usize),
            1 => drop(self.events.drain(..random.below(length + 1) as usize)),
            2 => self.shuffle_equal_times(random),
            _ if length > 0 => self.add_unknown(random),
            _ => {}
        }
    }

    fn shuffle_equal_times(&mut self, random: &mut Random) {
        let time = |event: &Value| event.get("time").or_else(|| event.get(0)).cloned();
        for _ in 0..4 {
            for place in 1..self.events.len() {
                if time(&self.events[place - 1]) == time(&self.events[place]) && random.below(2) == 0 {
                    self.events.swap(place - 1, place);
                }
            }
        }
    }

    fn add_unknown(&mut self, random: &mut Random) {
        for event in &mut self.events {
            let last = event.as_array().map_or(0, |values| values.len().saturating_sub(1));
            let data = if event.is_array() { &mut event[last] } else { &mut event["data"] };
            if data.is_object() && random.below(3) == 0 {
                data["unheard_of"] = json!({ "packet_number": 7, "frames": [{ "frame_type": "ack" }] });
                if let Some(frames) = data.get_mut("frames").and_then(Value::as_array_mut) {
                    frames.push(json!({ "frame_type": "unheard_of", "acked_ranges": "none" }));
                }
            }
        }
        let place = random.below(self.events.len() as u64) as usize;
        let mut unknown = self.events[place].clone();
        if unknown.is_array() {
            let name = unknown.as_array().map_or(0, |values| values.len() - 2);
            unknown[name] = "unheard_of".into();
        } else {
            unknown["name"] = "unheard:of".into();
        }
        self.events.insert(place, unknown);
    }
}

/// A file, path and packet number, and the number space.
type Lost = (String, Option<u64>, &'static str, u64);

fn certain(losses: &Losses) -> BTreeMap<Lost, LossVerdict> {
    let told = losses.packets.iter().filter(|one| one.confidence == Confidence::Certain);
    let key = |trace: usize| losses.traces[trace].file.clone();
    told.map(|one| ((key(one.trace), one.path_id, one.space, one.packet_number), one.verdict)).collect()
}

#[test]
fn no_change_of_a_log_turns_a_certain_verdict_into_its_opposite() {
    let (mut changed, mut kept) = (0, 0);
    for (pair, end) in PAIRS {
        let names = [format!("{pair}_server.{end}"), format!("{pair}_client.{end}")];
        let whole = certain(&judge(&[&names[0], &names[1]]));
        let texts = [log(&names[0]), log(&names[1])];
        for seed in 0..VARIANTS {
            let mut random = Random(seed);
            let mut parts = [Parts::of(&texts[0]), Parts::of(&texts[1])];
            for _ in 0..=random.below(2) {
                parts[random.below(2) as usize].change(&mut random);
            }
            let variants = parts.map(|parts| parts.text());
            let files = [(&*names[0], &*variants[0]), (&*names[1], &*variants[1])];
            // Both logs, or the sender's alone.
            let found = analyse(&files[..1 + random.below(2) as usize]).unwrap();
            for (packet, verdict) in certain(&found) {
                let before = whole.get(&packet).copied().unwrap_or(verdict);
                assert_eq!(before, verdict, "{pair}, seed {seed}: {packet:?}");
                kept += 1;
            }
            changed += 1;
        }
    }
    assert!(changed == VARIANTS * PAIRS.len() as u64 && kept > 300, "{kept}");
}

#[test]
fn text_that_is_cut_anywhere_is_read_or_refused_in_one_line() {
    for (pair, end) in PAIRS {
        let name = format!("{pair}_client.{end}");
        let text = log(&name);
        let step = text.len() / 60 + 1;
        for cut in (0..text.len()).step_by(step).filter(|cut| text.is_char_boundary(*cut)) {
            if let Err(message) = analyse(&[(&name, &text[..cut])]) {
                assert!(message.starts_with(&format!("{name}: not qlog: ")) && !message.contains('\n'), "{message}");
            }
        }
    }
}
