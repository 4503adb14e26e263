//! Packets that no association sends now: answers outside of an association, and packets that a liar
//! held back.

use super::endpoint::{Endpoint, path_to};
use crate::network::Network;
use crate::packet::{NO_PACKET, Packet, SctpPacket};
use eifel_packet::ip::Addresses;

impl Endpoint {
    /// Sends the held packets whose hold time is over.
    pub fn release<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        while let Some(waiting) = self.liar.as_mut().and_then(|liar| liar.release(net.now)) {
            self.send(net, waiting.addresses, waiting.packet);
        }
    }

    /// Sends a packet that belongs to no association, or that left the association earlier.
    pub(super) fn send<const IN_ORDER: bool>(
        &self,
        net: &mut Network<IN_ORDER>,
        addresses: Addresses,
        packet: eifel_sctp::Packet,
    ) {
        let cell = net.slab.vacant();
        cell.packet = Packet { flow: self.flow, sender: self.end, ..NO_PACKET };
        let sctp = SctpPacket { addresses, packet, transmissions: Vec::new() };
        let path = path_to(&self.ways, &addresses);
        let bytes = self.ways[path.0].charges.bytes(&sctp, net.ip);
        *cell.contents.sctp_mut() = sctp;
        self.launch(net, path, bytes);
    }
}
