//! A shortcut for ends of connections that are evaluated ahead of the clock.
//!
//! A link computes a packet's arrival time when it takes the packet in. If the packet then arrives
//! at an end of a connection, that end receives it ahead of the clock, stamped with its future
//! arrival time. The packet needs no event. If both ends of a connection are evaluated ahead and
//! share no link with others, they take turns without any event.
//!
//! This is the lookahead of conservative parallel simulation. The end does not wait for other
//! events that are due before the arrival. The results are the same, because:
//!
//! - All packets reach the end over that one link, in order. So no packet that is still unknown can
//!   arrive in between.
//! - The end's own timers that are due earlier expire first, each at its own time.
//! - The application never wakes, and the flow has no end time. So only packets and timers reach
//!   the end.
//! - The packets that the end sends enter a link that no other end feeds. So they do not enter too
//!   late for another packet, and overtake none.
//! - The order of events at equal times does not depend on when they became known.
//! - Packets that would arrive after the run's duration are not added.
//!
//! Arrivals wait until the clock reaches the first of them. Then each flow's ends receive all of their
//! packets in a row, while the flow's state is in the caches. Waiting changes nothing: no event before
//! the first arrival depends on what an end does then.
//!
//! A bottleneck often feeds many links that each lead to one such end and that no other link feeds.
//! A packet that enters the bottleneck then also enters the next link at once, stamped with the
//! time at which it will leave the bottleneck. A packet for which the next link will have no room waits for
//! an event, and so do all packets behind it: a drop there would be counted before the undo to which it
//! belongs.
//!
//! Observed runs do not use this, because their rows are in the order of time. Runs that may end
//! before their duration do not use it either, because nothing may happen after their end.

use crate::end::End;
use crate::scenario::{Flow, Scenario, StreamApplication, Traffic};
use crate::slab::Address;
use crate::span::Span;
use eifel_base::ring::Ring;
use eifel_base::time::Instant;
use std::collections::BTreeSet;

/// A packet whose arrival time at its end is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KnownArrival {
    pub arrives: Instant,
    /// Its handle.
    pub packet: u32,
}

/// The most packets for an end that are [fetched](crate::slab::Slab::fetch) together. They fit into a
/// core's own caches.
const FETCHED: usize = 256;

/// The most packets for which all ends without packets keep memory together, and an end may in any case. Of many
/// flows, few have a burst at the same time.
const KEPT: usize = 1 << 18;
const KEPT_BY_ONE: usize = 64;

/// The packets that a flow's ends will receive.
#[derive(Clone, Default)]
struct Arrivals {
    /// In the order of time, indexed by the receiving end.
    at: [Ring<KnownArrival>; 2],
    /// Whether the flow is in the list of those that have packets to receive.
    listed: bool,
}

/// The ends that are evaluated ahead, and the packets that they will receive.
pub struct Lookahead {
    /// Whether each end is evaluated ahead. Indexed by twice the flow's index plus the end.
    ahead: Vec<bool>,
    /// The end of the run. Later arrivals do not happen.
    pub until: Instant,
    /// Packets that went on to a second link without an event.
    pub crossings: u64,
    /// The earliest arrival of a packet to receive; [`Instant::NEVER`] if there is none.
    first: Instant,
    /// Indexed by flow.
    arrivals: Vec<Arrivals>,
    /// The flows with packets to receive, in the order in which their packets became known.
    flows: Ring<u32>,
    /// The most packets for which an end without packets keeps memory.
    kept: usize,
}

