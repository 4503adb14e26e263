//! A hidden path is a simulated path of which the extraction sees only a capture at the sender.
//! Another sender then runs over the same path, and the stated range has to contain its goodput.
//!
//! Hidden paths have three links where extracted paths have one, and on request other traffic in
//! the queue.

use crate::events::{self, Captured};
use crate::path::Refusal;
use crate::replay;
use crate::whatif::{self, RequestedSender};
use eifel_path::stream::Stream;
use eifel_sim::record::Record;
use serde::Serialize;
use serde_json::{Value, json};

/// The other traffic on the hidden path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CrossTraffic {
    None,
    /// Another bulk transfer.
    Transfer,
    /// Datagrams in bursts.
    Bursts,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Trial {
    pub seed: u64,
    /// Why there is no prediction; `None` if there is one.
    pub refused: Option<String>,
    /// Goodput of the other sender on the hidden path, and of the captured sender, as a capture
    /// next to each shows it.
    pub truth_bps: f64,
    pub captured_bps: f64,
    /// The range that was stated for the other sender; 0 if there is no prediction.
    pub low_bps: f64,
    pub middle_bps: f64,
    pub high_bps: f64,
    /// Share of the draws in which the other sender is faster.
    pub faster: f64,
}

/// Makes a hidden path from this seed. Returns the prediction from `draws` draws, and the truth.
///
/// # Errors
/// The hidden path cannot be run: a fault of the generator.
pub fn trial(seed: u64, cross: CrossTraffic, draws: u32) -> Result<Trial, Refusal> {
    let (hidden, other) = hidden(seed, cross);
    let mut changed = hidden.clone();
    for (key, value) in &other.changes {
        let place = &mut changed["flow"][0]["sender"][key.trim_start_matches("sender.")];
        *place = value.clone();
    }
    // In a dumbbell the routers, `entry` and `exit`, come before the first host on the left.
    let captured = |scenario: &Value| {
        let outcome = replay::simulated(scenario, Record::none().capturing(2))?;
        let capture = outcome.captures.into_iter().next().map(|capture| capture.pcapng);
        events::of_pcapng(&capture.unwrap_or_default()).ok_or_else(|| Refusal("no data were sent".into()))
    };
    let truth_bps = captured(&changed)?.events().goodput_bps();
    let captured = captured(&hidden)?;
    let captured_bps = captured.events().goodput_bps();
    let mut trial = Trial {
        seed,
        refused: None,
        truth_bps,
        captured_bps,
        low_bps: 0.0,
        middle_bps: 0.0,
        high_bps: 0.0,
        faster: 0.0,
    };
    match predict(&captured, &other, (draws, seed)) {
        Ok(found) => {
            let goodput = found.goodput_bps;
            (trial.low_bps, trial.middle_bps, trial.high_bps) = (goodput.low, goodput.middle, goodput.high);
            trial.faster = found.faster;
        }
        Err(Refusal(why)) => trial.refused = Some(why),
    }
    Ok(trial)
}

fn predict(
    captured: &Captured,
    other: &RequestedSender,
    (draws, seed): (u32, u64),
) -> Result<whatif::Predicted, Refusal> {
    let path = captured.path()?;
    let replay = replay::replay(captured, &path)?;
    if let Some(one) = replay.compared.iter().find(|one| !one.agrees) {
        return Err(Refusal(format!("the replay differs in: {}", one.what)));
    }
    let mut found =
        whatif::whatif((captured, &path, &replay), std::slice::from_ref(other), (draws, seed), &mut |_| Ok(()))?;
    found.senders.pop().ok_or_else(|| Refusal("no sender was requested".into()))
}

fn pick<'a>(dice: &mut Stream, of: &[&'a str]) -> &'a str {
    of[dice.below(of.len() as u64) as usize]
}

fn between(dice: &mut Stream, low: f64, high: f64) -> f64 {
    low + (high - low) * dice.unit()
}

