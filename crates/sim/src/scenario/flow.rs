//! Reads flows: names, ends, applications and connections.

use super::algorithm;
use super::amount::Amount;
use super::draw;
use super::error::Fault;
use super::format::{OF_ASSOCIATIONS, SEAMS};
use super::layers::Layers;
use super::model::{
    Association, Connection, DatagramApplication, Flow, Opening, Path, Reading, StreamApplication, Traffic,
};
use super::names::Names;
use super::needs;
use super::reader::Reader;
use super::routes::{RouteError, Routes};
use super::sctp;
use super::tcp;
use super::topology::Topology;
use super::tree::Value;
use crate::end::End;
use eifel_base::time::Instant;
use eifel_base::units::Rate;
use eifel_path::draw::Draw;
use eifel_recovery::registry::{Choice, Seam};
use eifel_recovery::{association, engine};

/// The most segments in a window. A connection with a window of this size takes a few hundred
/// megabytes.
const MOST_SEGMENTS: u32 = 1 << 21;

/// A flow without its nodes: one `flow` table, or one of its repetitions.
pub(super) struct Draft<'a> {
    table: Reader<'a>,
    name: String,
    from: String,
    to: String,
    /// The ends of its alternate paths, as names of nodes.
    alternates: Vec<(Reader<'a>, String, String)>,
}

/// Returns all flows. Each repetition of a repeated flow is a flow of its own.
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
        let alternates = table.tables("alternates");
        for number in 1..=repeat.unwrap_or(1) {
            let numbered = |table: &Reader<'_>, key: &str| table.text(key).replace('#', &number.to_string());
            let path = |path: &Reader<'a>| (path.clone(), numbered(path, "from"), numbered(path, "to"));
            drafts.push(Draft {
                name: numbered(&table, "name"),
                from: numbered(&table, "from"),
                to: numbered(&table, "to"),
                alternates: alternates.iter().map(path).collect(),
                table: table.clone(),
            });
        }
    }
    Ok(drafts)
}

/// Returns the names of the flows. Each must be unique.
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
        let (from, to) = ways.ends(table, &draft.name, (&draft.from, &draft.to))?;
        // Repetitions of a flow share the settings of its table.
        let repeated = previous.filter(|_| table.maybe_count("repeat").is_some() && !draft.name_is_first());
        let plain = match repeated {
            Some(flow) => flow,
            None => one(top, table)?,
        };
        let there = ways.find(table, from, to)?;
        let back = match plain.traffic {
            Traffic::Stream { .. } | Traffic::Messages { .. } => ways.find(table, to, from)?,
            Traffic::Datagrams(_) => Vec::new(),
        };
        let alternates = ways.alternates(&draft, (from, to))?;
        let flow = Flow { name: draft.name, from, to, there, back, alternates, ..plain };
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

/// Finds paths between nodes.
struct Ways<'a> {
    topology: &'a Topology,
    routes: &'a Routes<'a>,
}

impl Ways<'_> {
    /// Finds the two nodes of a path.
    fn ends(&self, path: &Reader<'_>, flow: &str, (from, to): (&str, &str)) -> Result<(usize, usize), Fault> {
        let nodes = &self.topology.node_names;
        let ends = (nodes.find(from, |what| path.fault("from", what))?, nodes.find(to, |what| path.fault("to", what))?);
        if ends.0 == ends.1 {
            let what = format!("the flow {flow:?} leads from {to:?} to itself");
            return Err(path.fault("to", what).allowed("another node than `from`"));
        }
        Ok(ends)
    }

    /// Finds the alternate paths of a flow whose primary path has these ends. Each address must
    /// belong to only one path.
    fn alternates(&self, draft: &Draft<'_>, primary: (usize, usize)) -> Result<Vec<Path>, Fault> {
        let mut taken = vec![primary.0, primary.1];
        let mut paths = Vec::new();
        for (table, from_name, to_name) in &draft.alternates {
            let (from, to) = self.ends(table, &draft.name, (from_name, to_name))?;
            for (key, node, name) in [("from", from, from_name), ("to", to, to_name)] {
                if taken.contains(&node) {
                    let what = format!("{name:?} is an address of another path of {:?}", draft.name);
                    return Err(table.fault(key, what).allowed("a node for each end of each path"));
                }
            }
            taken.extend([from, to]);
            paths.push(Path { from, to, there: self.find(table, from, to)?, back: self.find(table, to, from)? });
        }
        Ok(paths)
    }

    fn find(&self, flow: &Reader<'_>, from: usize, to: usize) -> Result<Vec<usize>, Fault> {
        let name = |node: usize| &self.topology.nodes[node].name;
        self.routes.way(from, to, &self.routes.distances(to)).map_err(|why| {
            let (start, goal) = (name(from), name(to));
            let what = match why {
                RouteError::Ends(at) if at == from => format!("no route from {start:?} to {goal:?}"),
                RouteError::Ends(at) => format!("no route from {start:?} to {goal:?}: it ends at {:?}", name(at)),
                RouteError::Turns(at) => {
                    format!("the routes from {start:?} to {goal:?} go round in a circle at {:?}", name(at))
                }
            };
            flow.fault("to", what).allowed("nodes joined by links both ways, or one way for datagrams")
        })
    }
}