impl Lookahead {
    /// Selects the ends of a scenario that are evaluated ahead. Marks the links that lead to them.
    pub fn new(scenario: &Scenario, spans: &mut [Span]) -> Self {
        let mut paths_over = vec![0; scenario.links.len()];
        for &link in scenario.flows.iter().flat_map(|flow| flow.ways()).flat_map(|(links, _)| links) {
            paths_over[link] += 1;
        }
        let mut lookahead = Self::none(scenario);
        if !scenario.lasts() {
            return lookahead;
        }
        for (index, flow) in scenario.flows.iter().enumerate().filter(|(_, flow)| leaves_ends_alone(flow)) {
            for (end, here, away) in [(End::From, &flow.back, &flow.there), (End::To, &flow.there, &flow.back)] {
                let (Some(&last), Some(&first)) = (here.last(), away.first()) else { continue };
                if paths_over[first] > 1 || !spans[first].link.is_open() || !spans[last].link.is_open() {
                    continue;
                }
                lookahead.ahead[2 * index + end.index()] = true;
                spans[last].leads_ahead = true;
            }
        }
        for (link, feeder) in feeders(scenario).into_iter().enumerate() {
            let Some(feeder) = feeder.filter(|_| spans[link].leads_ahead) else { continue };
            if spans[link].link.has_steady_limit() && !spans[feeder].leads_ahead && spans[feeder].link.is_open() {
                spans[link].follows = true;
                spans[feeder].feeds_ahead = true;
            }
        }
        lookahead
    }

    /// Selects no ends.
    pub fn none(scenario: &Scenario) -> Self {
        Self {
            ahead: vec![false; 2 * scenario.flows.len()],
            until: Instant::ZERO + scenario.duration,
            crossings: 0,
            first: Instant::NEVER,
            arrivals: vec![Arrivals::default(); scenario.flows.len()],
            flows: Ring::default(),
            kept: (KEPT / (2 * scenario.flows.len()).max(1)).max(KEPT_BY_ONE),
        }
    }

    /// Returns whether an end of a flow is evaluated ahead.
    #[inline]
    pub fn is_ahead(&self, flow: u32, end: End) -> bool {
        self.ahead[2 * flow as usize + end.index()]
    }

    /// Returns the address of the packets that an end of a flow sends to a node.
    pub fn address(&self, flow: u32, sender: End, destination: u16) -> Address {
        Address { flow, destination, sender, ahead: self.is_ahead(flow, sender.other()) }
    }

    /// Returns whether an arrival at this time happens in the run.
    #[inline(always)]
    pub fn is_in_time(&self, arrives: Instant) -> bool {
        arrives <= self.until
    }

    /// Adds a packet that will arrive [in time](Self::is_in_time) at an end that is evaluated ahead.
    #[inline(always)]
    pub fn add_arrival(&mut self, flow: u32, end: End, arrival: KnownArrival) {
        self.first = self.first.min(arrival.arrives);
        let Arrivals { at, listed } = &mut self.arrivals[flow as usize];
        at[end.index()].push_back(arrival);
        if !*listed {
            *listed = true;
            self.flows.push_back(flow);
        }
    }

    /// Returns whether a packet arrives at `instant` or earlier. If so, packets must be received
    /// before anything else happens at `instant`.
    #[inline]
    pub fn is_due_by(&self, instant: Instant) -> bool {
        self.first <= instant && self.first != Instant::NEVER
    }

    /// Returns the flow whose ends are to receive packets next. `None` if there are no packets.
    #[inline]
    pub fn next_flow(&mut self) -> Option<u32> {
        let next = self.flows.front().copied();
        if next.is_none() {
            self.first = Instant::NEVER;
        }
        next
    }

    /// Returns the first packets that the ends of a flow are to receive, at most [`FETCHED`] for each end.
    pub fn packets_of(&self, flow: u32) -> impl Iterator<Item = u32> {
        let all = self.arrivals[flow as usize].at.iter();
        all.flat_map(|arrivals| arrivals.iter().take(FETCHED)).map(|arrival| arrival.packet)
    }

    /// Takes the next packet for an end of the [next flow](Self::next_flow). The packets of one end
    /// are in the order of time. Packets for [`End::To`] come first: they carry data, and are still
    /// in the cache.
    #[inline(always)]
    pub fn next_of(&mut self, flow: u32) -> Option<(End, KnownArrival)> {
        let Arrivals { at: [from, to], listed } = &mut self.arrivals[flow as usize];
        if let Some(next) = to.pop_front() {
            return Some((End::To, next));
        }
        if let Some(next) = from.pop_front() {
            return Some((End::From, next));
        }
        to.clear_to(self.kept);
        from.clear_to(self.kept);
        *listed = false;
        self.flows.pop_front();
        None
    }
}

