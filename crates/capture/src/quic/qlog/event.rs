//! Reads one event of a log.

use super::{Ack, Counted, Metrics, Packet, Space, What, number};
use serde_json::{Map, Value};

/// The most acknowledged ranges read from one packet.
const MOST_RANGES: usize = 1 << 12;
/// The names of the congestion window.
const CWND: [&str; 3] = ["congestion_window", "cwnd", "current_cwnd"];

/// Reads the events that concern losses from an event's name, with or without category, and its
/// data. `path` is the path that the event names outside of its data.
pub(super) fn what(name: &str, data: &Value, path: Option<u64>) -> Vec<What> {
    let found = match name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "packet_sent" => packet(data, path).map(|packet| sent(packet, data)),
        "packet_received" => packet(data, path).map(|packet| What::Received { packet, acks: acks(data) }),
        "packet_lost" => packet(data, path).map(|packet| What::Lost {
            packet,
            trigger: data.get("trigger").and_then(Value::as_str).map(str::to_owned),
        }),
        "packets_acked" => acknowledged(data, path),
        // What quic-go calls a packet that was acknowledged after it was declared lost.
        "spurious_loss" => packet(data, path).map(|packet| What::Acknowledged(vec![packet])),
        "connection_closed" => Some(What::Closed),
        "connection_state_updated" => {
            let state = data.get("new").and_then(Value::as_str).unwrap_or_default();
            ["closed", "draining", "terminated"].contains(&state).then_some(What::Closed)
        }
        // mvfst counts losses in an event of their own.
        "packets_lost" => data.get("lost_packets").and_then(number).map(|more| {
            let largest = data.get("largest_lost_packet_num").and_then(number).map(|number| number as u64);
            What::Counted(Counted { total: None, more: more as u64, largest, cwnd: None })
        }),
        "metrics_updated" | "recovery_metrics_updated" | "metric_update" | "congestion_metric_update" => {
            return [counted(data), metrics(data, path)].into_iter().flatten().collect();
        }
        _ => None,
    };
    found.into_iter().collect()
}

fn field<'a>(data: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| data.get(name))
}

fn packet(data: &Value, path: Option<u64>) -> Option<Packet> {
    let header = data.get("header").unwrap_or(data);
    let numbered = ["packet_number", "pn"];
    let number = field(header, &numbered).or_else(|| field(data, &numbered)).and_then(number)? as u64;
    Some(Packet { space: space(data), path: path_of(data).or(path).unwrap_or(0), number, bytes: length(data) })
}

/// Returns the number space that an event names, in its data or in the header there.
pub(super) fn space(data: &Value) -> Space {
    let header = data.get("header").unwrap_or(data);
    let kind = ["packet_type", "packet_number_space", "type"]
        .iter()
        .find_map(|name| header.get(name).or_else(|| data.get(name)))
        .and_then(Value::as_str);
    match kind.unwrap_or_default().to_ascii_lowercase().as_str() {
        "initial" => Space::Initial,
        "handshake" => Space::Handshake,
        _ => Space::Application,
    }
}

fn path_of(data: &Value) -> Option<u64> {
    let named = data.get("path_id").or_else(|| data.get("header")?.get("path_id"));
    named.and_then(number).map(|path| path as u64)
}

/// Returns the bytes of a packet; 0 if no field shows them.
fn length(data: &Value) -> u32 {
    let header = data.get("header").unwrap_or(data);
    let length = field(data, &["raw"]).and_then(|raw| raw.get("length"));
    let length = length.or_else(|| field(header, &["packet_size", "length"])).or_else(|| data.get("packet_size"));
    length.and_then(number).unwrap_or(0.0) as u32
}

fn sent(packet: Packet, data: &Value) -> What {
    let kinds: Vec<&str> = frames(data).iter().filter_map(kind).collect();
    // RFC 9002, section 2: packets with ACK and CONNECTION_CLOSE frames alone are not in flight.
    let closes = |kind: &&str| kind.eq_ignore_ascii_case("connection_close");
    let only_acks = !kinds.is_empty() && kinds.iter().all(|kind| is_ack(kind) || closes(kind));
    let probes = data.get("is_mtu_probe_packet").and_then(Value::as_bool).unwrap_or(false);
    What::Sent { packet, in_flight: !only_acks && !probes, only_acks }
}

