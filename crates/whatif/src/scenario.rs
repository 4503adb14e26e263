//! The path as a scenario of the simulator, in JSON: as the capture shows it, or with the
//! properties drawn that the capture leaves open.

use crate::acks::USUAL_DELAYS_S;
use crate::fifo::{Hold, Kind};
use crate::path::Path;
use eifel_path::stream::Stream;
use serde_json::{Map, Value, json};

pub const FLOW: &str = "captured";
/// A queue that never overflowed may be longer than the most that it held, by up to this factor.
const LONGEST_QUEUE: f64 = 4.0;
/// A path whose packets never waited may be faster than observed, by up to this factor.
const FASTEST: f64 = 8.0;
/// Relative errors of the rate and of the base delay.
const RATE_ERROR: f64 = 0.003;
const BASE_ERROR: f64 = 0.01;
/// Losses in runs longer than this on average are bursts.
const BURSTS: f64 = 1.5;

/// One value for each property that a capture leaves open.
#[derive(Clone, PartialEq, Debug)]
struct Choice {
    rate_bps: f64,
    base_s: f64,
    /// `None` for no limit.
    queue_packets: Option<u32>,
    /// Start and end in seconds, and how packets are released.
    holds: Vec<(f64, f64, Kind)>,
    /// Rate of random loss, and of the loss of ACKs.
    loss: f64,
    ack_loss: f64,
    ack_delay_ms: f64,
    reordered: f64,
    seed: u64,
}

/// Returns the path as observed: losses and reordering hit the same segments as in the capture.
/// Only the choice of lost ACKs is drawn, from `seed`.
pub fn as_seen(path: &Path, sender: &Value, seed: u64) -> Value {
    let choice = Choice {
        rate_bps: path.rate_bps,
        base_s: path.base_rtt_ms / 1e3,
        queue_packets: path.queue.overflowed.then_some(path.queue.largest_packets),
        holds: path.holds.iter().map(|hold| (middle(hold.start_s), hold.end_s, hold.kind)).collect(),
        loss: 0.0,
        ack_loss: share(path.acks.lost, path.acks.lost + path.acks.heard),
        ack_delay_ms: path.acks.delay_ms,
        reordered: 0.0,
        seed,
    };
    let mut scenario = written(path, &choice, sender);
    let link = &mut scenario["point_to_point"];
    let mut copies = std::collections::BTreeMap::<u32, Vec<u64>>::new();
    for (segment, lost) in &path.losses.segments {
        copies.entry(*lost).or_default().push(*segment);
    }
    if !copies.is_empty() {
        let drops =
            copies.into_iter().map(|(copies, segments)| json!({"flow": FLOW, "segments": segments, "copies": copies}));
        link["drops"] = drops.collect();
    }
    if !path.reordering.segments.is_empty() {
        let (length, wait) = (path.reordering.length.max(1), longest_wait(path));
        link["reorder"] =
            json!({"flow": FLOW, "segments": path.reordering.segments, "length": length, "longest_wait_s": wait});
    }
    scenario
}

/// Returns the path with all properties that the capture leaves open drawn from `draws`, in a fixed
/// order.
pub fn drawn(path: &Path, sender: &Value, draws: &mut Stream) -> Value {
    let within = |draws: &mut Stream, error: f64| 1.0 + error * (2.0 * draws.unit() - 1.0);
    let rate_error = within(draws, RATE_ERROR);
    let faster = FASTEST.powf(draws.unit());
    let base_error = within(draws, BASE_ERROR);
    let longer = LONGEST_QUEUE.powf(draws.unit());
    let limit = match path.queue.overflowed {
        // The fitted limit may be off by one.
        true => f64::from(path.queue.largest_packets) + [-1.0, 0.0, 0.0, 1.0][draws.below(4) as usize],
        false => {
            draws.below(4);
            f64::from(path.queue.largest_packets) * longer
        }
    };
    let lost = f64::from(path.losses.random) + 0.5;
    let loss = posterior(lost, f64::from(path.losses.of) + 1.0, draws);
    let ack_loss = posterior(f64::from(path.acks.lost) + 0.5, f64::from(path.acks.lost + path.acks.heard) + 1.0, draws);
    let reordered = posterior(f64::from(path.reordering.packets) + 0.5, f64::from(path.losses.of) + 1.0, draws);
    let delay = USUAL_DELAYS_S[draws.below(2) as usize] * 1e3;
    let kinds = [Kind::Sending, Kind::Arriving, Kind::Back];
    let holds = path.holds.iter().map(|hold| {
        let start = hold.start_s.0 + (hold.start_s.1 - hold.start_s.0) * draws.unit();
        let other = kinds[draws.below(3) as usize];
        (start, hold.end_s, if hold.kind == Kind::Open { other } else { hold.kind })
    });
    let holds = holds.collect();
    let choice = Choice {
        rate_bps: path.rate_bps * if path.rate_seen { rate_error } else { faster },
        base_s: path.base_rtt_ms / 1e3 * base_error,
        queue_packets: Some(limit.max(2.0) as u32),
        holds,
        // If nothing was lost, nothing suggests that the path loses packets.
        loss: if path.losses.random > 0 { loss } else { 0.0 },
        ack_loss: if path.acks.lost > 0 { ack_loss } else { 0.0 },
        ack_delay_ms: if path.acks.delay_seen { path.acks.delay_ms } else { delay },
        reordered: if path.reordering.packets > 0 { reordered } else { 0.0 },
        seed: draws.below(1 << 40),
    };
    let mut scenario = written(path, &choice, sender);
    let link = &mut scenario["point_to_point"];
    if choice.loss > 0.0 {
        link["loss"] = random_loss(path, choice.loss);
    }
    if choice.reordered > 0.0 {
        link["reorder"] = json!({
            "rate": choice.reordered,
            "length": path.reordering.length.max(1),
            "longest_wait_s": longest_wait(path),
        });
    }
    scenario
}

