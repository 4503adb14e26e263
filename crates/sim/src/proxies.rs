//! Performance-enhancing proxies. Each sees the segments of some connections that its node
//! forwards.
//!
//! A run with a proxy is observed, so that proxies cost other runs nothing.

use crate::end::End;
use crate::scenario::{Flow, Link, Scenario, Traffic};
use crate::slab::Cell;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::{self, Seq};
use eifel_path::proxy::{Filtered, Proxy, Says};

pub struct Proxies(Vec<Station>);

/// A proxy, the link after it, and the connections that pass it.
struct Station {
    /// Index of the link on which data continues.
    link: usize,
    /// Index of the node where that link begins.
    node: u16,
    /// Indexed by twice the flow's index plus the end that sends the data. `None` if its data or
    /// its ACKs take another path.
    connections: Vec<Option<Direction>>,
}

/// One direction of a connection, with the sequence numbers that the proxy has seen from both ends.
#[derive(Clone, Default)]
struct Direction {
    proxy: Option<Proxy>,
    /// Initial sequence number of the end that sends the data.
    isn: Seq,
    /// Latest acknowledgement by the end that sends the data, in positions of the other end's
    /// stream.
    answered: Answered,
}

/// The latest acknowledgement number of an end, counted from its first acknowledgement.
#[derive(Clone, Copy, Default)]
struct Answered {
    first: Option<Seq>,
    position: u64,
}

impl Answered {
    fn alter(&mut self, segment: &Segment) -> Says {
        let first = *self.first.get_or_insert(segment.ack);
        self.position = seq::unwrap(self.position, first, segment.ack);
        Says { ack: self.position, window: segment.window }
    }
}

/// Returns whether the proxy of this link forwards the data that `end` sends in this flow, and also
/// the ACKs for it.
pub fn sees(flow: &Flow, end: End, links: &[Link], link: usize) -> bool {
    let ways = [&flow.there, &flow.back];
    // The first node of a path sends, and does not forward.
    let forwarded = |way: &[usize], is: &dyn Fn(usize) -> bool| way.iter().skip(1).any(|&link| is(link));
    let node = links[link].from;
    matches!(flow.traffic, Traffic::Stream { .. })
        && forwarded(ways[end.index()], &|other| other == link)
        && forwarded(ways[end.other().index()], &|other| links[other].from == node)
}

impl Proxies {
    /// Creates the proxies of a scenario; `None` if it has none.
    pub fn new(scenario: &Scenario) -> Option<Box<Self>> {
        let proxied = scenario.links.iter().enumerate().filter(|(_, link)| link.proxied);
        let stations = proxied.map(|(index, link)| {
            let directions = scenario.flows.iter().flat_map(|flow| [End::From, End::To].map(|end| (flow, end)));
            let seen = |(flow, end)| sees(flow, end, &scenario.links, index).then(Direction::default);
            Station { link: index, node: link.from as u16, connections: directions.map(seen).collect() }
        });
        let stations: Vec<Station> = stations.collect();
        (!stations.is_empty()).then(|| Box::new(Self(stations)))
    }

    /// Shows the proxies a packet that `node` forwards to `link`. Returns whether a proxy withholds
    /// it.
    pub fn filter(&mut self, node: u16, link: usize, cell: &Cell) -> Filtered {
        let packet = &cell.packet;
        let Some(segment) = cell.contents.segment() else { return Filtered::Passes };
        let place = |end: End| 2 * packet.flow as usize + end.index();
        for station in self.0.iter_mut().filter(|station| station.node == node) {
            let answers = station.connections[place(packet.sender.other())].as_mut();
            let mut filtered = answers.map_or(Filtered::Passes, |direction| direction.answer(segment));
            if station.link == link
                && let Some(direction) = &mut station.connections[place(packet.sender)]
            {
                let (start, end) = (packet.start, packet.start + u64::from(packet.positions));
                if direction.data(start, end, segment) == Filtered::Needless {
                    filtered = Filtered::Needless;
                }
            }
            if filtered == Filtered::Needless {
                return filtered;
            }
        }
        Filtered::Passes
    }
}

impl Direction {
    /// Handles a segment from the end that sends the data.
    fn data(&mut self, start: u64, end: u64, segment: &Segment) -> Filtered {
        let says = self.answered.alter(segment);
        if start == end || segment.flags.has(Flags::RST) {
            return Filtered::Passes;
        }
        let proxy = self.proxy.get_or_insert_with(|| Proxy::new(start));
        self.isn = Seq(segment.seq.0.wrapping_sub(start as u32));
        if segment.payload_len == 0 || segment.flags.has(Flags::SYN) {
            proxy.control(end);
            return Filtered::Passes;
        }
        proxy.data(start, end, says)
    }

    /// Handles a segment from the end that receives the data.
    fn answer(&mut self, segment: &Segment) -> Filtered {
        let Some(proxy) = self.proxy.as_mut().filter(|_| segment.flags.has(Flags::ACK)) else {
            return Filtered::Passes;
        };
        let position = |number: Seq| seq::unwrap(proxy.acked(), self.isn, number);
        let ack = position(segment.ack);
        let controls = [Flags::SYN, Flags::FIN, Flags::RST].iter().any(|&flag| segment.flags.has(flag));
        let beyond = segment.options.sack.as_slice().iter().any(|&(_, right)| position(right) > ack);
        let bare = segment.payload_len == 0 && !controls && !beyond;
        proxy.acknowledgement(Says { ack, window: segment.window }, bare)
    }
}
