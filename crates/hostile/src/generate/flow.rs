//! Draws flows: direction, amount of data, and the reading application.

use super::{Put, Scale, algorithms, connection, table};
use crate::dice::Dice;
use toml::{Table, Value};

/// The most segments of a transfer. Transfers are short, so that many can run.
const MOST_SEGMENTS: i64 = 200;
/// The most reads that a slow application needs.
const MOST_READINGS: i64 = 100;

pub(super) fn flow(dice: &mut Dice, scale: &Scale, name: &str) -> Table {
    let mut flow = Table::new();
    let (from, to) = if dice.chance(0.5) { ("sender", "receiver") } else { ("receiver", "sender") };
    flow.put("name", name);
    flow.put("from", from);
    flow.put("to", to);
    let window = connection::window(dice, scale);
    let (application, bytes) = application(dice, scale, window);
    flow.put("application", application);
    if dice.chance(0.3) {
        flow.put("start_s", dice.scale_of_time(0.001, 10.0));
    }
    if dice.chance(0.05) {
        flow.put("end_s", dice.scale_of_time(11.0, 30.0));
    }
    if dice.chance(0.15) {
        flow.put("handshake", false);
    } else if dice.chance(0.1) {
        flow.put("handshake", "simultaneous");
    }
    if dice.chance(0.3) {
        flow.put("reading", reading(dice, bytes));
    }
    if dice.chance(0.6) {
        let isns = [bytes + 100, 70_000].map(|most| connection::soon_wrapping(dice, most));
        flow.put("isn", isns.map(Value::from).to_vec());
    }
    let tcp = connection::settings(dice, scale, window);
    let other = |dice: &mut Dice| connection::other(dice, scale, &tcp);
    flow.put("sender", algorithms::sender(dice, &tcp));
    let mut answering = tcp.clone();
    if dice.chance(0.2) {
        let other = other(dice);
        answering.extend(other.clone());
        flow.put("answering_tcp", other);
    }
    if dice.chance(0.2) {
        flow.put("answering_sender", algorithms::sender(dice, &answering));
    }
    flow.put("tcp", tcp);
    flow
}

/// Draws an application. Returns it, and the bytes of its longer direction.
fn application(dice: &mut Dice, scale: &Scale, window: i64) -> (Table, i64) {
    let segment = scale.payload.min(window);
    let amount = |dice: &mut Dice| {
        let segments = dice.scale(1, MOST_SEGMENTS);
        (segments * segment - dice.whole(0, segment - 1)).max(1)
    };
    match dice.whole(0, 4) {
        0 | 1 => {
            let bytes = amount(dice);
            (table([("kind", "bulk".into()), ("bytes", bytes.into())]), bytes)
        }
        2 | 3 => {
            let (bytes, back) = (amount(dice), amount(dice));
            let exchange = [("kind", "exchange".into()), ("bytes", bytes.into()), ("back_bytes", back.into())];
            (table(exchange), bytes.max(back))
        }
        _ => {
            let requests = dice.scale(1, 8);
            let each = |bytes: i64| (bytes / requests).max(1);
            let (request, response) = (each(amount(dice)), each(amount(dice)));
            let dialogue = [
                ("kind", "request-response".into()),
                ("requests", requests.into()),
                ("request_bytes", size(dice, request)),
                ("response_bytes", size(dice, response)),
                ("think_ms", if dice.chance(0.5) { 0.0 } else { dice.scale_of_time(1.0, 5000.0) }.into()),
            ];
            (table(dialogue), requests * request.max(response))
        }
    }
}

/// Draws a fixed number of bytes, or a distribution that has it as its maximum.
fn size(dice: &mut Dice, bytes: i64) -> Value {
    match dice.whole(0, 3) {
        0 => table([("uniform", vec![Value::from(0), bytes.into()].into())]).into(),
        1 => table([("listed", vec![Value::from(1), (bytes / 2).into(), bytes.into()].into())]).into(),
        _ => bytes.into(),
    }
}

fn reading(dice: &mut Dice, bytes: i64) -> Table {
    let at_once = dice.scale((bytes / MOST_READINGS).max(1), bytes.max(1));
    let every: Value = match dice.chance(0.5) {
        true => dice.scale_of_time(1.0, 5000.0).into(),
        false => table([("exponential", dice.scale_of_time(1.0, 3000.0).into())]).into(),
    };
    table([("bytes", at_once.into()), ("every_ms", every)])
}