fn random_loss(path: &Path, rate: f64) -> Value {
    let run = f64::from(path.losses.random) / f64::from(path.losses.runs.max(1));
    if run < BURSTS {
        return json!({"kind": "random", "rate": rate.min(0.9)});
    }
    let ends = 1.0 / run;
    let begins = (rate * ends / (1.0 - rate).max(0.1)).min(0.9);
    json!({"kind": "gilbert-elliott", "good_to_bad": begins, "bad_to_good": ends})
}

fn written(path: &Path, choice: &Choice, sender: &Value) -> Value {
    let half_ms = choice.base_s * 500.0;
    let queue = match choice.queue_packets {
        Some(packets) => json!({"kind": "drop-tail", "packets": packets}),
        None => json!({"kind": "unlimited"}),
    };
    let mut back = json!({"rate_bps": "unlimited", "delay_ms": half_ms, "queue": {"kind": "unlimited"}});
    if choice.ack_loss > 0.005 {
        back["loss"] = json!({"kind": "random", "rate": choice.ack_loss});
    }
    let rate = choice.rate_bps.round().clamp(1.0, 1e12) as u64;
    let ends = &path.ends;
    let mut tcp = json!({
        "payload_bytes": ends.payload_bytes,
        "receive_window_bytes": ends.window_bytes.max(u64::from(ends.payload_bytes)),
        "timestamps": ends.timestamps,
        "sack": ends.sack,
        "delayed_ack_every": path.acks.every,
        "delayed_ack_ms": choice.ack_delay_ms,
    });
    if ends.sack {
        tcp["dsack"] = ends.dsack.into();
    }
    let mut scenario = Map::new();
    scenario.insert("title".into(), "the path that a capture shows".into());
    scenario.insert("seed".into(), choice.seed.into());
    scenario.insert("duration_s".into(), (ends.took_s * 20.0 + 600.0).ceil().into());
    if ends.ipv6 {
        scenario.insert("ip".into(), "ipv6".into());
    }
    scenario
        .insert("point_to_point".into(), json!({"rate_bps": rate, "delay_ms": half_ms, "queue": queue, "back": back}));
    let spikes = spikes(&choice.holds, choice.base_s / 2.0);
    if !spikes.is_empty() {
        scenario.insert("spike".into(), spikes.into());
    }
    scenario.insert(
        "flow".into(),
        json!([{
            "name": FLOW,
            "from": "sender",
            "to": "receiver",
            "handshake": ends.opens,
            "application": {"kind": "bulk", "bytes": ends.bytes.max(1)},
            "tcp": tcp,
            "sender": sender,
        }]),
    );
    Value::Object(scenario)
}

/// Converts holds to the times of the links that hold. `half` is the time in seconds from the
/// transmitter's far end to the receiver.
fn spikes(holds: &[(f64, f64, Kind)], half: f64) -> Vec<Value> {
    let spike = |(start, end, kind): &(f64, f64, Kind)| {
        let (link, holds, later) = match kind {
            Kind::Sending => ("bottleneck", "sending", 0.0),
            Kind::Arriving | Kind::Open => ("bottleneck", "arriving", half),
            Kind::Back => ("bottleneck-back", "arriving", 2.0 * half),
        };
        let (start, end) = (start + later, end + later);
        let at = json!([{"start_s": start.min(end - 1e-6).max(0.0), "end_s": end.max(1e-6)}]);
        json!({"links": [link], "holds": holds, "at": at})
    };
    holds.iter().map(spike).collect()
}

fn middle((low, high): (f64, f64)) -> f64 {
    (low + high) / 2.0
}

fn share(part: u32, all: u32) -> f64 {
    if all == 0 { 0.0 } else { f64::from(part) / f64::from(all) }
}

fn longest_wait(path: &Path) -> f64 {
    (path.reordering.longest_s * 1.5).max(0.01)
}

/// Draws a probability after `hits` of `tries`. Approximates the Beta distribution by a normal
/// distribution, cut off at a tenth of the mean and at 0.95.
fn posterior(hits: f64, tries: f64, draws: &mut Stream) -> f64 {
    let mean = hits / tries;
    let deviation = (mean * (1.0 - mean) / tries).sqrt();
    // The sum of twelve uniform draws has variance 1.
    let normal: f64 = (0..12).map(|_| draws.unit()).sum::<f64>() - 6.0;
    (mean + deviation * normal).clamp(mean / 10.0, 0.95)
}

/// Returns whether a hold leaves open where or how packets were held.
pub fn is_open(hold: &Hold) -> bool {
    hold.kind == Kind::Open
}
