//! One connection whose packets come from elsewhere than a capture, as from a kernel that tells what its
//! socket sent and received.

pub use crate::evidence::Known;
use crate::frame::decode::Packet;
use crate::result::{Flow, Retransmission, Summary, When};
use crate::tcp::Connection;

/// The analysis of a single TCP connection. Its rules are those of an
/// [`Analyzer`](super::Analyzer).
#[derive(Debug)]
pub struct Single {
    connection: Connection,
    known: Known,
}

impl Single {
    /// Returns the analysis of a connection whose first packet has `flow` and passes at `when`.
    pub fn new(flow: Flow, when: When, known: Known) -> Self {
        Self { connection: Connection::new(flow, 0, when), known }
    }

    /// Takes the next packet. A packet of another connection changes nothing.
    pub fn packet(&mut self, packet: &Packet, when: When) {
        let Some(side) = self.connection.side_of(packet) else { return };
        self.connection.on_packet(packet, side, when);
        if self.known != Known::default() {
            let sack = self.connection.sacks;
            self.connection.directions.iter_mut().flatten().for_each(|direction| direction.knows(self.known, sack));
        }
    }

    /// Ends the connection, and returns its results with the retransmissions of both ends.
    pub fn finish(self) -> (Summary, Vec<Retransmission>) {
        self.connection.finish()
    }
}
