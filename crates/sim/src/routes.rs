//! Static routes: which link a packet takes next.

use crate::scenario::Scenario;

/// No link.
const NONE: u32 = u32::MAX;

/// For each node that forwards packets, the next link towards each node that receives some.
pub struct Routes {
    /// Where a node's row begins in `next`; nodes that never forward have none.
    rows: Vec<u32>,
    next: Vec<u32>,
}

impl Routes {
    /// The routes of all flows, there and back. A scenario has one next link for a node and a destination.
    pub fn new(scenario: &Scenario) -> Self {
        let width = scenario.nodes.len();
        let mut routes = Self { rows: vec![NONE; width], next: Vec::new() };
        for flow in &scenario.flows {
            for (path, destination) in [(&flow.there, flow.to), (&flow.back, flow.from)] {
                // The first link is the sender's own affair.
                for &link in path.iter().skip(1) {
                    let node = scenario.links[link].from;
                    if routes.rows[node] == NONE {
                        routes.rows[node] = routes.next.len() as u32;
                        routes.next.resize(routes.next.len() + width, NONE);
                    }
                    let row = routes.rows[node] as usize;
                    routes.next[row + destination] = link as u32;
                }
            }
        }
        routes
    }

    /// The link that a packet for `destination` takes at `node`, which is not its destination.
    #[inline]
    pub fn next(&self, node: u16, destination: u16) -> usize {
        let row = self.rows[usize::from(node)] as usize;
        self.next[row + usize::from(destination)] as usize
    }
}
