//! Connections whose packets are in several VLANs.
//!
//! Equal addresses in different VLANs are different hosts, unless the capture shows otherwise: a mirrored
//! port shows each packet with and without its tag, and routed packets have another tag in each
//! direction.

use std::collections::BTreeMap;

use crate::frame::decode::Packet;
use crate::result::{Flow, When};
use crate::tcp::Table;

/// Networks of flows that are remembered.
const MOST: usize = 1 << 16;

/// Flows whose packets belong to a connection in another VLAN, with the network of that connection.
#[derive(Debug, Default)]
pub(super) struct Networks {
    joined: BTreeMap<Flow, u32>,
}

impl Networks {
    /// Returns the network of the connection that a packet belongs to, if that is another one than its
    /// own.
    #[inline]
    pub(super) fn other(&self, packet: &Packet) -> Option<u32> {
        if self.joined.is_empty() {
            return None;
        }
        let segment = &packet.segment;
        let flow = Flow::new(&packet.addresses, (segment.source_port, segment.destination_port), packet.tunnel);
        self.joined.get(&flow).copied()
    }

    /// Handles a packet of a flow without a connection in its network. Returns the network of the
    /// connection that it belongs to all the same.
    pub(super) fn on_unknown(&mut self, packet: &Packet, flow: &Flow, table: &Table, when: When) -> Option<u32> {
        let mut others = table.in_other_vlans(flow);
        let (connection, _) = others.find(|(connection, side)| connection.extends_to(packet, *side, when))?;
        let network = connection.flow.tunnel;
        if self.joined.len() < MOST {
            self.joined.insert(*flow, network);
            self.joined.insert(flow.back(), network);
        }
        Some(network)
    }
}
