//! Draws links and their effects on packets.

use super::{Put, Scale, table};
use crate::dice::Dice;
use toml::{Table, Value};

/// Draws both directions of the path, as `point_to_point`.
pub(super) fn both_ways(dice: &mut Dice, scale: &Scale) -> Table {
    let mut path = Table::new();
    let limited = dice.chance(0.9);
    if limited && dice.chance(0.1) {
        path.put("trace", recording(dice));
    } else if limited {
        path.put("rate_bps", rate(dice));
    } else {
        path.put("rate_bps", "unlimited");
    }
    path.put("delay_ms", if dice.chance(0.1) { 0.0 } else { dice.scale_of_time(0.1, 1000.0) });
    one_way(dice, scale, &mut path, limited);
    if dice.chance(0.8) {
        let mut back = Table::new();
        let limited_back = limited || dice.chance(0.3);
        if limited_back && (!limited || dice.chance(0.3)) {
            match dice.chance(0.1) {
                true => back.put("trace", recording(dice)),
                false => back.put("rate_bps", rate(dice)),
            }
        }
        if dice.chance(0.3) {
            back.put("delay_ms", dice.scale_of_time(0.1, 1000.0));
        }
        one_way(dice, scale, &mut back, limited_back);
        path.put("back", back);
    }
    path
}

/// Turns the path into a wireless link behind a proxy, with a wired link in front of it.
pub(super) fn behind_a_proxy(dice: &mut Dice, scale: &Scale, top: &mut Table) {
    in_two_links(dice, scale, top, "edge");
    top.put("proxy", table([("links", vec![Value::from("bottleneck")].into())]));
}

/// Puts a wired link in front of the path, and the node `middle` between the links.
pub(super) fn in_two_links(dice: &mut Dice, scale: &Scale, top: &mut Table, middle: &str) {
    let Some(Value::Table(mut wireless)) = top.remove("point_to_point") else { return };
    let mut wired = both_ways(dice, scale);
    for (link, name, from, to) in
        [(&mut wired, "wired", "sender", middle), (&mut wireless, "bottleneck", middle, "receiver")]
    {
        between(link, name, from, to);
    }
    top.put("node", ["sender", middle, "receiver"].map(|name| table([("name", name.into())])).to_vec());
    top.put("link", vec![wired, wireless]);
}

/// Turns the path into a link between two nodes.
pub(super) fn between(link: &mut Table, name: &str, from: &str, to: &str) {
    link.put("name", name);
    link.put("from", from);
    link.put("to", to);
    link.put("both", true);
}

fn rate(dice: &mut Dice) -> i64 {
    dice.scale(50_000, 100_000_000)
}

/// Draws a recorded link with bursts and pauses, and at least 60 kbit/s averaged over a lap.
fn recording(dice: &mut Dice) -> Vec<i64> {
    let count = dice.scale(1, 40);
    let lap = dice.scale(1, 200 * count);
    let mut times: Vec<i64> = (1..count).map(|_| dice.whole(0, lap)).collect();
    times.push(lap);
    times.sort_unstable();
    times
}

/// Draws the keys that each direction has separately.
fn one_way(dice: &mut Dice, scale: &Scale, link: &mut Table, limited: bool) {
    if limited && dice.chance(0.15) {
        rate_changes(dice, scale, link);
    }
    if dice.chance(0.6) {
        link.put("queue", queue(dice, scale, limited));
    }
    if dice.chance(0.3) {
        link.put("drops", drops(dice, scale));
    }
    if dice.chance(0.5) {
        link.put("loss", loss(dice));
    }
    if dice.chance(0.3) {
        link.put("duplicate", table([("rate", dice.share(0.6).into())]));
    }
    if dice.chance(0.4) {
        link.put("reorder", reorder(dice, scale));
    }
    if dice.chance(0.15) {
        link.put("ecn_faults", table([("clear", dice.share(0.5).into()), ("forge", dice.share(1.0).into())]));
    }
    link.put("disturbed_until_s", scale.heals_s);
}

