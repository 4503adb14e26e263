//! A flow of datagrams: a source that sends, and a sink that counts.

use crate::app::{Alarm, DatagramApp};
use crate::network::Network;
use crate::slab::{End, Packet};
use eifel_base::time::Instant;

/// A flow of datagrams.
pub struct DatagramFlow {
    /// Its application.
    pub app: DatagramApp,
    /// When the next datagram leaves, and when the source stops.
    pub alarm: Alarm,
    /// The slot of the alarm.
    pub slot: u32,
    /// Index of the flow.
    pub flow: u32,
    /// The first link.
    pub link: u32,
    /// The node of the sink.
    pub destination: u16,
    /// When it began.
    pub started: Instant,
    /// Datagrams sent.
    pub sent: u64,
    /// Bytes that arrived, headers included.
    pub arrived_bytes: u64,
}

impl DatagramFlow {
    /// The alarm rings: a datagram leaves, or the source stops.
    pub fn ring<const OBSERVED: bool>(&mut self, net: &mut Network<OBSERVED>) {
        if net.now >= self.alarm.stop_at {
            net.queue.set(self.slot, Instant::NEVER);
            return;
        }
        self.sent += 1;
        net.slab.vacant().packet = Packet {
            transmission: 0,
            start: 0,
            segment: self.sent,
            positions: 0,
            copy: 0,
            flow: self.flow,
            sender: End::From,
            repeats: false,
        };
        net.launch(self.app.packet_bytes(), self.destination, self.link as usize);
        self.alarm.wake_at = net.now + self.app.gap();
        net.queue.set(self.slot, self.alarm.next());
    }
}