/// Returns a hidden path with its captured sender, and the other sender to predict.
pub fn hidden(seed: u64, cross: CrossTraffic) -> (Value, RequestedSender) {
    let dice = &mut Stream::new(seed, &["trial"]);
    let rate = (5e5 * 40_f64.powf(dice.unit())) as u64;
    let delay_ms = 4.0 * 35_f64.powf(dice.unit());
    let in_flight = rate as f64 / 8.0 * 2.0 * delay_ms / 1e3 / 1500.0;
    let queue = (in_flight * between(dice, 0.3, 3.0)).clamp(8.0, 400.0) as u64;
    let mut link = json!({"rate_bps": rate, "delay_ms": delay_ms, "queue": {"kind": "drop-tail", "packets": queue}});
    if dice.chance(0.35) {
        link["loss"] = json!({"kind": "random", "rate": between(dice, 0.001, 0.02)});
    }
    if dice.chance(0.15) {
        let (length, rate) = (1 + dice.below(8), between(dice, 0.002, 0.02));
        link["reorder"] = json!({"length": length, "rate": rate, "longest_wait_s": 0.3});
    }
    let mut back = json!({"rate_bps": rate});
    if dice.chance(0.2) {
        back["loss"] = json!({"kind": "random", "rate": between(dice, 0.01, 0.1)});
    }
    link["back"] = back;
    let mut scenario = json!({
        "seed": dice.below(1 << 40),
        "duration_s": 3000,
        "stop": "first-flow-done",
        "dumbbell": {"left": 2, "right": 2, "bottleneck": link, "access": {"rate_bps": 1_000_000_000, "delay_ms": 0.3}},
    });
    if dice.chance(0.6) {
        let links: &[&[&str]] = &[&["bottleneck"], &["bottleneck-back"], &["bottleneck", "bottleneck-back"]];
        let links = links[dice.below(3) as usize];
        let at: Vec<Value> = (0..1 + dice.below(3))
            .map(|number| {
                let start = 1.0 + 5.0 * number as f64 + between(dice, 0.0, 2.0);
                json!({"start_s": start, "length_s": between(dice, 0.2, 2.5)})
            })
            .collect();
        scenario["spike"] = json!([{"links": links, "holds": pick(dice, &["sending", "arriving"]), "at": at}]);
    }
    let sack = dice.chance(0.8);
    let timestamps = dice.chance(0.7);
    let recoveries: &[&str] =
        if sack { &["rack-tlp", "rfc6675", "newreno-sack", "fack"] } else { &["newreno", "reno"] };
    let detectors: &[&str] = if timestamps { &["none", "eifel-timestamps", "f-rto"] } else { &["none", "f-rto"] };
    let window = 20 + dice.below(200);
    let bytes = (rate as f64 / 8.0 * between(dice, 6.0, 25.0)).min(6e6) as u64;
    let sender = json!({
        "recover": pick(dice, recoveries),
        "detect": pick(dice, detectors),
        "respond": pick(dice, &["rfc4015", "option-1", "none"]),
        "rto": pick(dice, &["linux", "rfc6298"]),
        "congest": pick(dice, &["reno", "cubic"]),
    });
    let mut flows = vec![json!({
        "name": "hidden",
        "from": "left1",
        "to": "right1",
        "application": {"kind": "bulk", "bytes": bytes},
        "tcp": {"payload_bytes": 1448, "receive_window_segments": window, "timestamps": timestamps, "sack": sack},
        "sender": sender,
    })];
    let other = other(dice, &sender, recoveries, detectors);
    match cross {
        CrossTraffic::None => {}
        CrossTraffic::Transfer => flows.push(json!({
            "name": "cross", "from": "left2", "to": "right2", "start_s": between(dice, 0.0, 3.0),
            "application": {"kind": "bulk", "endless": true}, "tcp": {"payload_bytes": 1448},
        })),
        CrossTraffic::Bursts => flows.push(json!({
            "name": "cross", "from": "left2", "to": "right2",
            "application": {
                "kind": "on-off", "rate_bps": rate * (2 + dice.below(6)) / 10, "packet_bytes": 1000,
                "on_ms": between(dice, 50.0, 1000.0), "off_ms": between(dice, 50.0, 2000.0),
            },
        })),
    }
    scenario["flow"] = flows.into();
    (scenario, other)
}

/// Draws a sender that differs from the captured one in one or two seams.
fn other(dice: &mut Stream, sender: &Value, recoveries: &[&str], detectors: &[&str]) -> RequestedSender {
    let mut changes = Vec::new();
    let mut change = |dice: &mut Stream, key: &str, among: &[&str]| {
        let rest: Vec<&str> = among.iter().copied().filter(|name| sender[key] != *name).collect();
        if !rest.is_empty() {
            changes.push((format!("sender.{key}"), Value::from(pick(dice, &rest))));
        }
    };
    match dice.below(4) {
        0 => {
            change(dice, "detect", detectors);
            change(dice, "respond", &["rfc4015", "option-1"]);
        }
        1 => change(dice, "recover", recoveries),
        2 => change(dice, "rto", &["linux", "rfc6298"]),
        _ => {
            change(dice, "detect", detectors);
            change(dice, "recover", recoveries);
        }
    }
    RequestedSender { name: "other".into(), changes }
}
