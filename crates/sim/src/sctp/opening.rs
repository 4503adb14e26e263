//! Opens a flow over SCTP: one end connects, the other listens.

use super::endpoint::{Endpoint, Way};
use super::flow::AssociationFlow;
use super::liar::Liar;
use super::messages::{MessageShape, Reader, Writer};
use crate::app::session::Progress;
use crate::end::End;
use crate::error::Error;
use crate::network::Network;
use crate::packet::Charges;
use crate::scenario::{Association as Agreed, Flow, Traffic};
use crate::tally::Tally;
use crate::transport_flow::TransportFlow;
use crate::wire;
use crate::world::ALARM;
use eifel_base::time::Instant;
use eifel_packet::ip::Version;
use eifel_path::stream::Stream;
use eifel_sctp::{Association, Listener, Ports, Settings};
use std::net::IpAddr;

/// The ports of every association. The network delivers packets by flow, so ports may repeat.
const PORTS: [u16; 2] = [49_152, 5_001];

/// Creates the two ends of a flow. The end [`End::From`] connects.
///
/// # Errors
/// Fails if the registry cannot create the flow's algorithms.
pub fn open<const IN_ORDER: bool>(
    net: &mut Network<IN_ORDER>,
    running: &mut AssociationFlow,
    (flow, index): (&Flow, u32),
    seed: u64,
) -> Result<(), Error> {
    let Traffic::Messages { association: agreed, .. } = &flow.traffic else { return Ok(()) };
    let ways = [End::From, End::To].map(|end| ways(flow, end, agreed.charges[end.index()], net.ip));
    let make = |end: End| -> Result<Endpoint, Error> {
        let own = end.index();
        let fault = |error| Error::Engine { flow: flow.name.clone(), error };
        let settings = settings(agreed, end, (flow, seed), &ways[own]);
        let ports = ports(end);
        let listener = Listener::new(settings.clone(), ports.local).map_err(fault)?;
        let drains = !running.session.carries_bytes && running.session.reader.is_none();
        let association = match end {
            End::From => {
                let remotes: Vec<IpAddr> = ways[own].iter().map(|way| way.addresses.destination()).collect();
                let mut association = Association::connect(net.now, &settings, ports, &remotes, 0).map_err(fault)?;
                if drains {
                    association.drain();
                }
                Some(association)
            }
            End::To => None,
        };
        let shape = |end: End| MessageShape {
            bytes: agreed.message_bytes[end.index()],
            streams: agreed.streams,
            unordered: agreed.unordered,
            verified: running.session.carries_bytes,
        };
        Ok(Endpoint {
            listener,
            association,
            flow: index,
            end,
            ahead: net.lookahead.is_ahead(index, end.other()),
            ways: ways[own].clone(),
            tallies: vec![Tally::default(); ways[own].len()],
            spurious: 0,
            writer: Writer::new(shape(end)),
            reader: Reader::new(shape(end.other())),
            drains,
            closes: false,
            liar: agreed.liar.filter(|_| end == End::To).map(|kind| {
                let stream = Stream::new(seed, &["flow", &flow.name, "liar"]);
                Box::new(Liar::new(kind, stream))
            }),
            slot: running.session.slot - ALARM as u32 + own as u32,
            alarm: Instant::NEVER,
        })
    };
    running.ends = Some(Box::new([make(End::From)?, make(End::To)?]));
    running.session.progress = Progress::Running;
    // Changes that were due before take effect now.
    running.session.alarm.change_at = running.next_change().max(net.now);
    running.pump(net, End::From);
    Ok(())
}

/// Returns an end's ports.
pub fn ports(end: End) -> Ports {
    Ports { local: PORTS[end.index()], remote: PORTS[end.other().index()] }
}

/// Returns the ways from one end, with the primary path's first.
fn ways(flow: &Flow, end: End, charges: Charges, ip: Version) -> Vec<Way> {
    let primary = (flow.from, flow.to, &flow.there, &flow.back);
    let alternates = flow.alternates.iter().map(|path| (path.from, path.to, &path.there, &path.back));
    let way = |(from, to, there, back): (usize, usize, &Vec<usize>, &Vec<usize>)| {
        let (here, away, links) = if end == End::From { (from, to, there) } else { (to, from, back) };
        let addresses = wire::addresses(ip, (here as u16, away as u16));
        let link = links.first().copied().unwrap_or_default();
        Way { addresses, node: here as u16, link, destination: away as u16, charges }
    };
    std::iter::once(primary).chain(alternates).map(way).collect()
}

/// Returns the settings of one end, with its addresses and its own secret.
fn settings(agreed: &Agreed, end: End, (flow, seed): (&Flow, u64), ways: &[Way]) -> Settings {
    let word = if end == End::From { "from's secret" } else { "to's secret" };
    let mut stream = Stream::new(seed, &["flow", &flow.name, word]);
    Settings {
        addresses: ways.iter().map(|way| way.addresses.source()).collect(),
        secret: [stream.below(u64::MAX), stream.below(u64::MAX)],
        ..agreed.settings[end.index()].clone()
    }
}
