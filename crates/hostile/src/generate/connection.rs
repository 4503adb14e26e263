//! Draws the settings of connections.

use super::{Put, Scale};
use crate::dice::Dice;
use toml::Table;

/// Draws an initial number that wraps soon, a little below 2^32.
pub(super) fn soon_wrapping(dice: &mut Dice, most: i64) -> i64 {
    (1 << 32) - dice.scale(1, most)
}

/// Draws a receive window in bytes: mostly several segments, sometimes less than one.
pub(super) fn window(dice: &mut Dice, scale: &Scale) -> i64 {
    if dice.chance(0.15) {
        dice.scale((scale.payload / 20).max(1), 2 * scale.payload)
    } else {
        scale.payload * dice.scale(2, 200)
    }
}

/// Draws the table `tcp`.
pub(super) fn settings(dice: &mut Dice, scale: &Scale, window: i64) -> Table {
    let mut tcp = Table::new();
    tcp.put("payload_bytes", scale.payload);
    tcp.put("receive_window_bytes", window);
    if dice.chance(0.3) {
        scaled(dice, &mut tcp, window);
    }
    timestamps(dice, &mut tcp);
    if dice.chance(0.3) {
        tcp.put("sack", false);
    } else if dice.chance(0.3) {
        tcp.put("dsack", dice.chance(0.5));
    }
    if dice.chance(0.5) {
        tcp.put("delayed_ack_every", dice.scale(1, 8));
        tcp.put("delayed_ack_ms", if dice.chance(0.3) { 0.0 } else { dice.scale_of_time(1.0, 500.0) });
    }
    if dice.chance(0.2) {
        tcp.put("nagle", true);
    }
    if dice.chance(0.3) {
        tcp.put("ecn", *dice.one(&["ask", "answer"]));
    }
    bounds(dice, &mut tcp);
    tcp
}

/// Draws the table `answering_tcp`: settings of the answering end that differ from those of both
/// ends. They do not contradict the common settings.
pub(super) fn other(dice: &mut Dice, scale: &Scale, both: &Table) -> Table {
    let mut tcp = Table::new();
    if dice.chance(0.5) {
        tcp.put("payload_bytes", dice.scale((scale.payload / 8).max(1), scale.payload));
    }
    if dice.chance(0.5) {
        let window = window(dice, scale);
        tcp.put("receive_window_bytes", window);
        tcp.put("window_scale", "fit");
        if dice.chance(0.3) {
            scaled(dice, &mut tcp, window);
        }
    }
    let says = |begins: &str| both.keys().any(|key| key.starts_with(begins));
    if !says("timestamp_") && !says("retransmission_marks") && dice.chance(0.3) {
        tcp.put("timestamps", dice.chance(0.5));
    }
    if !says("dsack") && dice.chance(0.3) {
        tcp.put("sack", dice.chance(0.5));
    }
    if dice.chance(0.5) {
        tcp.put("delayed_ack_every", dice.scale(1, 8));
        tcp.put("delayed_ack_ms", dice.scale_of_time(1.0, 500.0));
    }
    if dice.chance(0.2) {
        tcp.put("nagle", !says("nagle"));
    }
    if dice.chance(0.2) {
        tcp.put("ecn", *dice.one(&["off", "ask", "answer"]));
    }
    tcp
}

/// Adds endpoint_settings of stacks that the RFCs allow.
pub(super) fn endpoint_settings(dice: &mut Dice, top: &mut Table) {
    let tcp = top.entry("tcp").or_insert_with(|| Table::new().into());
    let Some(tcp) = tcp.as_table_mut() else { return };
    tcp.put("window_probe", *dice.one(&["data", "empty", "empty"]));
    tcp.put("fin_beyond_cwnd", dice.chance(0.5));
    tcp.put("time_wait", *dice.one(&["rfc9293", "reopens"]));
}

/// Adds a window scale that can announce the window.
fn scaled(dice: &mut Dice, tcp: &mut Table, window: i64) {
    let shift = dice.whole(0, 14);
    if dice.chance(0.3) {
        tcp.put("window_scale", "off");
    } else if window >> shift >= 2 {
        tcp.put("window_scale", shift);
    }
}

fn timestamps(dice: &mut Dice, tcp: &mut Table) {
    if dice.chance(0.3) {
        tcp.put("timestamps", false);
        if dice.chance(0.4) {
            tcp.put("retransmission_marks", *dice.one(&["bits", "timestamps"]));
        }
        return;
    }
    if dice.chance(0.2) {
        tcp.put("retransmission_marks", "bits");
    }
    let distinct = dice.chance(0.5);
    tcp.put("timestamp_values", if distinct { "distinct" } else { "clock" });
    if dice.chance(0.5) {
        let finest = if distinct { 0.001 } else { 1.0 };
        tcp.put("timestamp_granularity_ms", dice.scale_of_time(finest, 1000.0));
    }
    if dice.chance(0.5) {
        tcp.put("timestamp_offset", soon_wrapping(dice, 50_000));
    }
    if dice.chance(0.2) {
        tcp.put("timestamp_echo", "on-duplicates");
    }
}

/// Draws when the ends give up. Mostly they never do, so every byte has to arrive. Otherwise the
/// run only has to end.
fn bounds(dice: &mut Dice, tcp: &mut Table) {
    if dice.chance(0.85) {
        tcp.put("give_up_timeouts", 1_000_000);
        tcp.put("give_up_handshake_timeouts", 1_000_000);
        tcp.put("time_wait_s", 1_000_000);
        return;
    }
    if dice.chance(0.5) {
        tcp.put("give_up_timeouts", dice.scale(1, 15));
        tcp.put("give_up_handshake_timeouts", dice.scale(1, 6));
    }
    if dice.chance(0.3) {
        tcp.put("user_timeout_s", dice.scale_of_time(0.1, 100.0));
    }
    if dice.chance(0.5) {
        tcp.put("time_wait_s", if dice.chance(0.2) { 0.0 } else { dice.scale_of_time(0.1, 240.0) });
    }
}
