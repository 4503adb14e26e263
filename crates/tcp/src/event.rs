//! Events that a connection reports to its application.

use core::convert::Infallible;
use eifel_recovery::engine;

use crate::icmp::IcmpError;

/// An event of a connection. `R` is the type of the engine's events.
#[derive(Clone, PartialEq, Debug)]
pub enum Event<R = engine::Event> {
    /// The handshake is complete.
    Connected,
    /// Data can be read, and none could before.
    Readable,
    /// The send buffer has room again after it was full.
    Writable,
    /// The peer has closed its direction, and all data before its FIN can be read.
    PeerClosed,
    /// The connection has closed normally, after TIME-WAIT if it applies, or this end has aborted
    /// it.
    Closed,
    /// The peer has reset the connection.
    Reset,
    /// The peer has refused the connection.
    Refused,
    /// The network reported that the peer is unreachable. The attempt to open a connection has
    /// failed.
    Unreachable,
    /// The network reported a problem that may be temporary. The connection continues (RFC 9293,
    /// section 3.9.2.2).
    SoftError(IcmpError),
    /// The connection was given up, because the peer was silent for too long.
    TimedOut,
    /// An event of the sending side's engine.
    Recovery(R),
}

/// An event without the engine's variant. It takes a sixth of the memory.
pub(crate) type Own = Event<Infallible>;

impl From<Own> for Event {
    fn from(own: Own) -> Self {
        match own {
            Own::Connected => Self::Connected,
            Own::Readable => Self::Readable,
            Own::Writable => Self::Writable,
            Own::PeerClosed => Self::PeerClosed,
            Own::Closed => Self::Closed,
            Own::Reset => Self::Reset,
            Own::Refused => Self::Refused,
            Own::Unreachable => Self::Unreachable,
            Own::SoftError(error) => Self::SoftError(error),
            Own::TimedOut => Self::TimedOut,
            Own::Recovery(never) => match never {},
        }
    }
}