fn frames(data: &Value) -> &[Value] {
    data.get("frames").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn kind(frame: &Value) -> Option<&str> {
    frame.get("frame_type")?.as_str()
}

/// Returns whether a frame acknowledges packets. Early drafts of multipath called it ACK_MP.
fn is_ack(kind: &str) -> bool {
    ["ack", "ack_ecn", "path_ack", "path_ack_ecn", "ack_mp", "mp_ack"]
        .iter()
        .any(|name| kind.eq_ignore_ascii_case(name))
}

fn acks(data: &Value) -> Vec<Ack> {
    let mut left = MOST_RANGES;
    let mut found = Vec::new();
    for frame in frames(data).iter().filter(|frame| kind(frame).is_some_and(is_ack)) {
        let ranges = frame.get("acked_ranges").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut ack = Ack {
            path: field(frame, &["path_id", "path_identifier"]).and_then(number).map(|path| path as u64),
            ..Ack::default()
        };
        let mut written = Vec::new();
        for (first, last, two) in ranges.iter().take(left).filter_map(range).filter(|range| range.0 <= range.1) {
            ack.single |= first == last;
            written.push((first, last, two));
        }
        left -= ranges.len().min(left);
        written.sort_unstable();
        // A logger may write each packet as a range of its own, so one number proves nothing.
        ack.adjacent = written.windows(2).any(|pair| pair[0].2 && pair[0].0 < pair[0].1 && pair[1].0 == pair[0].1 + 1);
        ack.ranges = written.into_iter().map(|(first, last, _)| (first, last)).collect();
        found.push(ack);
    }
    found
}

/// Returns first and last number of a range, and whether two numbers are written.
fn range(range: &Value) -> Option<(u64, u64, bool)> {
    match range {
        Value::Array(ends) => {
            let first = number(ends.first()?)? as u64;
            let last = ends.get(1).and_then(number).map(|last| last as u64);
            Some((first, last.unwrap_or(first), last.is_some()))
        }
        // Draft 00 writes ranges as "3-5".
        Value::String(text) => {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            Some((first.trim().parse().ok()?, last.trim().parse().ok()?, text.contains('-')))
        }
        // A number outside of a list is a packet.
        value => number(value).map(|one| (one as u64, one as u64, false)),
    }
}

fn acknowledged(data: &Value, path: Option<u64>) -> Option<What> {
    let numbers = data.get("packet_numbers")?.as_array()?;
    let path = path_of(data).or(path).unwrap_or(0);
    let packet = |number: f64| Packet { space: space(data), path, number: number as u64, bytes: 0 };
    Some(What::Acknowledged(numbers.iter().take(MOST_RANGES).filter_map(number).map(packet).collect()))
}

/// Reads quiche's count of losses, which stands for the events that it does not write.
fn counted(data: &Value) -> Option<What> {
    let lost = data.get("cf_lost_packets")?;
    let total = lost.get("total").and_then(number).map(|total| total as u64);
    let more = lost.get("delta").and_then(number).unwrap_or(0.0) as u64;
    let cwnd = field(data, &CWND).and_then(number).map(|cwnd| cwnd as u64);
    Some(What::Counted(Counted { total, more, largest: None, cwnd }))
}

/// Reads measurements. Round trips are still in the unit of the log.
fn metrics(data: &Value, path: Option<u64>) -> Option<What> {
    let value = |names: &[&str]| field(data, names).and_then(number);
    let metrics = Metrics {
        path: path_of(data).or(path).unwrap_or(0),
        cwnd: value(&CWND).map(|cwnd| cwnd as u64),
        ssthresh: value(&["ssthresh"]).map(|ssthresh| ssthresh as u64),
        smoothed_rtt_ms: value(&["smoothed_rtt", "smoothed_rtt_ms", "srtt"]),
        rtt_variation_ms: value(&["rtt_variance", "rtt_variation", "rttvar"]),
    };
    (metrics != Metrics { path: metrics.path, ..Metrics::default() }).then_some(What::Metrics(metrics))
}

/// Returns the connection ID to which an Initial packet is sent.
pub(super) fn destination(data: &Value) -> Option<String> {
    let header = data.get("header")?;
    Some(header.get("dcid")?.as_str()?.to_ascii_lowercase()).filter(|id| !id.is_empty())
}

/// Returns the original destination connection ID in transport parameters, under its names of all
/// drafts.
pub(super) fn original_id(data: &Map<String, Value>) -> Option<String> {
    let names = ["original_destination_connection_id", "original_connection_id"];
    let id = names.iter().find_map(|name| data.get(*name))?.as_str()?.to_ascii_lowercase();
    Some(id).filter(|id| !id.is_empty())
}
