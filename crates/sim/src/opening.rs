//! Opens a TCP flow: creates its two connections.

use crate::app::Supply;
use crate::app::session::Progress;
use crate::end::End;
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::liar::Liar;
use crate::network::Network;
use crate::numbering::Numbering;
use crate::scenario::{Connection as Agreed, Flow, Opening, Traffic};
use crate::stream_flow::StreamFlow;
use crate::tally::Tally;
use crate::transport_flow::TransportFlow;
use crate::world::ALARM;
use crate::writing::Backlog;
use eifel_base::time::Instant;
use eifel_packet::seq::Seq;
use eifel_path::stream::Stream;
use eifel_recovery::engine::Engine;
use eifel_tcp::settings::{ReceiveKind, SendKind, Stamping, TimestampSettings};
use eifel_tcp::{Connection, Ports, Settings};

/// The ports of the first flow. Each flow has its own pair of ports.
const FROM_PORT: u32 = 49_152;
const TO_PORT: u32 = 5_001;
/// The number of ports from [`FROM_PORT`] up to 65,535.
const PORTS: u32 = 16_384;

/// Creates the connections of a flow and starts it.
pub fn open<const IN_ORDER: bool>(
    net: &mut Network<IN_ORDER>,
    running: &mut StreamFlow,
    (flow, index): (&Flow, u32),
    seed: u64,
) -> Result<(), Error> {
    let Traffic::Stream { connection: agreed, .. } = &flow.traffic else { return Ok(()) };
    let secret = Secret { seed, flow: &flow.name };
    let settings = [End::From, End::To].map(|end| settings(agreed, end, running.session.carries_bytes, &secret));
    let mut stream = Stream::new(seed, &["flow", &flow.name, "isn"]);
    let isns = agreed.isns.unwrap_or_else(|| [draw(&mut stream), draw(&mut stream)]).map(Seq);
    let [from_port, to_port] = ports(index);
    let ports = [Ports { local: from_port, remote: to_port }, Ports { local: to_port, remote: from_port }];
    let make = |end: End| -> Result<Connection, Error> {
        let engine = engine(net, agreed, flow, end)?;
        let (own, other) = (end.index(), end.other().index());
        Ok(match (agreed.opening, end) {
            (Opening::Handshake, End::From) | (Opening::Simultaneous, _) => {
                Connection::connect(&settings[own], engine, ports[own], isns[own])
            }
            (Opening::Handshake, End::To) => Connection::listen(&settings[own], engine, ports[own], isns[own]),
            (Opening::Established, _) => {
                let isns = (isns[own], isns[other]);
                Connection::established(&settings[own], &settings[other], engine, ports[own], isns, net.now)
            }
        })
    };
    let endpoint = |end: End, connection: Connection| {
        let (path, links) = match end {
            End::From => ((flow.from as u16, flow.to as u16), &flow.there),
            End::To => ((flow.to as u16, flow.from as u16), &flow.back),
        };
        Endpoint {
            connection,
            read: 0,
            slot: running.session.slot - ALARM as u32 + end.index() as u32,
            alarm: Instant::NEVER,
            flow: index,
            link: links.first().copied().unwrap_or_default() as u32,
            path,
            end,
            address: net.lookahead.address(index, end, path.1),
            numbering: Numbering::default(),
            isn: isns[end.index()],
            tally: Tally::default(),
            supply: Supply::Complete,
            backlog: match settings[end.index()].send {
                SendKind::CountedUpTo { buffer } => Some(Box::new(Backlog::new(buffer))),
                SendKind::Held { buffer } if buffer < usize::MAX => Some(Box::new(Backlog::new(buffer as u64))),
                _ => None,
            },
            liar: agreed.liar.filter(|_| end == End::To).map(|kind| {
                let stream = Stream::new(seed, &["flow", &flow.name, "liar"]);
                let mut liar = Liar::new(kind, stream);
                liar.begins(Seq(isns[End::From.index()].0.wrapping_add(1)));
                Box::new(liar)
            }),
        }
    };
    let ends = [endpoint(End::From, make(End::From)?), endpoint(End::To, make(End::To)?)];
    running.ends = Some(Box::new(ends));
    running.session.progress = Progress::Running;
    if agreed.opening == Opening::Established {
        for end in [End::From, End::To] {
            net.oracle.begin(index, end, 1);
        }
        running.begin(net, End::From);
        running.begin(net, End::To);
    }
    running.pump(net, End::From);
    if agreed.opening != Opening::Handshake {
        running.pump(net, End::To);
    }
    Ok(())
}

/// Creates the engine of one end, which may begin with what an earlier connection has learnt.
fn engine<const IN_ORDER: bool>(
    net: &Network<IN_ORDER>,
    agreed: &Agreed,
    flow: &Flow,
    end: End,
) -> Result<Engine, Error> {
    let (sender, path) = match end {
        End::From => (&agreed.sender, (flow.from as u16, flow.to as u16)),
        End::To => (&agreed.answering_sender, (flow.to as u16, flow.from as u16)),
    };
    let mut engine = Engine::new(sender).map_err(|error| Error::Engine { flow: flow.name.clone(), error })?;
    if let Some(learnt) = net.learnt.get(&path).filter(|_| agreed.shares[end.index()]) {
        engine.inherit(learnt);
    }
    Ok(engine)
}

/// Returns the ports of the two ends of a flow.
fn ports(flow: u32) -> [u16; 2] {
    [FROM_PORT + flow % PORTS, TO_PORT + flow / PORTS].map(|port| port as u16)
}

/// Returns the settings of one end, based on the scenario's settings. Streams hold bytes if the run
/// carries them, and only lengths otherwise.
fn settings(agreed: &Agreed, end: End, carries_bytes: bool, secret: &Secret<'_>) -> Settings {
    let own = match end {
        End::From => agreed.settings,
        End::To => agreed.answering_settings,
    };
    let receive = match (carries_bytes, &agreed.reading) {
        (true, _) => ReceiveKind::Held,
        (false, Some(_)) => ReceiveKind::Counted,
        (false, None) => ReceiveKind::Drained,
    };
    let send = match (carries_bytes, own.send) {
        (true, SendKind::CountedUpTo { buffer }) => SendKind::Held { buffer: buffer as usize },
        (true, _) => SendKind::Held { buffer: usize::MAX },
        (false, send) => send,
    };
    let timestamps = own.timestamps.map(|timestamps| TimestampSettings {
        stamping: match timestamps.stamping {
            Stamping::Clock => Stamping::Clock,
            Stamping::Distinct { .. } => Stamping::Distinct { secret: secret.draw() },
        },
        ..timestamps
    });
    Settings { send, receive, timestamps, ..own }
}

/// Draws the secret of a flow's distinct timestamps. Both ends get the same secret.
struct Secret<'a> {
    seed: u64,
    flow: &'a str,
}

impl Secret<'_> {
    fn draw(&self) -> [u64; 2] {
        let mut stream = Stream::new(self.seed, &["flow", self.flow, "timestamps"]);
        [stream.below(u64::MAX), stream.below(u64::MAX)]
    }
}

fn draw(stream: &mut Stream) -> u32 {
    (stream.unit() * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_flow_has_its_pair_of_ports() {
        assert_eq!([0, 1, PORTS - 1].map(ports), [[49_152, 5_001], [49_153, 5_001], [65_535, 5_001]]);
        assert_eq!([PORTS, PORTS + 1].map(ports), [[49_152, 5_002], [49_153, 5_002]]);
        let many = 3 * PORTS + 5;
        assert_eq!((0..many).map(ports).collect::<BTreeSet<_>>().len(), many as usize);
    }
}
