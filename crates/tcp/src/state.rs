//! The states of a connection.

use eifel_base::time::Instant;

/// How a connection entered SYN-RECEIVED.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opening {
    /// From LISTEN.
    Passive,
    /// From SYN-SENT: a simultaneous open.
    Simultaneous,
}

/// The states of RFC 9293, section 3.3.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Waiting for a SYN.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// SYNs were sent and received.
    SynReceived(Opening),
    /// Open in both directions.
    Established,
    /// This end has closed; its FIN is not yet acknowledged.
    FinWait1,
    /// This end's FIN is acknowledged; the peer may still send.
    FinWait2,
    /// The peer has closed; this end may still send.
    CloseWait,
    /// Both ends have closed at the same time; this end's FIN is not yet acknowledged.
    Closing,
    /// The peer has closed, then this end; its FIN is not yet acknowledged.
    LastAck,
    /// Both directions are closed; old segments in the network must expire.
    TimeWait { until: Instant },
    /// There is no connection.
    Closed,
}
