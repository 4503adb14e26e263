//! Static routes: the shortest path by hops, and the routes that the scenario lists instead.

use super::error::Fault;
use super::model::Link;
use super::reader::Reader;
use super::topology::Topology;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// The data to find the path from any node to any other.
pub(super) struct Routes<'a> {
    links: &'a [Link],
    nodes: usize,
    /// Links by the node where they begin, in the scenario's order.
    leaving: Vec<Vec<usize>>,
    /// Links by the node where they end, in the scenario's order.
    entering: Vec<Vec<usize>>,
    /// The listed routes: the next link, keyed by (node of the packet, destination).
    listed: BTreeMap<(usize, usize), usize>,
    /// The hops to the nodes that were asked for last, the latest first. Flows of a dumbbell all ask for the same
    /// two.
    latest: RefCell<VecDeque<(usize, Rc<Hops>)>>,
}

/// The number of hops from each node to one; `None` if no path exists.
type Hops = Vec<Option<u32>>;

/// The most nodes to which hops are kept.
const KEPT: usize = 2;

/// The number of hops from each node to a destination.
pub(super) struct Distances {
    to: usize,
    /// Hops to the destination, or to its only neighbour.
    hops: Rc<Hops>,
    /// Hops from there to the destination: 0 or 1.
    more: u32,
}

impl Distances {
    fn from(&self, node: usize) -> Option<u32> {
        if node == self.to { Some(0) } else { self.hops[node].map(|hops| hops + self.more) }
    }
}

/// The reason why there is no path.
pub(super) enum RouteError {
    /// No link leads on from this node.
    Ends(usize),
    /// The listed routes lead back to this node.
    Turns(usize),
}

impl<'a> Routes<'a> {
    pub(super) fn new(top: &Reader<'_>, topology: &'a Topology) -> Result<Self, Fault> {
        let mut listed = BTreeMap::new();
        for table in top.tables("route") {
            let at = topology.node_names.key(&table, "at")?;
            let to = topology.node_names.key(&table, "to")?;
            let via = topology.link_names.key(&table, "via")?;
            let begins = topology.links[via].from;
            if begins != at {
                let (via, begins) = (table.text("via"), &topology.nodes[begins].name);
                let what = format!("the link {via:?} begins at {begins:?}, not at {:?}", table.text("at"));
                let leaving = topology.links.iter().filter(|link| link.from == at).map(|link| link.name.as_str());
                return Err(table.fault("via", what).allowed(leaving.collect::<Vec<_>>().join(", ")));
            }
            if listed.insert((at, to), via).is_some() {
                let (at, to) = (table.text("at"), table.text("to"));
                return Err(table.fault("to", format!("a second route at {at:?} to {to:?}")));
            }
        }
        let nodes = topology.nodes.len();
        let (mut leaving, mut entering) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (index, link) in topology.links.iter().enumerate() {
            leaving[link.from].push(index);
            entering[link.to].push(index);
        }
        Ok(Self { links: &topology.links, nodes, leaving, entering, listed, latest: RefCell::default() })
    }

    /// Returns the number of hops from each node to `to`. All paths to a host with one neighbour lead over that,
    /// so hosts at one router share a search.
    pub(super) fn distances(&self, to: usize) -> Distances {
        let neighbour = self.neighbour(to);
        let near = neighbour.unwrap_or(to);
        let mut latest = self.latest.borrow_mut();
        let known = latest.iter().find(|(node, _)| *node == near).map(|(_, hops)| Rc::clone(hops));
        let hops = known.unwrap_or_else(|| {
            let hops = Rc::new(self.hops(near));
            latest.push_front((near, Rc::clone(&hops)));
            latest.truncate(KEPT);
            hops
        });
        Distances { to, hops, more: u32::from(neighbour.is_some()) }
    }

    /// Returns the only node to and from which a node has links.
    fn neighbour(&self, node: usize) -> Option<usize> {
        let only = self.links[*self.entering[node].first()?].from;
        let there = self.entering[node].iter().all(|&link| self.links[link].from == only);
        let back = self.leaving[node].iter().all(|&link| self.links[link].to == only);
        (there && back).then_some(only)
    }

    fn hops(&self, to: usize) -> Hops {
        let mut distance = vec![None; self.nodes];
        distance[to] = Some(0);
        let mut frontier = vec![to];
        let mut hops = 0;
        while !frontier.is_empty() {
            hops += 1;
            let mut next = Vec::new();
            for link in frontier.iter().flat_map(|&node| &self.entering[node]) {
                let from = self.links[*link].from;
                if distance[from].is_none() {
                    distance[from] = Some(hops);
                    next.push(from);
                }
            }
            frontier = next;
        }
        distance
    }

    /// Returns the links of the path from `from` to `to`. `distance` is the result of
    /// [`distances`](Self::distances) for `to`.
    pub(super) fn way(&self, from: usize, to: usize, distance: &Distances) -> Result<Vec<usize>, RouteError> {
        let mut way = Vec::new();
        let mut at = from;
        while at != to {
            if way.len() > self.nodes {
                return Err(RouteError::Turns(at));
            }
            let link = self.next(at, to, distance).ok_or(RouteError::Ends(at))?;
            way.push(link);
            at = self.links[link].to;
        }
        Ok(way)
    }

    /// Returns the next link. Among links of equally short paths, it is the scenario's first.
    fn next(&self, at: usize, to: usize, distance: &Distances) -> Option<usize> {
        if let Some(&link) = self.listed.get(&(at, to)) {
            return Some(link);
        }
        let closer = distance.from(at)?.checked_sub(1)?;
        self.leaving[at].iter().copied().find(|&link| distance.from(self.links[link].to) == Some(closer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_base::time::Duration;
    use eifel_base::units::Rate;
    use eifel_path::config::LinkConfig;
    use proptest::prelude::*;

    proptest! {
        /// Hosts with one neighbour share its search, and all others have one of their own.
        #[test]
        fn hops_are_those_of_a_search_from_the_destination(
            ends in prop::collection::vec((0usize..7, 0usize..7), 0..14),
            asked in prop::collection::vec(0usize..7, 1..12),
        ) {
            let config = LinkConfig::plain(Rate::from_bps(1000).unwrap(), Duration::ZERO);
            let link = |&(from, to): &_| Link { name: String::new(), from, to, config: config.clone(), proxied: false };
            let links: Vec<Link> = ends.iter().filter(|(from, to)| from != to).map(link).collect();
            let (mut leaving, mut entering) = (vec![Vec::new(); 7], vec![Vec::new(); 7]);
            for (index, link) in links.iter().enumerate() {
                leaving[link.from].push(index);
                entering[link.to].push(index);
            }
            let (listed, latest) = (BTreeMap::new(), RefCell::default());
            let routes = Routes { links: &links, nodes: 7, leaving, entering, listed, latest };
            for to in asked {
                let distances = routes.distances(to);
                let found: Hops = (0..7).map(|node| distances.from(node)).collect();
                prop_assert_eq!(found, routes.hops(to), "to {}", to);
            }
        }
    }
}
