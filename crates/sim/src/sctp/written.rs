//! Packets that exist as bytes before they are sent: answers outside of an association, and packets
//! that a liar held back.

use super::endpoint::{Endpoint, path_to};
use crate::network::Network;
use eifel_packet::ip::Addresses;
use eifel_sctp::Outgoing;

impl Endpoint {
    /// Sends a packet that belongs to no association.
    pub fn answer<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>, addresses: Addresses, bytes: &[u8]) {
        self.send_written(net, &Outgoing { addresses, path: None }, bytes);
    }

    /// Sends the held packets whose hold time is over.
    pub fn release<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        while let Some(waiting) = self.liar.as_mut().and_then(|liar| liar.release(net.now)) {
            self.send_written(net, &waiting.outgoing, &waiting.bytes);
        }
    }

    fn send_written<const IN_ORDER: bool>(&self, net: &mut Network<IN_ORDER>, outgoing: &Outgoing, bytes: &[u8]) {
        let bundle = net.bundles.vacant(net.slab.next_handle());
        bundle.bytes.extend_from_slice(bytes);
        bundle.addresses = outgoing.addresses;
        net.slab.vacant().packet = self.empty();
        self.launch(net, path_to(&self.ways, outgoing));
    }
}
