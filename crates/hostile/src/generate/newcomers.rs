//! Draws keys that the scenario format has gained. Each has draws of its own, so that it changes only
//! the cases that it joins, and no recorded case.

use super::{Put, Scale, table};
use crate::dice::Dice;
use toml::{Table, Value};

const MOST_MESSAGES: i64 = 40;
/// The longest user message of an association, as for other applications.
const LONGEST_USER_MESSAGE: i64 = 20_000;

/// Adds newer keys to a whole case.
pub(super) fn add(dice: &Dice, scale: &Scale, top: &mut Table) {
    type Draw = fn(&mut Dice, &Scale, &mut Table);
    let on_links: [Draw; 2] = [loss_by_length, lateness];
    for (name, draw) in ["larger-than", "late_ms"].into_iter().zip(on_links) {
        if let Some(mut dice) = dice.of_newcomer(name) {
            directions(top).into_iter().for_each(|link| {
                if dice.chance(0.15) {
                    draw(&mut dice, scale, link);
                }
            });
        }
    }
    if let Some(mut dice) = dice.of_newcomer("association-recover")
        && let Some(Value::Array(flows)) = top.get_mut("flow")
    {
        for flow in flows.iter_mut().filter_map(Value::as_table_mut).filter(|flow| is_over_sctp(flow)) {
            by_time(&mut dice, flow);
        }
    }
    if let Some(mut dice) = dice.of_newcomer("as-linux")
        && let Some(Value::Array(flows)) = top.get_mut("flow")
    {
        for flow in flows.iter_mut().filter_map(Value::as_table_mut).filter(|flow| !is_over_sctp(flow)) {
            match dice.whole(0, 5) {
                0 => profile(flow),
                1 | 2 => acknowledgements(&mut dice, flow),
                _ => {}
            }
        }
    }
    if let Some(mut dice) = dice.of_newcomer("messages")
        && let Some(Value::Array(flows)) = top.get_mut("flow")
    {
        for flow in flows.iter_mut().filter_map(Value::as_table_mut) {
            if dice.chance(0.2) {
                messages(&mut dice, flow);
            }
        }
    }
}

fn is_over_sctp(flow: &Table) -> bool {
    flow.get("transport").and_then(Value::as_str) == Some("sctp")
}

/// Makes both ends Linux, but for the drawn settings of the connection and of the answering end.
fn profile(flow: &mut Table) {
    flow.put("profile", "linux");
    flow.remove("sender");
}

/// Draws how both ends acknowledge where Linux differs from RFC 9293: quick ACKs, offload, and SACK
/// blocks beside data.
fn acknowledgements(dice: &mut Dice, flow: &mut Table) {
    let Some(Value::Table(tcp)) = flow.get_mut("tcp") else { return };
    if dice.chance(0.7) {
        tcp.put("out_of_order_ack", "with-data");
    }
    if dice.chance(0.4) {
        tcp.put("quick_acks", dice.scale(1, 64));
    }
    if dice.chance(0.5) {
        tcp.put("gro_wait_ms", dice.scale_of_time(0.01, 50.0));
        if dice.chance(0.5) {
            tcp.put("gro_segments", dice.scale(1, 64));
        }
    }
}

/// Lets an association find losses by time.
fn by_time(dice: &mut Dice, flow: &mut Table) {
    let Some(Value::Table(sender)) = flow.get_mut("sender").filter(|_| dice.chance(0.4)) else { return };
    let mut recover = table([("name", "rack-tlp".into())]);
    if dice.chance(0.3) {
        recover.put("duplicate_threshold", dice.scale(1, 20));
    }
    if dice.chance(0.3) {
        recover.put("max_ack_delay_ms", dice.scale_of_time(1.0, 1000.0));
    }
    sender.put("recover", recover);
}

/// Turns a transfer into messages at intervals, of as many bytes together.
fn messages(dice: &mut Dice, flow: &mut Table) {
    let Some(bytes) = flow["application"].get("bytes").and_then(Value::as_integer) else { return };
    if flow["application"].get("kind").and_then(Value::as_str) != Some("bulk") {
        return;
    }
    let buffer = flow.get("sctp").and_then(|sctp| sctp["send_buffer_bytes"].as_integer());
    let longest = buffer.map_or(i64::MAX, |buffer| buffer.min(LONGEST_USER_MESSAGE));
    let count = dice.scale(1, MOST_MESSAGES);
    let interval: Value = match dice.chance(0.5) {
        true => dice.scale_of_time(0.1, 2000.0).into(),
        false => table([("exponential", dice.scale_of_time(0.1, 1000.0).into())]).into(),
    };
    let messages = table([
        ("kind", "messages".into()),
        ("bytes", (bytes / count).clamp(1, longest).into()),
        ("interval_ms", interval),
        ("messages", count.into()),
    ]);
    flow.put("application", messages);
}

/// Returns the tables of all links, each for the way there.
fn directions(top: &mut Table) -> Vec<&mut Table> {
    let mut found = Vec::new();
    for (key, value) in top.iter_mut() {
        let links = match value {
            Value::Table(link) if key == "point_to_point" => vec![link],
            Value::Array(links) if key == "link" => links.iter_mut().filter_map(Value::as_table_mut).collect(),
            _ => continue,
        };
        found.extend(links);
    }
    found
}

/// Adds loss by length to the losses of a link. A black hole lasts as long as the other
/// disturbances.
fn loss_by_length(dice: &mut Dice, scale: &Scale, link: &mut Table) {
    let longest = dice.scale(40, scale.payload + 100);
    let loss = table([("kind", "larger-than".into()), ("bytes", longest.into())]);
    match link.remove("loss") {
        Some(other) => link.put("loss", vec![other, loss.into()]),
        None => link.put("loss", loss),
    }
}

/// Makes packets late by time, in place of a reordering by count.
fn lateness(dice: &mut Dice, _: &Scale, link: &mut Table) {
    let longest = dice.scale_of_time(0.1, 5000.0);
    let late: Value = match dice.chance(0.5) {
        true => longest.into(),
        false => table([("uniform", vec![Value::from(0.0), longest.into()].into())]).into(),
    };
    link.put("reorder", table([("rate", dice.share(0.9).into()), ("late_ms", late)]));
}
