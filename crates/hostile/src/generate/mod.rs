//! Draws scenarios from seeds, as trees of the scenario format. A generated scenario could be
//! written to a file.

mod algorithms;
mod association;
mod connection;
mod flow;
mod newcomers;
mod path;
mod plain;

pub use plain::{PLACES, plain};

use crate::dice::{Algorithms, Dice};
use toml::{Table, Value};

/// Properties of the whole case, drawn before anything else.
struct Scale {
    /// The time in seconds after which nothing disturbs the path any more.
    heals_s: f64,
    /// Approximate payload of a full segment, in bytes.
    payload: i64,
    flows: Vec<String>,
}

/// Draws the scenario of a seed from all algorithms of the registry. About one in five uses SCTP.
pub fn scenario(seed: u64) -> Table {
    over_tcp_or_sctp(seed, Algorithms::All)
}

/// Draws the scenario of a seed from recorded algorithms. It stays the same when the registry grows.
pub fn recorded(seed: u64) -> Table {
    over_tcp_or_sctp(seed, Algorithms::Recorded)
}

fn over_tcp_or_sctp(seed: u64, algorithms: Algorithms) -> Table {
    let (mut top, scale) = over_tcp(seed, algorithms);
    // A separate random stream, so that the draws over TCP stay the same.
    let mut dice = Dice::new(seed ^ 0x7363_7470_0000_0000, algorithms);
    if dice.chance(0.25) {
        association::replace_tcp(&mut dice, &scale, &mut top);
    }
    newcomers::add(&dice, &scale, &mut top);
    top
}

/// Draws the scenario of a seed over TCP.
fn over_tcp(seed: u64, algorithms: Algorithms) -> (Table, Scale) {
    let mut dice = Dice::new(seed, algorithms);
    let scale = Scale {
        heals_s: dice.scale_of_time(0.05, 60.0),
        payload: if dice.chance(0.3) { dice.scale(1, 200) } else { dice.scale(200, 9000) },
        flows: (1..=*dice.one(&[1, 1, 1, 1, 1, 1, 2, 3])).map(|number: u32| format!("flow{number}")).collect(),
    };
    let mut top = Table::new();
    top.put("seed", (seed >> 1) as i64);
    // The judge sets the end, from the longest time that the case can need.
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
    // Drawn last, so that cases without a proxy stay the same.
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
    if dice.chance(0.2) {
        path::radio_impairments(&mut dice, &scale, &mut top);
    }
    if dice.chance(0.3) {
        connection::endpoint_settings(&mut dice, &mut top);
    }
    (top, scale)
}

/// Draws the scenario of a seed over TCP from recorded algorithms, with a second link before its
/// path and a node between the links.
pub fn with_a_middle(seed: u64) -> Table {
    let (mut top, _) = over_tcp(seed, Algorithms::Recorded);
    if top.contains_key("point_to_point") {
        let mut dice = Dice::new(seed ^ 0x6d69_6464_6c65_0000, Algorithms::Recorded);
        let scale = Scale { heals_s: dice.scale_of_time(0.05, 60.0), payload: 1000, flows: vec!["flow1".into()] };
        path::in_two_links(&mut dice, &scale, &mut top, PLACES[1]);
    }
    top
}

trait Put {
    fn put(&mut self, key: &str, value: impl Into<Value>);
}

impl Put for Table {
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.insert(key.to_owned(), value.into());
    }
}

/// Makes a table from keys and values.
pub(crate) fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
