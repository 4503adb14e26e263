//! A run as data. A scenario is TOML, or JSON of the same structure. It is either understood
//! completely, or refused with one line that says where and why. `docs/reference/scenario.md` is the
//! reference of the format.
//!
//! The text is parsed into a tree of values with their lines. The tree is checked against the
//! format. The format itself is data, and also the source of the JSON [schema](schema()). The
//! format cannot express names, routes and the order of times. These are checked while the scenario
//! is built.

mod algorithm;
mod amount;
pub mod change;
mod check;
mod draw;
mod error;
mod flow;
mod format;
mod json;
mod layers;
mod liar;
mod link;
mod model;
mod names;
mod near;
mod needs;
mod profile;
mod proxy;
mod reader;
mod routes;
mod schema;
mod sctp;
mod shape;
mod spike;
mod tcp;
#[cfg(test)]
mod tests;
mod topology;
mod tree;

pub use amount::Amount;
pub use error::Error;
pub use model::{
    Association, Changeover, Connection, DatagramApplication, Flow, Link, Node, Opening, Path as FlowPath, Reading,
    Recording, Scenario, Stop, StreamApplication, Traffic,
};
pub use schema::schema;

use eifel_base::time::Duration;
use eifel_recovery::registry::{Choice, Seam};
use error::Fault;
use names::Names;
use reader::Reader;
use std::path::Path;

/// The record tables that a scenario can ask for.
pub const TABLES: &[&str] =
    &["transmissions", "arrivals", "acks", "drops", "window", "timer", "episodes", "verdicts", "queues", "spikes"];

impl Scenario {
    /// Reads a scenario: TOML, or JSON if the text begins with a brace. `origin` is the file's
    /// path, for messages. Its folder holds the files that the scenario names.
    pub fn parse(text: &str, origin: &Path) -> Result<Self, Error> {
        build(text, origin.parent().unwrap_or(Path::new(""))).map_err(|fault| fault.in_file(&origin.to_string_lossy()))
    }
}

/// Converts a scenario's text to JSON, for programs that change a value and parse the result. It
/// keeps the order of the keys, adds nothing and checks nothing.
///
/// # Errors
/// Returns an error if the text is neither TOML nor JSON.
pub fn document(text: &str, origin: &Path) -> Result<String, Error> {
    let tree = tree::read(text).map_err(|fault| fault.in_file(&origin.to_string_lossy()))?;
    let mut json = String::new();
    tree.write_json(&mut json);
    Ok(json)
}

/// Returns the retransmission timer that a `sender` table names. `text` is that table.
///
/// # Errors
/// Returns an error if the table is invalid or lacks `rto`.
pub fn timer(text: &str) -> Result<Choice, Error> {
    let read = || {
        let tree = tree::read(text)?;
        check::table(&tree, &format::SENDER, None, "")?;
        let sender = Reader::new(&tree, &format::SENDER, "");
        let rto = sender.node("rto").ok_or_else(|| sender.fault("rto", "missing"))?;
        Ok(algorithm::choice(rto, Seam::Rto))
    };
    read().map_err(|fault: Fault| fault.in_file("timer"))
}

fn build(text: &str, folder: &Path) -> Result<Scenario, Fault> {
    let tree = tree::read(text)?;
    check::table(&tree, &format::SCENARIO, None, "")?;
    let top = Reader::new(&tree, &format::SCENARIO, "");
    let drafts = flow::drafts(&top)?;
    let flow_names = flow::names(&drafts)?;
    let mut topology = topology::build(&top, &link::Surroundings { folder, flows: &flow_names })?;
    spike::attach(&top, &mut topology)?;
    let duration = top.duration("duration_s");
    let routes = routes::Routes::new(&top, &topology)?;
    let flows = flow::build(&top, drafts, &topology, &routes)?;
    proxy::attach(&top, &mut topology, &flows)?;
    let recording = recording(&top, &topology.node_names, &flows)?;
    Ok(Scenario {
        title: top.maybe_text("title").unwrap_or_default().to_owned(),
        seed: top.integer("seed"),
        repetitions: top.count("repetitions"),
        duration: duration.max(Duration::from_nanos(1)),
        stop: match top.text("stop") {
            "first-flow-done" => Stop::FirstFlowDone,
            "at-duration" => Stop::AtDuration,
            _ => Stop::AllFlowsDone,
        },
        header_bytes: top.maybe_count("header_bytes"),
        ip: tcp::ip(&top),
        recording,
        nodes: topology.nodes,
        links: topology.links,
        flows,
    })
}

fn recording(top: &Reader<'_>, nodes: &Names, flows: &[Flow]) -> Result<Recording, Fault> {
    let mut recording = Recording::default();
    for item in top.items("record") {
        let Some(&table) = TABLES.iter().find(|table| **table == item.text()) else { continue };
        if recording.tables.contains(&table) {
            return Err(item.fault(format!("{table} is listed twice")));
        }
        recording.tables.push(table);
    }
    for item in top.items("captures") {
        let node = nodes.item(&item)?;
        if recording.captures.contains(&node) {
            return Err(item.fault(format!("{} is listed twice", item.text())));
        }
        let connects = |flow: &Flow| {
            let begins_or_ends = flow.from == node || flow.ways().any(|(_, to)| to == node);
            !matches!(flow.traffic, Traffic::Datagrams(_)) && begins_or_ends
        };
        if !flows.iter().any(connects) {
            let what =
                format!("no connection begins or ends at {:?}, and captures are of connections' ends", item.text());
            return Err(item.fault(what).allowed("a node that a flow over TCP or SCTP is from or to"));
        }
        recording.captures.push(node);
    }
    Ok(recording)
}
