//! Flows: names, ends, applications and connections.

use super::algorithm;
use super::draw;
use super::error::Fault;
use super::format::SEAMS;
use super::model::{Connection, DatagramApplication, Flow, Opening, Reading, StreamApplication, Traffic};
use super::names::Names;
use super::needs;
use super::reader::Reader;
use super::routes::{NoWay, Routes};
use super::tcp::{self, Layers};
use super::topology::Topology;
use super::tree::Value;
use crate::slab::End;
use eifel_base::time::Instant;
use eifel_base::units::Rate;
use eifel_path::draw::Draw;
use eifel_recovery::engine;
use eifel_recovery::registry::{Choice, Seam};

/// The most segments in a window. A connection's memory of so many takes some hundred megabytes.
const MOST_SEGMENTS: u32 = 1 << 21;

/// A flow without its nodes: one `flow` table, or one of its repetitions.
pub(super) struct Draft<'a> {
    table: Reader<'a>,
    name: String,
    from: String,
    to: String,
}

/// Returns every flow, with each repetition as one.
pub(super) fn drafts<'a>(top: &Reader<'a>) -> Result<Vec<Draft<'a>>, Fault> {
    let mut drafts = Vec::new();
    for table in top.tables("flow") {
        let repeat = table.maybe_count("repeat");
        for key in ["name", "from", "to"] {
            match (repeat, table.text(key).contains('#')) {
                (None, true) => return Err(table.fault(key, "# stands for a number only with repeat")),
                (Some(_), false) if key == "name" => {
                    return Err(table.fault(key, "all repeated flows would have one name").allowed("a name with #"));
                }
                _ => {}
            }
        }
        for number in 1..=repeat.unwrap_or(1) {
            let numbered = |key: &str| table.text(key).replace('#', &number.to_string());
            drafts.push(Draft {
                name: numbered("name"),
                from: numbered("from"),
                to: numbered("to"),
                table: table.clone(),
            });
        }
    }
    Ok(drafts)
}

/// Returns the flows' names; each must be unique.
pub(super) fn names(drafts: &[Draft<'_>]) -> Result<Names, Fault> {
    let mut names = Names::new("flow");
    for draft in drafts {
        names.add(&draft.name).map_err(|what| draft.table.fault("name", what))?;
    }
    Ok(names)
}

pub(super) fn build(
    top: &Reader<'_>,
    drafts: Vec<Draft<'_>>,
    topology: &Topology,
    routes: &Routes<'_>,
) -> Result<Vec<Flow>, Fault> {
    let ways = Ways { topology, routes };
    let mut flows = Vec::with_capacity(drafts.len());
    let mut previous: Option<Flow> = None;
    for draft in drafts {
        let table = &draft.table;
        let from = topology.node_names.find(&draft.from, |what| table.fault("from", what))?;
        let to = topology.node_names.find(&draft.to, |what| table.fault("to", what))?;
        if from == to {
            let what = format!("the flow {:?} leads from {:?} to itself", draft.name, draft.to);
            return Err(table.fault("to", what).allowed("another node than `from`"));
        }
        // Flows that a table repeats share the table's settings.
        let repeated = previous.filter(|_| table.maybe_count("repeat").is_some() && !draft.name_is_first());
        let plain = match repeated {
            Some(flow) => flow,
            None => one(top, table)?,
        };
        let there = ways.find(table, from, to)?;
        let back = match plain.traffic {
            Traffic::Stream { .. } => ways.find(table, to, from)?,
            Traffic::Datagrams(_) => Vec::new(),
        };
        let flow = Flow { name: draft.name, from, to, there, back, ..plain };
        previous = Some(flow.clone());
        flows.push(flow);
    }
    Ok(flows)
}

impl Draft<'_> {
    fn name_is_first(&self) -> bool {
        self.table.text("name").replace('#', "1") == self.name
    }
}

/// Finds ways between nodes.
struct Ways<'a> {
    topology: &'a Topology,
    routes: &'a Routes<'a>,
}

