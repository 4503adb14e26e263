//! Draws realistic paths and stacks, with a capture point on the path. Loss, reordering, delay
//! spikes and lost ACKs stay within the range of real networks.

use super::{Put, table};
use crate::dice::{Algorithms, Dice};
use toml::{Table, Value};

/// The nodes in order, which are the places of capture.
pub const PLACES: [&str; 3] = ["sender", "between", "receiver"];
const RATES: [i64; 5] = [500_000, 1_500_000, 5_000_000, 20_000_000, 100_000_000];

/// Draws the scenario of a seed.
pub fn plain(seed: u64) -> Table {
    let mut dice = Dice::new(seed ^ 0x706c_6169_6e00_0000, Algorithms::Recorded);
    let mut top = Table::new();
    top.put("seed", (seed >> 1) as i64);
    top.put("duration_s", 200);
    let rate = *dice.one(&RATES);
    let delay = dice.scale_of_time(1.0, 150.0);
    // The capture point on the path is anywhere between the ends.
    let near = delay * dice.between(0.1, 0.9);
    let near_rate = rate * dice.whole(1, 10);
    let first = link(&mut dice, ("access", "sender", "between"), (near_rate, near), 0.3);
    let second = link(&mut dice, ("bottleneck", "between", "receiver"), (rate, delay - near), 1.0);
    top.put("node", PLACES.map(|name| table([("name", name.into())])).to_vec());
    top.put("link", vec![first, second]);
    if dice.chance(0.6) {
        top.put("spike", vec![spike(&mut dice)]);
    }
    if dice.chance(0.1) {
        top.put("ip", "ipv6");
    }
    top.put("flow", vec![flow(&mut dice)]);
    top
}

/// Draws a link in both directions. `troubled` scales how often it disturbs packets.
fn link(dice: &mut Dice, (name, from, to): (&str, &str, &str), (rate, delay): (i64, f64), troubled: f64) -> Table {
    let mut link = Table::new();
    link.put("name", name);
    link.put("from", from);
    link.put("to", to);
    link.put("both", true);
    link.put("rate_bps", rate);
    link.put("delay_ms", (delay * 1000.0).round() / 1000.0);
    link.put("queue", table([("kind", "drop-tail".into()), ("packets", dice.whole(10, 160).into())]));
    if dice.chance(0.4 * troubled) {
        link.put("loss", loss(dice, 0.03));
    }
    if dice.chance(0.3 * troubled) {
        link.put(
            "reorder",
            table([
                ("length", dice.whole(1, 12).into()),
                ("rate", (0.002 * dice.whole(1, 10) as f64).into()),
                ("longest_wait_s", 0.3.into()),
            ]),
        );
    }
    if dice.chance(0.05 * troubled) {
        link.put("duplicate", table([("rate", (0.001 * dice.whole(1, 10) as f64).into())]));
    }
    let mut back = Table::new();
    back.put("rate_bps", rate);
    if dice.chance(0.3 * troubled) {
        back.put("loss", loss(dice, 0.2));
    }
    link.put("back", back);
    link
}

fn loss(dice: &mut Dice, most: f64) -> Table {
    let rate = (dice.between(0.05, 1.0) * most * 1000.0).round() / 1000.0;
    if dice.chance(0.7) {
        return table([("kind", "random".into()), ("rate", rate.into())]);
    }
    table([
        ("kind", "gilbert-elliott".into()),
        ("good_to_bad", (rate / 4.0).into()),
        ("bad_to_good", 0.3.into()),
        ("loss_in_good", 0.0.into()),
        ("loss_in_bad", 0.7.into()),
    ])
}

fn spike(dice: &mut Dice) -> Table {
    let links: &[&str] = match dice.whole(0, 4) {
        0 => &["bottleneck"],
        1 => &["bottleneck-back"],
        2 => &["bottleneck", "bottleneck-back"],
        3 => &["access"],
        _ => &["access-back"],
    };
    let at = |dice: &mut Dice, number: i64| {
        let start = 2.0 + 6.0 * number as f64;
        table([("start_s", start.into()), ("length_s", (0.2 + 0.1 * dice.whole(0, 24) as f64).into())])
    };
    let mut spike = Table::new();
    spike.put("holds", *dice.one(&["sending", "arriving"]));
    spike.put("links", links.iter().map(|link| Value::from(*link)).collect::<Vec<_>>());
    let count = dice.whole(1, 3);
    spike.put("at", (0..count).map(|number| at(dice, number)).collect::<Vec<_>>());
    spike
}

fn flow(dice: &mut Dice) -> Table {
    let mut flow = table([("name", "main".into()), ("from", "sender".into()), ("to", "receiver".into())]);
    let bytes = dice.whole(100_000, 1_600_000);
    let application = match dice.chance(0.8) {
        true => table([("kind", "bulk".into()), ("bytes", bytes.into())]),
        false => table([
            ("kind", "request-response".into()),
            ("requests", dice.whole(5, 40).into()),
            ("request_bytes", (bytes / 40).into()),
            ("response_bytes", dice.whole(100, 20_000).into()),
            ("think_ms", dice.scale_of_time(1.0, 500.0).into()),
        ]),
    };
    flow.put("application", application);
    let mut tcp = table([("payload_bytes", dice.one(&[1448_i64, 1448, 1448, 1208, 536]).to_owned().into())]);
    tcp.put("receive_window_segments", dice.whole(10, 110));
    let timestamps = dice.chance(0.6);
    tcp.put("timestamps", timestamps);
    if timestamps {
        tcp.put("timestamp_values", *dice.one(&["clock", "clock", "distinct"]));
        tcp.put("timestamp_granularity_ms", *dice.one(&[1.0, 1.0, 1.0, 4.0, 10.0]));
    }
    let sack = dice.chance(0.75);
    tcp.put("sack", sack);
    let dsack = sack && dice.chance(0.8);
    if sack {
        tcp.put("dsack", dsack);
    }
    if dice.chance(0.3) {
        tcp.put("delayed_ack_every", dice.whole(1, 2));
        tcp.put("delayed_ack_ms", *dice.one(&[0.0, 40.0, 100.0, 200.0]));
    }
    flow.put("tcp", tcp);
    let recover = if sack {
        *dice.one(&["rack-tlp", "rack-tlp", "rfc6675", "newreno-sack"])
    } else {
        *dice.one(&["newreno", "reno"])
    };
    let mut sender = table([("recover", recover.into())]);
    let detectors: &[&str] = match (timestamps, dsack) {
        (true, true) => &["none", "eifel-timestamps", "f-rto", "dsack"],
        (true, false) => &["none", "eifel-timestamps", "f-rto"],
        (false, true) => &["none", "f-rto", "dsack"],
        (false, false) => &["none", "f-rto"],
    };
    sender.put("detect", *dice.one(detectors));
    sender.put("respond", *dice.one(&["none", "rfc4015", "option-1"]));
    sender.put("rto", *dice.one(&["rfc6298", "linux", "linux"]));
    sender.put("congest", *dice.one(&["reno", "cubic", "cubic"]));
    flow.put("sender", sender);
    flow
}