fn rate_changes(dice: &mut Dice, scale: &Scale, link: &mut Table) {
    let count = dice.whole(1, 4);
    // The last rate is fast enough for the transfer to end in time.
    let change = |dice: &mut Dice, number: i64| {
        let at = scale.heals_s * (number as f64) / (count as f64);
        let slowest = if number < count { 5_000 } else { 50_000 };
        let rate = dice.scale(slowest, 100_000_000);
        Value::from(table([("at_s", at.into()), ("rate_bps", rate.into())]))
    };
    let changes: Vec<Value> = (1..=count).map(|number| change(dice, number)).collect();
    if link.contains_key("rate_bps") {
        link.put("rate_changes", changes);
    }
}

fn queue(dice: &mut Dice, scale: &Scale, limited: bool) -> Table {
    let packets = dice.scale(1, 200);
    // Queues that drop packets early need a rate.
    match dice.whole(0, if limited { 7 } else { 3 }) {
        0 | 1 => table([("kind", "drop-tail".into()), ("packets", packets.into())]),
        2 => {
            // A full segment with all its headers must fit; otherwise the path carries nothing.
            let bytes = (scale.payload + 200) * packets;
            table([("kind", "drop-tail".into()), ("bytes", bytes.into())])
        }
        3 => table([("kind", "unlimited".into())]),
        4 => {
            let (minimum, packets) = (dice.scale(1, 20), packets + 20);
            table([
                ("kind", "red".into()),
                ("packets", packets.into()),
                ("minimum_packets", minimum.into()),
                ("maximum_packets", (minimum + dice.scale(1, 50)).into()),
                ("ecn", dice.chance(0.5).into()),
            ])
        }
        5 => table([
            ("kind", "adaptive-red".into()),
            ("packets", (packets + 20).into()),
            ("ecn", dice.chance(0.5).into()),
        ]),
        6 => {
            let mut codel = codel(dice, packets);
            codel.put("kind", "codel");
            codel
        }
        _ => {
            let mut codel = codel(dice, packets);
            codel.put("kind", "fq-codel");
            // An overload drops from the head. In a queue of one packet, the next packet always
            // drives out the first, and two senders in step can repeat this for ever.
            codel.put("packets", packets + 20);
            // Few enough queues that flows share one, and quanta of less than a packet.
            codel.put("queues", dice.scale(1, 1024));
            codel.put("quantum_bytes", dice.scale(1, 10_000));
            codel
        }
    }
}

fn codel(dice: &mut Dice, packets: i64) -> Table {
    table([
        ("packets", packets.into()),
        ("target_ms", dice.scale_of_time(0.1, 100.0).into()),
        ("interval_ms", dice.scale_of_time(1.0, 1000.0).into()),
        ("ecn", dice.chance(0.5).into()),
    ])
}

fn drops(dice: &mut Dice, scale: &Scale) -> Vec<Table> {
    let each = |dice: &mut Dice| {
        let count = dice.scale(1, 8);
        let segments: Vec<i64> = (0..count).map(|_| dice.scale(1, 60)).collect();
        let flow = dice.one(&scale.flows).clone();
        table([("flow", flow.into()), ("segments", segments.into()), ("copies", dice.scale(1, 8).into())])
    };
    (0..dice.scale(1, 3)).map(|_| each(dice)).collect()
}

fn loss(dice: &mut Dice) -> Table {
    if dice.chance(0.1) {
        // Nothing arrives until the path heals.
        table([("kind", "random".into()), ("rate", 1.0.into())])
    } else if dice.chance(0.5) {
        table([("kind", "random".into()), ("rate", dice.share(0.7).into())])
    } else {
        table([
            ("kind", "gilbert-elliott".into()),
            ("good_to_bad", dice.share(0.5).into()),
            ("bad_to_good", (0.02 + dice.share(0.9)).into()),
            ("loss_in_good", dice.share(0.1).into()),
            ("loss_in_bad", (1.0 - dice.share(0.8)).into()),
        ])
    }
}

