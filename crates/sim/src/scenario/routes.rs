//! Static routes: the shortest path by hops, and the routes that the scenario lists instead.

use super::error::Fault;
use super::model::Link;
use super::reader::Reader;
use super::topology::Topology;
use std::collections::BTreeMap;

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
        Ok(Self { links: &topology.links, nodes, leaving, entering, listed })
    }

    /// Returns the number of hops from each node to `to`; `None` if no path exists.
    pub(super) fn distances(&self, to: usize) -> Vec<Option<u32>> {
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
    pub(super) fn way(&self, from: usize, to: usize, distance: &[Option<u32>]) -> Result<Vec<usize>, RouteError> {
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
    fn next(&self, at: usize, to: usize, distance: &[Option<u32>]) -> Option<usize> {
        if let Some(&link) = self.listed.get(&(at, to)) {
            return Some(link);
        }
        let closer = distance[at]?.checked_sub(1)?;
        self.leaving[at].iter().copied().find(|&link| distance[self.links[link].to] == Some(closer))
    }
}
