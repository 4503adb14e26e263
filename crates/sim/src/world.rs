//! A world: the whole state of one run, built from its scenario.

use crate::app::bulk::{Bulk, Writing};
use crate::app::cbr::Cbr;
use crate::app::exchange::Exchange;
use crate::app::messages::Messages;
use crate::app::on_off::OnOff;
use crate::app::reader::Reader;
use crate::app::request_response::{Drawn, RequestResponse};
use crate::app::session::{Progress, Session};
use crate::app::{Alarm, DatagramApp, StreamApp};
use crate::background::{Background, Place};
use crate::bounds::Bounds;
use crate::clock::queue::EventQueue;
use crate::datagram_flow::DatagramFlow;
use crate::end::End;
use crate::error::Error;
use crate::lookahead::Lookahead;
use crate::network::{Drops, Network, Observers};
use crate::oracle::Oracle;
use crate::proxies::Proxies;
use crate::routes::Routes;
use crate::scenario::{DatagramApplication, Flow, Reading, Scenario, StreamApplication, Traffic};
use crate::sctp::flow::AssociationFlow;
use crate::slab::{Address, Slab};
use crate::span::Span;
use crate::stream_flow::StreamFlow;
use eifel_base::time::{Duration, Instant};
use eifel_path::background::Source;
use eifel_path::link::Link;
use eifel_path::stream::Stream;
use std::collections::BTreeMap;

/// Slots of the event queue for each flow: a timer at each end, and an alarm.
pub const SLOTS_PER_FLOW: usize = 3;
/// Offset of the alarm among a flow's slots.
pub const ALARM: usize = 2;

/// One flow of a run.
pub enum Running {
    Stream(StreamFlow),
    Association(Box<AssociationFlow>),
    Datagrams(DatagramFlow),
    /// Datagrams over just one link, stored with that link.
    Background(Place),
}

pub struct World<'a, const IN_ORDER: bool> {
    pub scenario: &'a Scenario,
    /// The seed of this repetition.
    pub seed: u64,
    pub net: Network<IN_ORDER>,
    /// In the scenario's order.
    pub flows: Vec<Running>,
    /// Flows that end on their own and are not over.
    pub unfinished: usize,
    pub events: u64,
    /// Detects a run that stands still or would exhaust memory.
    pub bounds: Bounds,
}

impl<'a, const IN_ORDER: bool> World<'a, IN_ORDER> {
    /// Builds the world for the start of a run.
    pub fn new(scenario: &'a Scenario, seed: u64, observers: Observers) -> Result<Self, Error> {
        let most = usize::from(u16::MAX);
        if scenario.nodes.len() > most || scenario.links.len() > most {
            return Err(Error::TooLarge);
        }
        let mut spans = Vec::with_capacity(scenario.links.len());
        for link in &scenario.links {
            let made = Link::new(&link.config, &link.name, seed)
                .map_err(|error| Error::Link { name: link.name.clone(), error })?;
            let to = link.to as u16;
            let (leads_ahead, feeds_ahead, follows, awaited) = (false, false, false, 0);
            spans.push(Span {
                link: made,
                to,
                leads_ahead,
                feeds_ahead,
                follows,
                awaited,
                sole: None,
                background: Vec::new(),
            });
        }
        let lookahead = if IN_ORDER { Lookahead::none(scenario) } else { Lookahead::new(scenario, &mut spans) };
        for (link, sole) in soles(scenario, &lookahead).into_iter().enumerate() {
            spans[link].sole = sole;
        }
        let links = spans.len();
        let slots = links + SLOTS_PER_FLOW * scenario.flows.len();
        if slots > EventQueue::MAX_SLOTS {
            return Err(Error::TooLarge);
        }
        let carries_bytes = observers.wire.is_some();
        let net = Network {
            now: Instant::ZERO,
            queue: EventQueue::new(slots, links),
            slab: Slab::default(),
            spans,
            lookahead,
            routes: Routes::new(scenario)?,
            proxies: Proxies::new(scenario),
            oracle: Oracle::new(scenario.flows.len()),
            drops: vec![Drops::default(); 2 * scenario.flows.len()],
            ip: scenario.ip,
            header_bytes: scenario.header_bytes,
            learnt: BTreeMap::new(),
            observers,
            outcomes: Vec::new(),
        };
        let mut world =
            Self { scenario, seed, net, flows: Vec::new(), unfinished: 0, events: 0, bounds: Bounds::default() };
        for (index, flow) in scenario.flows.iter().enumerate() {
            let slot = world.slot(index, ALARM);
            let running = match running(flow, index, (slot, carries_bytes), seed) {
                Running::Datagrams(datagrams) if Background::is(flow, &scenario.links) => {
                    Running::Background(world.attach(datagrams))
                }
                other => other,
            };
            let due = match &running {
                Running::Stream(stream) => stream.session.alarm.next(),
                Running::Association(flow) => flow.session.alarm.next(),
                Running::Datagrams(datagrams) => datagrams.alarm.next(),
                // An observed run needs this event, so that rows are in the order of time.
                Running::Background(place) if IN_ORDER => world.net.background(*place).due(),
                Running::Background(_) => Instant::NEVER,
            };
            world.net.queue.set(slot, due);
            world.unfinished += usize::from(flow.has_end());
            world.flows.push(running);
        }
        Ok(world)
    }

