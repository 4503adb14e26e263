//! What a connection tells its application.

use core::convert::Infallible;
use eifel_recovery::engine;

use crate::icmp::IcmpError;

/// Something that the application may want to know.
#[derive(Clone, PartialEq, Debug)]
pub enum Event<R = engine::Event> {
    /// The handshake is complete.
    Connected,
    /// There is something to read, where there was nothing.
    Readable,
    /// There is room to write again, where there was none.
    Writable,
    /// The peer has closed its direction, and everything before that can be read.
    PeerClosed,
    /// The connection has come to its end in good order (TIME-WAIT included), or was aborted from this side.
    Closed,
    /// The peer has reset the connection.
    Reset,
    /// The peer has refused the connection.
    Refused,
    /// The network says that the peer cannot be reached; the attempt to open a connection is over.
    Unreachable,
    /// The network reports trouble on the way, which may pass: the connection goes on (RFC 9293, section 3.9.2.2).
    SoftError(IcmpError),
    /// The connection was given up: nothing was heard for too long.
    TimedOut,
    /// The sending side's engine reports.
    Recovery(R),
}

/// An event of the connection's own. It takes a sixth of the memory of one that may be the engine's.
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
