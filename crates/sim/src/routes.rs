//! Static routes: they select the next link of a packet.

use crate::error::Error;
use crate::scenario::Scenario;

const NONE: u32 = u32::MAX;

/// The next link from each node that forwards packets, towards each node that receives them.
pub struct Routes {
    /// Index in `next` of each node's row; [`NONE`] for a node that never forwards.
    rows: Vec<u32>,
    /// Column of each node in a row; [`NONE`] for a node that never receives.
    columns: Vec<u32>,
    next: Vec<u32>,
}

impl Routes {
    /// Computes the routes of all flows, in both directions. A scenario has a single next link for
    /// each pair of node and destination.
    ///
    /// # Errors
    /// Returns [`Error::TooLarge`] if there are more than [`MOST_CELLS`] pairs of a forwarding and
    /// a receiving node.
    pub fn new(scenario: &Scenario) -> Result<Self, Error> {
        Self::within(scenario, MOST_CELLS)
    }

    /// Computes the routes. Allows at most `most` pairs of nodes.
    fn within(scenario: &Scenario, most: u64) -> Result<Self, Error> {
        let nodes = scenario.nodes.len();
        let (mut forwarding, mut receiving) = (vec![false; nodes], vec![false; nodes]);
        let paths = || scenario.flows.iter().flat_map(|flow| flow.ways());
        // The sender itself selects the first link.
        let hops = |path: &'_ [usize]| path.iter().skip(1).map(|&link| (scenario.links[link].from, link)).collect();
        for (path, destination) in paths() {
            let hops: Vec<(usize, usize)> = hops(path);
            receiving[destination] |= !hops.is_empty();
            hops.iter().for_each(|&(node, _)| forwarding[node] = true);
        }
        let (width, columns) = places(&receiving, 1);
        let (cells, rows) = places(&forwarding, width);
        if cells > most {
            return Err(Error::TooLarge);
        }
        let mut routes = Self { rows, columns, next: vec![NONE; cells as usize] };
        for (path, destination) in paths() {
            for (node, link) in hops(path) {
                routes.next[(routes.rows[node] + routes.columns[destination]) as usize] = link as u32;
            }
        }
        Ok(routes)
    }

    /// Returns the next link of a packet for `destination` at `node`, which must be another node.
    #[inline]
    pub fn next(&self, node: u16, destination: u16) -> usize {
        self.next[(self.rows[usize::from(node)] + self.columns[usize::from(destination)]) as usize] as usize
    }
}

/// The most pairs of a forwarding and a receiving node: 256 MB.
const MOST_CELLS: u64 = 1 << 26;

/// Gives each chosen node the next `width` places. Returns the number of places, and each node's
/// first place.
fn places(chosen: &[bool], width: u64) -> (u64, Vec<u32>) {
    let mut taken = 0;
    let place = |&chosen: &bool| {
        let place = if chosen { taken as u32 } else { NONE };
        taken += if chosen { width } else { 0 };
        place
    };
    let all = chosen.iter().map(place).collect();
    (taken, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a chain of nodes, with one flow from the first node to the last.
    fn chain(nodes: usize) -> Scenario {
        let mut text = "duration_s = 1\n".to_owned();
        for node in 0..nodes {
            text += &format!("[[node]]\nname = \"n{node}\"\n");
        }
        for node in 1..nodes {
            let before = node - 1;
            text += &format!("[[link]]\nname = \"l{node}\"\nfrom = \"n{before}\"\nto = \"n{node}\"\nboth = true\n");
            text += "rate_bps = 1_000_000\ndelay_ms = 1\n";
        }
        let last = nodes - 1;
        text += &format!("[[flow]]\nname = \"f\"\nfrom = \"n0\"\nto = \"n{last}\"\n");
        text += "application = { kind = \"bulk\", bytes = 1000 }\n";
        Scenario::parse(&text, "chain.toml".as_ref()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn routing_memory_grows_linearly_with_the_nodes() {
        let scenario = chain(500);
        let routes = Routes::new(&scenario).unwrap();
        // All nodes except the two ends forward packets, to these two.
        assert_eq!(routes.next.len(), 498 * 2);
        let flow = &scenario.flows[0];
        for (path, destination) in [(&flow.there, 499), (&flow.back, 0)] {
            for &link in path.iter().skip(1) {
                assert_eq!(routes.next(scenario.links[link].from as u16, destination), link);
            }
        }
    }

    #[test]
    fn the_last_pair_of_nodes_for_which_there_is_room_has_it() {
        let scenario = chain(5);
        assert!(Routes::within(&scenario, 6).is_ok());
        assert!(matches!(Routes::within(&scenario, 5), Err(Error::TooLarge)));
    }
}
