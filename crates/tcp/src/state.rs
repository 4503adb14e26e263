//! The states of a connection.

use eifel_base::time::Instant;

/// How a connection came to SYN-RECEIVED.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// From LISTEN.
    Passive,
    /// From SYN-SENT: both ends have called each other.
    Simultaneous,
}

/// The states of RFC 9293, section 3.3.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Waiting for a SYN.
    Listen,
    /// A SYN is sent.
    SynSent,
    /// A SYN is received, and one is sent.
    SynReceived(Opening),
    /// Open in both directions.
    Established,
    /// This end has closed; its FIN is not yet acknowledged.
    FinWait1,
    /// This end's FIN is acknowledged; the peer may still send.
    FinWait2,
    /// The peer has closed; this end may still send.
    CloseWait,
    /// Both have closed at the same time; this end's FIN is not yet acknowledged.
    Closing,
    /// The peer closed first, this end has closed too; its FIN is not yet acknowledged.
    LastAck,
    /// All is done; what is left of the connection in the network is waited out.
    TimeWait {
        /// When the wait is over.
        until: Instant,
    },
    /// No connection: all is over.
    Closed,
}
