//! Packets declared lost as comma-separated values: a column for each field of JSON.

use super::{Losses, LostPacket};
use serde_json::Value;

const COLUMNS: [&str; 12] = [
    "trace",
    "path_id",
    "time_ms",
    "space",
    "packet_number",
    "bytes",
    "trigger",
    "event",
    "verdict",
    "confidence",
    "reason",
    "acknowledged_ms",
];

pub(crate) fn write(losses: &Losses) -> String {
    let mut text = COLUMNS.join(",");
    text.push('\n');
    for packet in &losses.packets {
        text.push_str(&row(packet));
        text.push('\n');
    }
    text
}

fn row(packet: &LostPacket) -> String {
    let value = serde_json::to_value(packet).unwrap_or_default();
    let cell = |name: &&str| match &value[*name] {
        Value::Null => String::new(),
        // A log may hold anything as a trigger.
        Value::String(text) if text.contains([',', '"', '\n', '\r']) => format!("\"{}\"", text.replace('"', "\"\"")),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    COLUMNS.iter().map(cell).collect::<Vec<_>>().join(",")
}
