//! Scenarios from seeds, as trees of the scenario format: what is drawn is what a file would say, and no more.

mod algorithms;
mod connection;
mod flow;
mod path;

use crate::dice::Dice;
use toml::{Table, Value};

/// What the whole case is about, drawn first: the rest goes by it.
struct Scale {
    /// When everything that disturbs the path has come to its end, in seconds.
    heals_s: f64,
    /// Bytes of a full segment's payload, more or less.
    payload: i64,
    /// The names of the flows.
    flows: Vec<String>,
}

/// The scenario of a seed.
pub fn scenario(seed: u64) -> Table {
    let mut dice = Dice::new(seed);
    let scale = Scale {
        heals_s: dice.scale_of_time(0.05, 60.0),
        payload: if dice.chance(0.3) { dice.scale(1, 200) } else { dice.scale(200, 9000) },
        flows: (1..=*dice.one(&[1, 1, 1, 1, 1, 1, 2, 3])).map(|number: u32| format!("flow{number}")).collect(),
    };
    let mut top = Table::new();
    top.put("seed", (seed >> 1) as i64);
    // When it ends is for whoever runs it to say: a case is judged by what it has to be patient about.
    top.put("duration_s", 315_360_000);
    if dice.chance(0.1) {
        top.put("header_bytes", dice.whole(0, 100));
    }
    top.put("point_to_point", path::both_ways(&mut dice, &scale));
    let spikes = path::spikes(&mut dice, &scale);
    if !spikes.is_empty() {
        top.put("spike", spikes);
    }
    let flows: Vec<Table> = scale.flows.iter().map(|name| flow::flow(&mut dice, &scale, name)).collect();
    top.put("flow", flows);
    // Drawn last, so that the cases without it are what they were.
    if dice.chance(0.1) {
        path::behind_a_proxy(&mut dice, &scale, &mut top);
    }
    if dice.chance(0.1) {
        top.put("ip", "ipv6");
    }
    if dice.chance(0.15) {
        let buffer = match dice.chance(0.3) {
            true => dice.scale((scale.payload / 20).max(1), 2 * scale.payload),
            false => scale.payload * dice.scale(1, 50),
        };
        top.put("tcp", table([("send_buffer_bytes", buffer.into())]));
    }
    top
}

/// Filling a table.
trait Put {
    fn put(&mut self, key: &str, value: impl Into<Value>);
}

impl Put for Table {
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.insert(key.to_owned(), value.into());
    }
}

/// A table of these keys and values.
pub(crate) fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