/// Reads a flow from its table, except its name, its ends and its paths.
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
    Ok(Flow {
        name: String::new(),
        from: 0,
        to: 0,
        there: Vec::new(),
        back: Vec::new(),
        alternates: Vec::new(),
        start,
        end,
        traffic,
    })
}

fn traffic(top: &Reader<'_>, table: &Reader<'_>) -> Result<Traffic, Fault> {
    let application = table.table("application").expect("checked: required");
    let stream = match application.kind() {
        "cbr" | "on-off" => return datagrams(table, &application).map(Traffic::Datagrams),
        _ => application,
    };
    if table.text("transport") == "sctp" {
        return messages(top, table, &stream);
    }
    if let Some(key) = ONLY_SCTP.into_iter().find(|key| table.has(key)) {
        return Err(table.fault(key, "makes no sense over TCP").allowed("transport = \"sctp\" beside it"));
    }
    let settings_of = |end: End| tcp::settings(&Layers::new("tcp", end, table, top), tcp::ip(top));
    let ((settings, payload), (answering_settings, answering_payload)) =
        (settings_of(End::From)?, settings_of(End::To)?);
    let (window, segment) =
        (settings.receive_window.max(answering_settings.receive_window), payload.min(answering_payload));
    if window / segment > MOST_SEGMENTS {
        let what = format!("a window of {window} bytes holds {} segments of {segment} bytes", window / segment);
        return Err(table.fault("tcp", what).allowed(format!("at most {MOST_SEGMENTS} segments in a window")));
    }
    for end in [End::From, End::To] {
        for_connections(&Layers::new("sender", end, table, top), table)?;
    }
    let [sender, answering_sender] = senders(top, table, &engine::Config::default())?;
    needs::check([table.table("sender"), top.table("sender")], "tcp", |need| needs::by_tcp(&settings, need))?;
    needs::check([table.table("answering_sender")], "tcp", |need| needs::by_tcp(&answering_settings, need))?;
    let application = stream_application(&stream, payload)?;
    let (reading, isns) = (reading(table)?, isns(table)?);
    let liar = super::liar::read(table);
    let opening = match (table.maybe_switch("handshake"), table.maybe_text("handshake")) {
        (Some(false), _) => Opening::Established,
        (_, Some(_)) => Opening::Simultaneous,
        _ => Opening::Handshake,
    };
    let shares = [End::From, End::To]
        .map(|end| Layers::new("tcp", end, table, top).of(&["temporal_sharing"]).switch("temporal_sharing"));
    let connection =
        Connection { opening, settings, sender, answering_settings, answering_sender, shares, liar, reading, isns };
    Ok(Traffic::Stream { application, connection: Box::new(connection) })
}

/// Keys of a flow that are only for associations.
const ONLY_SCTP: [&str; 4] = ["alternates", "changeovers", "sctp", "answering_sctp"];
/// Keys of a flow that are only for connections.
const ONLY_TCP: [&str; 5] = ["handshake", "isn", "tcp", "answering_tcp", "profile"];