impl Ways<'_> {
    fn find(&self, flow: &Reader<'_>, from: usize, to: usize) -> Result<Vec<usize>, Fault> {
        let name = |node: usize| &self.topology.nodes[node].name;
        self.routes.way(from, to, &self.routes.distances(to)).map_err(|why| {
            let (start, goal) = (name(from), name(to));
            let what = match why {
                NoWay::Ends(at) if at == from => format!("no route from {start:?} to {goal:?}"),
                NoWay::Ends(at) => format!("no route from {start:?} to {goal:?}: it ends at {:?}", name(at)),
                NoWay::Turns(at) => {
                    format!("the routes from {start:?} to {goal:?} go round in a circle at {:?}", name(at))
                }
            };
            flow.fault("to", what).allowed("nodes joined by links both ways, or one way for datagrams")
        })
    }
}

/// Reads a flow from its table, without ends and ways.
fn one(top: &Reader<'_>, table: &Reader<'_>) -> Result<Flow, Fault> {
    let duration = Instant::ZERO + top.duration("duration_s");
    let start = draw::read(table, "start_s")?;
    let end = table.maybe_duration("end_s").map(|end| Instant::ZERO + end);
    let earliest = match start {
        Draw::Constant { value_s } | Draw::Uniform { low_s: value_s, .. } => value_s,
        _ => 0.0,
    };
    if earliest >= duration.as_secs_f64() {
        let what = format!("the flow would begin at {earliest} s, after the run");
        return Err(table
            .fault("start_s", what)
            .allowed(format!("less than {} s, duration_s", duration.as_secs_f64())));
    }
    if let Some(end) = end.filter(|end| end.as_secs_f64() <= earliest) {
        let what = format!("the flow would end at {} s, before it begins at {earliest} s", end.as_secs_f64());
        return Err(table.fault("end_s", what).allowed("an end after the start"));
    }
    let traffic = traffic(top, table)?;
    Ok(Flow { name: String::new(), from: 0, to: 0, there: Vec::new(), back: Vec::new(), start, end, traffic })
}

fn traffic(top: &Reader<'_>, table: &Reader<'_>) -> Result<Traffic, Fault> {
    let application = table.table("application").expect("checked: required");
    let stream = match application.kind() {
        "cbr" | "on-off" => return datagrams(table, &application).map(Traffic::Datagrams),
        _ => application,
    };
    let settings_of = |end: End| tcp::settings(&Layers::new("tcp", end, table, top), tcp::ip(top));
    let ((settings, payload), (answering_settings, answering_payload)) =
        (settings_of(End::From)?, settings_of(End::To)?);
    let (window, segment) =
        (settings.receive_window.max(answering_settings.receive_window), payload.min(answering_payload));
    if window / segment > MOST_SEGMENTS {
        let what = format!("a window of {window} bytes holds {} segments of {segment} bytes", window / segment);
        return Err(table.fault("tcp", what).allowed(format!("at most {MOST_SEGMENTS} segments in a window")));
    }
    let sender_of = |end: End| sender(&Layers::new("sender", end, table, top));
    let [sender, answering_sender] = [End::From, End::To].map(sender_of);
    sender.check().map_err(|error| table.fault("sender", error.to_string()))?;
    answering_sender.check().map_err(|error| table.fault("answering_sender", error.to_string()))?;
    needs::check([table.table("sender"), top.table("sender")], &settings)?;
    needs::check([table.table("answering_sender")], &answering_settings)?;
    let application = stream_application(&stream, payload)?;
    let (reading, isns) = (reading(table)?, isns(table)?);
    let liar = super::liar::read(table);
    let opening = match (table.maybe_switch("handshake"), table.maybe_text("handshake")) {
        (Some(false), _) => Opening::Established,
        (_, Some(_)) => Opening::Simultaneous,
        _ => Opening::Handshake,
    };
    let connection =
        Box::new(Connection { opening, settings, sender, answering_settings, answering_sender, liar, reading, isns });
    Ok(Traffic::Stream { application, connection })
}