fn reorder(dice: &mut Dice, scale: &Scale) -> Table {
    let mut reorder = Table::new();
    reorder.put("length", dice.scale(1, 30));
    reorder.put("longest_wait_s", dice.scale_of_time(0.01, 20.0));
    if dice.chance(0.5) {
        reorder.put("rate", dice.share(0.9));
    } else {
        let count = dice.scale(1, 10);
        reorder.put("flow", dice.one(&scale.flows).clone());
        reorder.put("segments", (0..count).map(|_| dice.scale(1, 60)).collect::<Vec<_>>());
    }
    reorder
}

/// Draws delay spikes. Listed spikes end; drawn ones continue for ever.
pub(super) fn spikes(dice: &mut Dice, scale: &Scale) -> Vec<Table> {
    let each = |dice: &mut Dice| {
        let mut spike = Table::new();
        let links: &[&str] = match dice.whole(0, 2) {
            0 => &["bottleneck"],
            1 => &["bottleneck-back"],
            _ => &["bottleneck", "bottleneck-back"],
        };
        spike.put("links", links.iter().map(|&link| link.into()).collect::<Vec<Value>>());
        spike.put("holds", *dice.one(&["sending", "arriving"]));
        if dice.chance(0.7) {
            spike.put("at", listed(dice, scale));
        } else {
            let longest = dice.scale_of_time(0.05, 10.0);
            spike.put("first_s", dice.between(0.0, scale.heals_s));
            spike.put("length_s", table([("uniform", vec![0.01, longest].into())]));
            spike.put("interval_s", table([("uniform", vec![longest, 4.0 * longest].into())]));
            spike.put("interval", *dice.one(&["start-to-start", "end-to-start"]));
        }
        spike
    };
    let count = *dice.one(&[0, 0, 0, 1, 1, 2]);
    (0..count).map(|_| each(dice)).collect()
}

fn listed(dice: &mut Dice, scale: &Scale) -> Vec<Table> {
    let count = dice.whole(1, 4);
    let room = scale.heals_s / count as f64;
    let each = |dice: &mut Dice, number: i64| {
        let start = room * number as f64 + dice.between(0.0, 0.4) * room;
        let length = dice.between(0.01, 0.55) * room;
        table([("start_s", start.into()), ("length_s", length.into())])
    };
    (0..count).map(|number| each(dice, number)).collect()
}

/// Adds radio effects: outages, changes of delay, and jitter.
pub(super) fn radio_impairments(dice: &mut Dice, scale: &Scale, top: &mut Table) {
    if dice.chance(0.5) {
        let start = scale.heals_s * dice.share(0.9);
        let length = (scale.heals_s - start) * dice.share(1.0).max(0.01);
        let at = table([("start_s", start.into()), ("length_s", length.max(1e-6).into())]);
        let links = if dice.chance(0.5) { vec!["bottleneck", "bottleneck-back"] } else { vec!["bottleneck"] };
        let links: Vec<Value> = links.into_iter().map(Value::from).collect();
        top.put("outage", vec![table([("links", links.into()), ("at", vec![Value::from(at)].into())])]);
    }
    let link = match top.get_mut("point_to_point") {
        Some(link) => link.as_table_mut(),
        None => top.get_mut("link").and_then(Value::as_array_mut).and_then(|links| links.last_mut()?.as_table_mut()),
    };
    let Some(link) = link else { return };
    if dice.chance(0.5) {
        let change = |dice: &mut Dice, number: i64| {
            let at = scale.heals_s * number as f64 / 3.0;
            Value::from(table([("at_s", at.into()), ("delay_ms", dice.scale_of_time(0.1, 1000.0).into())]))
        };
        let changes: Vec<Value> = (1..=dice.whole(1, 3)).map(|number| change(dice, number)).collect();
        link.put("delay_changes", changes);
    }
    if dice.chance(0.5) {
        let delay = table([("exponential", dice.scale_of_time(0.1, 300.0).into())]);
        link.put("jitter", table([("delay_ms", delay.into()), ("keeps_order", dice.chance(0.5).into())]));
    }
}