/// Reads an application over an association.
fn messages(top: &Reader<'_>, table: &Reader<'_>, application: &Reader<'_>) -> Result<Traffic, Fault> {
    if let Some(key) = ONLY_TCP.into_iter().find(|key| table.has(key)) {
        return Err(table.fault(key, "makes no sense over SCTP").allowed("transport = \"tcp\" beside it"));
    }
    for of in [table.table("sender"), table.table("answering_sender")].iter().flatten() {
        sctp::check_recovery(of)?;
    }
    let layers = [End::From, End::To].map(|end| Layers::new("sctp", end, table, top));
    let plain = |end: End| association::Config::by(sctp::rules(&layers[end.index()]));
    let made = |end: End| {
        let (own, other) = (&layers[end.index()], &layers[end.other().index()]);
        let mut engine = plain(end);
        engine.path = senders(top, table, &engine.path)?[end.index()].clone();
        let algorithms = Layers::new("sender", end, table, top);
        for &(key, seam) in OF_ASSOCIATIONS {
            if let Some(node) = algorithms.of(&[key]).node(key) {
                let chosen = algorithm::choice(node, seam);
                if seam == Seam::Credit { engine.credit = chosen } else { engine.retransmit = chosen }
            }
        }
        sctp::settings(own, tcp::ip(top), engine, sctp::receive_buffer(other))
    };
    let ((from, from_bytes), (to, to_bytes)) = (made(End::From)?, made(End::To)?);
    needs::check([table.table("sender"), top.table("sender")], "sctp", |need| sctp::gives(&from, need))?;
    needs::check([table.table("answering_sender")], "sctp", |need| sctp::gives(&to, need))?;
    let stream = stream_application(application, from_bytes)?;
    let from_bytes = match stream {
        StreamApplication::Messages { bytes, .. } if bytes as usize > from.send_buffer => {
            let what = format!("a message has no room in a send buffer of {} bytes", from.send_buffer);
            return Err(application.fault("bytes", what).allowed("a larger send_buffer_bytes, or fewer bytes"));
        }
        StreamApplication::Messages { bytes, .. } => bytes,
        _ => from_bytes,
    };
    let shared = &layers[End::From.index()];
    let association = Box::new(Association {
        message_bytes: [from_bytes, to_bytes],
        charges: [sctp::charges(&layers[0]), sctp::charges(&layers[1])],
        streams: from.outbound_streams,
        unordered: shared.of(&["unordered"]).switch("unordered"),
        liar: super::liar::read(table),
        reading: reading(table)?,
        settings: [from, to],
        changeovers: sctp::changeovers(table)?,
    });
    Ok(Traffic::Messages { application: stream, association })
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
            request_bytes: draw::amount(table, "request_bytes")?,
            response_bytes: draw::amount(table, "response_bytes")?,
            think: draw::read(table, "think_ms")?,
        });
    }
    if table.kind() == "exchange" {
        return Ok(StreamApplication::Exchange {
            bytes: table.integer("bytes"),
            back_bytes: table.integer("back_bytes"),
        });
    }
    let messages = table.kind() == "messages";
    if table.maybe_switch("endless") == Some(false) {
        let amounts = if messages { "true, or messages" } else { "true, or bytes, or segments" };
        return Err(table.fault("endless", "false says nothing of how much").allowed(amounts));
    }
    if messages {
        let interval = draw::read(table, "interval_ms")?;
        if interval.mean_s() <= 0.0 {
            return Err(table.fault("interval_ms", "no time between messages").allowed("a mean of more than 0"));
        }
        let (bytes, count) = (table.count("bytes"), table.maybe_count("messages"));
        return Ok(StreamApplication::Messages { bytes, interval, count });
    }
    let in_segments = table.maybe_integer("segments").map(|segments| segments.saturating_mul(u64::from(payload)));
    let bytes = if table.has("bytes") { Some(draw::amount(table, "bytes")?) } else { in_segments.map(Amount::fixed) };
    Ok(StreamApplication::Bulk { bytes })
}

fn datagrams(flow: &Reader<'_>, table: &Reader<'_>) -> Result<DatagramApplication, Fault> {
    let others =
        ONLY_TCP.into_iter().chain(["liar", "reading", "sender", "answering_sender", "transport"]).chain(ONLY_SCTP);
    if let Some(key) = others.into_iter().find(|key| flow.has(key)) {
        let what = format!("contradicts application.kind = {:?}, which sends datagrams without TCP", table.kind());
        return Err(flow.fault(key, what).allowed(
            "handshake, profile, liar, reading, isn, tcp, sender and those of the end that answers for what goes over TCP",
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

/// Reads the algorithms of both ends. `usual` has the defaults.
fn senders(top: &Reader<'_>, table: &Reader<'_>, usual: &engine::Config) -> Result<[engine::Config; 2], Fault> {
    let [from, to] = [End::From, End::To].map(|end| sender(&Layers::new("sender", end, table, top), usual.clone()));
    from.check().map_err(|error| table.fault("sender", error.to_string()))?;
    to.check().map_err(|error| table.fault("answering_sender", error.to_string()))?;
    Ok([from, to])
}

/// Checks that none of these algorithms is only for associations.
fn for_connections(layers: &Layers<'_>, flow: &Reader<'_>) -> Result<(), Fault> {
    for table in ["sender", "answering_sender"].iter().filter_map(|key| flow.table(key)) {
        if let Some((key, _)) = OF_ASSOCIATIONS.iter().find(|(key, _)| table.has(key)) {
            let what = "makes no sense over TCP, which has one path";
            return Err(table.fault(key, what).allowed("transport = \"sctp\" in the flow"));
        }
    }
    for &(key, seam) in SEAMS {
        let table = layers.of(&[key]);
        if let Some(node) = table.node(key) {
            algorithm::for_connections(node, seam, |what| table.fault(key, what))?;
        }
    }
    for item in layers.of(&["observers"]).items("observers") {
        algorithm::for_connections(item.node(), Seam::Detect, |what| item.fault(what))?;
    }
    Ok(())
}

fn sender(layers: &Layers<'_>, mut config: engine::Config) -> engine::Config {
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