/// Returns, for each link, the only link that feeds it. `None` if a host or several links feed it.
fn feeders(scenario: &Scenario) -> Vec<Option<usize>> {
    let mut fed = vec![BTreeSet::new(); scenario.links.len()];
    for (path, _) in scenario.flows.iter().flat_map(|flow| flow.ways()) {
        let before = std::iter::once(None).chain(path.iter().copied().map(Some));
        path.iter().zip(before).for_each(|(&link, before)| _ = fed[link].insert(before));
    }
    fed.into_iter().map(|mut by| if by.len() == 1 { by.pop_first().flatten() } else { None }).collect()
}

/// Returns whether only packets and their own timers reach the ends of a flow, and all packets of a
/// direction take one path. An application's alarm does not qualify, because both ends share it.
/// Nor does a flow's end time.
fn leaves_ends_alone(flow: &Flow) -> bool {
    match &flow.traffic {
        Traffic::Stream { application: StreamApplication::Bulk { bytes: None }, connection } => {
            connection.reading.is_none() && flow.end.is_none()
        }
        Traffic::Messages { application: StreamApplication::Bulk { bytes: None }, association } => {
            association.reading.is_none() && flow.end.is_none() && flow.alternates.is_empty()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Observers;
    use crate::world::World;

    /// Builds a scenario of one flow between two hosts with two addresses each.
    fn one(flow: &str) -> Scenario {
        let mut text = "duration_s = 2\n".to_owned();
        for node in ["a", "b", "a2", "b2"] {
            text += &format!("[[node]]\nname = \"{node}\"\n");
        }
        for (from, to) in [("a", "b"), ("a2", "b2")] {
            text += &format!(
                "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nboth = true\nrate_bps = 1_000_000\ndelay_ms = 1\n"
            );
        }
        text += &format!("[[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{flow}\n");
        Scenario::parse(&text, "one.toml".as_ref()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn only_endless_flows_that_read_at_once_qualify_for_lookahead() {
        let application = "application = { kind = \"bulk\", endless = true }";
        let reading = "reading = { bytes = 100, every_ms = 5 }";
        for (more, over_tcp, over_sctp) in [
            ("", Some(true), true),
            (reading, Some(false), false),
            ("end_s = 1", Some(false), false),
            ("alternates = [{ from = \"a2\", to = \"b2\" }]", None, false),
        ] {
            let flow = |transport: &str| one(&format!("{application}\ntransport = \"{transport}\"\n{more}"));
            if let Some(expected) = over_tcp {
                assert_eq!(leaves_ends_alone(&flow("tcp").flows[0]), expected, "{more}");
            }
            assert_eq!(leaves_ends_alone(&flow("sctp").flows[0]), over_sctp, "{more}");
        }
        let finite = one("application = { kind = \"bulk\", bytes = 100 }");
        assert!(!leaves_ends_alone(&finite.flows[0]));
    }

    #[test]
    fn arrivals_at_the_end_of_the_run_count_and_later_ones_do_not() {
        let scenario = one("application = { kind = \"bulk\", endless = true }");
        let mut lookahead = Lookahead::none(&scenario);
        let end = Instant::from_nanos(2_000_000_000);
        assert!(lookahead.is_in_time(end) && !lookahead.is_in_time(Instant::from_nanos(2_000_000_001)));
        assert!(!lookahead.is_due_by(end));
        lookahead.add_arrival(0, End::To, KnownArrival { arrives: end, packet: 7 });
        assert!(lookahead.is_due_by(end) && !lookahead.is_due_by(Instant::from_nanos(1_999_999_999)));
        assert_eq!(lookahead.next_flow(), Some(0));
        assert_eq!(lookahead.next_of(0), Some((End::To, KnownArrival { arrives: end, packet: 7 })));
        assert_eq!((lookahead.next_of(0), lookahead.next_flow()), (None, None));
    }

    #[test]
    fn each_end_of_each_flow_is_chosen_for_lookahead_on_its_own() {
        let mut text = "duration_s = 1\nstop = \"at-duration\"\n".to_owned();
        for node in ["a", "b", "c", "d", "e"] {
            text += &format!("[[node]]\nname = \"{node}\"\n");
        }
        for (from, to) in [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")] {
            text += &format!(
                "[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nboth = true\nrate_bps = 1_000_000\ndelay_ms = 1\n"
            );
        }
        // The third and fourth flows share the link from node d to c, and the link back.
        let flows = [
            ("a", "b", "endless = true"),
            ("b", "c", "bytes = 9"),
            ("d", "c", "endless = true"),
            ("e", "c", "endless = true"),
        ];
        for (number, (from, to, amount)) in flows.into_iter().enumerate() {
            text += &format!("[[flow]]\nname = \"f{number}\"\nfrom = \"{from}\"\nto = \"{to}\"\n");
            text += &format!("application = {{ kind = \"bulk\", {amount} }}\n");
        }
        let scenario = Scenario::parse(&text, "apart.toml".as_ref()).unwrap_or_else(|error| panic!("{error}"));
        let world = World::<false>::new(&scenario, 1, Observers::default()).unwrap();
        let ahead: Vec<[bool; 2]> =
            (0..4).map(|flow| [End::From, End::To].map(|end| world.net.lookahead.is_ahead(flow, end))).collect();
        assert_eq!(ahead, [[true, true], [false, false], [false, false], [true, false]]);
    }

    /// Two senders, a and b, reach x and y over one bottleneck.
    #[test]
    fn links_behind_a_bottleneck_follow_it_where_nothing_else_feeds_them() {
        // The queue of the links to x and to y, and whether a third flow reaches y from another node.
        let (short, red) = ("kind = \"drop-tail\", packets = 5", "kind = \"adaptive-red\", packets = 30");
        for (queue, third, expected) in [
            (short, false, [true, true, true]),
            (short, true, [true, true, false]),
            (red, false, [false, false, false]),
        ] {
            let mut text = "duration_s = 1\nstop = \"at-duration\"\n".to_owned();
            for node in ["a", "b", "in", "out", "x", "y", "z"] {
                text += &format!("[[node]]\nname = \"{node}\"\n");
            }
            for (name, from, to, rate) in [
                ("ai", "a", "in", 9_000_000),
                ("bi", "b", "in", 9_000_000),
                ("io", "in", "out", 1_000_000),
                ("ox", "out", "x", 2_000_000),
                ("oy", "out", "y", 500_000),
                ("zo", "z", "out", 9_000_000),
            ] {
                text += &format!("[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nboth = true\n");
                text += &format!("rate_bps = {rate}\ndelay_ms = 1\n");
                let queue = if from == "out" { queue } else { "kind = \"drop-tail\", packets = 10_000" };
                text += &format!("queue = {{ {queue} }}\n");
            }
            let flows = [("a", "x"), ("b", "y"), ("z", "y")];
            for (from, to) in &flows[..if third { 3 } else { 2 }] {
                text += &format!("[[flow]]\nname = \"{from}{to}\"\nfrom = \"{from}\"\nto = \"{to}\"\n");
                text += "application = { kind = \"bulk\", endless = true }\n";
            }
            let scenario = Scenario::parse(&text, "tree.toml".as_ref()).unwrap_or_else(|error| panic!("{error}"));
            let at = |name: &str| scenario.links.iter().position(|link| link.name == name).unwrap();
            let world = World::<false>::new(&scenario, 1, Observers::default()).unwrap();
            let span = |name: &str| &world.net.spans[at(name)];
            let found = [span("io").feeds_ahead, span("ox").follows, span("oy").follows];
            assert_eq!(found, expected, "{queue} {third}");
            // One sender alone feeds the link from a, two feed the bottleneck.
            let alone = Address { flow: 0, destination: world.net.spans[at("ox")].to, sender: End::From, ahead: true };
            assert_eq!([span("ai").sole, span("io").sole], [Some(alone), None]);
            let fed = feeders(&scenario);
            let of = |name: &str| fed[at(name)];
            assert_eq!(["ai", "bi", "io", "ox"].map(of), [None, None, None, Some(at("io"))]);
            assert_eq!(of("oy"), if third { None } else { Some(at("io")) });
        }
    }
}