    /// Makes datagrams the background traffic of their only link.
    fn attach(&mut self, datagrams: DatagramFlow) -> Place {
        let DatagramFlow { app, alarm, flow, link, started, .. } = datagrams;
        let span = &mut self.net.spans[link as usize];
        let source = span.link.accompany(app.packet_bytes());
        span.background.push(Background { app, alarm, flow, started, sent: 0 });
        Place { link: link as usize, source }
    }

    /// Returns the slot of a flow's timer or alarm.
    pub fn slot(&self, flow: usize, which: usize) -> u32 {
        (self.net.spans.len() + SLOTS_PER_FLOW * flow + which) as u32
    }
}

/// Returns, for each link, the address of its packets, if one sender alone sends over it, on one path.
fn soles(scenario: &Scenario, lookahead: &Lookahead) -> Vec<Option<Address>> {
    let mut senders = vec![0; scenario.links.len()];
    let mut soles = vec![None; scenario.links.len()];
    for (flow, all) in (0..).zip(&scenario.flows) {
        for ((links, destination), sender) in all.ways().zip([End::From, End::To].into_iter().cycle()) {
            let address = lookahead.address(flow, sender, destination as u16);
            for &link in links {
                senders[link] += 1;
                soles[link] = Some(address).filter(|_| senders[link] == 1);
            }
        }
    }
    soles
}

fn running(flow: &Flow, index: usize, (slot, carries_bytes): (u32, bool), seed: u64) -> Running {
    let stream = |what: &str| Stream::new(seed, &["flow", &flow.name, what]);
    let started = Instant::ZERO + flow.start.draw(&mut stream("start"));
    let mut alarm = Alarm { wake_at: started, stop_at: flow.end.unwrap_or(Instant::NEVER), change_at: Instant::NEVER };
    let pauses = |reading: &Reading| {
        let streams = ["from reads", "to reads"].map(stream);
        Box::new(Reader::new(reading.bytes, reading.every.clone(), streams))
    };
    let session = |app: StreamApp, reading: &Option<Reading>| Session {
        app,
        reader: reading.as_ref().map(pauses),
        alarm,
        slot,
        started,
        progress: Progress::Waiting,
        carries_bytes,
        end_uncounted: false,
    };
    match &flow.traffic {
        Traffic::Stream { application, connection } => {
            let handshake = connection.opening.by_segments();
            let ahead = |bytes: Option<u64>| flow.end.is_some() || (carries_bytes && bytes.is_none());
            let app = stream_app(application, handshake, ahead, stream);
            let shares = connection.shares;
            Running::Stream(StreamFlow { ends: None, session: session(app, &connection.reading), handshake, shares })
        }
        Traffic::Messages { application, association } => {
            let session = session(stream_app(application, true, |_| false, stream), &association.reading);
            let changeovers = association.changeovers.clone().into();
            Running::Association(Box::new(AssociationFlow { ends: None, session, failed: false, changeovers }))
        }
        Traffic::Datagrams(application) => {
            let mut app =
                match application {
                    DatagramApplication::Cbr { rate, packet_bytes, jitter } => {
                        DatagramApp::Cbr(Cbr::new(*rate, *packet_bytes, *jitter, stream("jitter")))
                    }
                    DatagramApplication::OnOff { rate, packet_bytes, on, off } => DatagramApp::OnOff(Box::new(
                        OnOff::new(*rate, *packet_bytes, (on.clone(), off.clone()), stream("bursts")),
                    )),
                };
            alarm.wake_at = started + app.first();
            Running::Datagrams(DatagramFlow {
                app,
                alarm,
                slot,
                flow: index as u32,
                link: flow.there.first().copied().unwrap_or_default() as u32,
                destination: flow.to as u16,
                started,
                sent: 0,
                arrived_bytes: 0,
            })
        }
    }
}

/// Creates an application. `closes` says whether it closes after its last byte. `ahead` says
/// whether it writes only a little ahead of the bytes sent.
fn stream_app(
    application: &StreamApplication,
    closes: bool,
    ahead: impl Fn(Option<u64>) -> bool,
    stream: impl Fn(&str) -> Stream,
) -> StreamApp {
    let bulk = |bytes: Option<u64>| {
        let writing = if ahead(bytes) { Writing::AheadLater } else { Writing::AtOnce };
        Bulk::new(bytes, writing, closes)
    };
    match application {
        StreamApplication::Bulk { bytes } => {
            StreamApp::Bulk(bulk(bytes.as_ref().map(|bytes| bytes.draw(&mut stream("size")))))
        }
        StreamApplication::Exchange { bytes, back_bytes } => {
            let directions = [bulk(Some(*bytes)), bulk(Some(*back_bytes))];
            StreamApp::Exchange(Box::new(Exchange::new(directions)))
        }
        StreamApplication::RequestResponse { requests, request_bytes, response_bytes, think } => {
            let amounts = (drawn(request_bytes, stream("requests")), drawn(response_bytes, stream("responses")));
            let think = drawn(think, stream("think"));
            StreamApp::RequestResponse(Box::new(RequestResponse::new(*requests, amounts, think, closes)))
        }
        StreamApplication::Messages { bytes, interval, count } => {
            let interval = drawn(interval, stream("intervals"));
            StreamApp::Messages(Box::new(Messages::new(*bytes, interval, *count, closes)))
        }
    }
}

fn drawn<T: Clone>(of: &T, stream: Stream) -> Drawn<T> {
    Drawn { of: of.clone(), stream }
}

/// Returns the seconds from a flow's start to `until`.
pub fn seconds(started: Instant, until: Instant) -> f64 {
    let length: Duration = until.since(started);
    length.as_secs_f64()
}