fn reading(table: &Reader<'_>) -> Result<Option<Reading>, Fault> {
    let Some(table) = table.table("reading") else { return Ok(None) };
    Ok(Some(Reading { bytes: table.integer("bytes"), every: draw::read(&table, "every_ms")? }))
}

fn isns(table: &Reader<'_>) -> Result<Option<[u32; 2]>, Fault> {
    let given: Vec<u32> = table.items("isn").iter().map(|item| item.integer() as u32).collect();
    match given[..] {
        [] => Ok(None),
        [from, to] => Ok(Some([from, to])),
        _ => Err(table.fault("isn", format!("{} numbers", given.len())).allowed("two, for `from` and `to`")),
    }
}

fn stream_application(table: &Reader<'_>, payload: u32) -> Result<StreamApplication, Fault> {
    if table.kind() == "request-response" {
        return Ok(StreamApplication::RequestResponse {
            requests: table.count("requests"),
            request_bytes: table.integer("request_bytes"),
            response_bytes: table.integer("response_bytes"),
            think: draw::read(table, "think_ms")?,
        });
    }
    if table.kind() == "exchange" {
        return Ok(StreamApplication::Exchange {
            bytes: table.integer("bytes"),
            back_bytes: table.integer("back_bytes"),
        });
    }
    if table.maybe_switch("endless") == Some(false) {
        return Err(table.fault("endless", "false says nothing of how much").allowed("true, or bytes, or segments"));
    }
    let in_segments = table.maybe_integer("segments").map(|segments| segments.saturating_mul(u64::from(payload)));
    Ok(StreamApplication::Bulk { bytes: table.maybe_integer("bytes").or(in_segments) })
}

fn datagrams(flow: &Reader<'_>, table: &Reader<'_>) -> Result<DatagramApplication, Fault> {
    let only_tcp = ["handshake", "liar", "reading", "isn", "tcp", "sender", "answering_tcp", "answering_sender"];
    if let Some(key) = only_tcp.into_iter().find(|key| flow.has(key)) {
        let what = format!("contradicts application.kind = {:?}, which sends datagrams without TCP", table.kind());
        return Err(flow.fault(key, what).allowed(
            "handshake, liar, reading, isn, tcp, sender and those of the end that answers for what goes over TCP",
        ));
    }
    let rate = Rate::from_bps(table.integer("rate_bps")).expect("checked: 1 or more");
    let packet_bytes = table.count("packet_bytes");
    let mean = |key: &str| Draw::Exponential { mean_s: table.duration(key).as_secs_f64() };
    Ok(match table.kind() {
        "on-off" => DatagramApplication::OnOff { rate, packet_bytes, on: mean("on_ms"), off: mean("off_ms") },
        _ => DatagramApplication::Cbr { rate, packet_bytes, jitter: table.number("jitter") },
    })
}

fn sender(layers: &Layers<'_>) -> engine::Config {
    let mut config = engine::Config::default();
    for &(key, seam) in SEAMS {
        if let Some(node) = layers.of(&[key]).node(key) {
            *place(&mut config, seam) = algorithm::choice(node, seam);
        }
    }
    if let Some(Value::List(observers)) = layers.of(&["observers"]).node("observers").map(|node| &node.value) {
        config.observers = observers.iter().map(|node| algorithm::choice(node, Seam::Detect)).collect();
    }
    config
}

fn place(config: &mut engine::Config, seam: Seam) -> &mut Choice {
    match seam {
        Seam::Detect => &mut config.detect,
        Seam::Respond => &mut config.respond,
        Seam::Grant => &mut config.grant,
        Seam::Rto => &mut config.rto,
        Seam::AfterSpurious => &mut config.after_spurious,
        Seam::Recover => &mut config.recover,
        Seam::Congest => &mut config.congest,
        Seam::Pace => &mut config.pace,
        Seam::Retransmit | Seam::Credit => unreachable!("a connection has one path"),
    }
}
