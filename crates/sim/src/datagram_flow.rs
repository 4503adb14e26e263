//! A flow of datagrams: a source that sends them, and a sink that counts them.

use crate::app::{Alarm, DatagramApp};
use crate::end::End;
use crate::network::Network;
use crate::packet::{Contents, NO_PACKET, Packet};
use crate::slab::Address;
use eifel_base::time::Instant;

pub struct DatagramFlow {
    pub app: DatagramApp,
    /// The times at which the next datagram leaves and the source stops.
    pub alarm: Alarm,
    /// The alarm's slot of the event queue.
    pub slot: u32,
    pub flow: u32,
    /// Index of the link that datagrams enter first.
    pub link: u32,
    /// Index of the sink's node.
    pub destination: u16,
    pub started: Instant,
    pub sent: u64,
    /// Bytes that arrived, headers included.
    pub arrived_bytes: u64,
}

impl DatagramFlow {
    /// Handles the alarm: sends a datagram, or stops the source.
    pub fn ring<const IN_ORDER: bool>(&mut self, net: &mut Network<IN_ORDER>) {
        if net.now >= self.alarm.stop_at {
            net.queue.set(self.slot, Instant::NEVER);
            return;
        }
        self.sent += 1;
        let cell = net.slab.vacant();
        cell.packet = Packet { segment: self.sent, flow: self.flow, ..NO_PACKET };
        cell.contents = Contents::Datagram;
        let address = Address { flow: self.flow, destination: self.destination, sender: End::From, ahead: false };
        net.launch(self.app.packet_bytes(), address, self.link as usize);
        self.alarm.wake_at = net.now + self.app.gap();
        net.queue.set(self.slot, self.alarm.next());
    }
}
