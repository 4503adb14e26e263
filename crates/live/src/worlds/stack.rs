//! The seam to the stack that sends.

use crate::system::Error;
use eifel_base::time::Duration;

/// The port of the stack's listener.
pub const PORT: u16 = 5001;
/// The port of the listener whose connections are paced at [`PACE`].
pub const PACED_PORT: u16 = 5002;
/// Bytes a second: 87 ms for each full segment. A retransmission then waits longer than an ACK takes
/// that is released by the loss signal.
pub const PACE: u64 = 11_500;

/// The congestion state of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum State {
    /// Nothing is deemed lost.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout.
    Loss,
}

/// What a stack says about one of its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Standing {
    pub state: State,
    /// In segments.
    pub cwnd: u32,
    /// In segments; `None` before the first reduction.
    pub ssthresh: Option<u32>,
    /// Segments outstanding.
    pub unacked: u32,
    /// Bytes written and not yet sent.
    pub unsent: u32,
    pub rto: Duration,
    /// Expiries of the retransmission timer so far.
    pub timeouts: u32,
    /// Segments with data sent so far, retransmissions included.
    pub sent: u32,
    /// Segments received so far.
    pub received: u32,
}

/// What a stack counts for all of its connections together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    /// Undos, by the names of Linux's counters.
    pub undos: Vec<&'static str>,
    /// Beginnings of fast recovery.
    pub recoveries: u64,
}

/// A TCP stack whose connections send to the player. It answers calls at [`PORT`] and
/// [`PACED_PORT`], and sends full segments of [`SEGMENT`](super::world::SEGMENT) bytes.
pub trait Stack {
    /// A connection of the stack. Dropping it ends the connection at once.
    type Socket;

    /// Reads the next packet that the stack sends into `room`, and returns its length; `None` if there is none.
    ///
    /// # Errors
    /// Those of the device.
    fn read(&mut self, room: &mut [u8]) -> Result<Option<usize>, Error>;

    /// Hands a packet to the stack.
    ///
    /// # Errors
    /// Those of the device.
    fn deliver(&mut self, packet: &[u8]) -> Result<(), Error>;

    /// Returns the next connection that was opened, and its peer's port; `None` if there is none.
    ///
    /// # Errors
    /// Those of the stack.
    fn accept(&mut self) -> Result<Option<(u16, Self::Socket)>, Error>;

    /// Lets a connection send further bytes.
    ///
    /// # Errors
    /// If the connection does not take all.
    fn write(&mut self, socket: &Self::Socket, bytes: u32) -> Result<(), Error>;

    /// Returns the state of a connection.
    ///
    /// # Errors
    /// Those of the stack.
    fn standing(&mut self, socket: &Self::Socket) -> Result<Standing, Error>;

    /// Returns what all connections did since the last call.
    ///
    /// # Errors
    /// Those of the stack.
    fn counted(&mut self) -> Result<Counted, Error>;

    /// Waits until the stack sends a packet, for at most `limit`.
    ///
    /// # Errors
    /// Those of the system.
    fn wait(&mut self, limit: Duration) -> Result<(), Error>;
}
