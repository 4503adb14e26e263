//! Events that a connection reports to its application, and errors of the network.

use core::convert::Infallible;
use eifel_packet::ip::Version;
use eifel_recovery::engine;

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

/// An ICMP error about a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IcmpError {
    /// The peer's host does not accept this protocol or port, or a filter forbids the packet (RFC
    /// 1122, section 4.2.3.9).
    Hard,
    /// A problem that may be temporary: a route, a hop limit, a parameter (the same section).
    Soft,
    /// The packet is larger than the next link's MTU (RFC 1191, RFC 8201).
    TooBig {
        /// MTU of the link in bytes; 0 if the router does not report it.
        mtu: u32,
        /// The version of IP.
        version: Version,
    },
    /// The router asks for a lower rate: ignored (RFC 6633).
    SourceQuench,
}

impl IcmpError {
    /// Returns the error of an ICMPv4 message with this type and code. `mtu` is its next-hop MTU
    /// field. `None` if it is no error.
    pub fn v4(kind: u8, code: u8, mtu: u16) -> Option<Self> {
        match (kind, code) {
            (3, 4) => Some(Self::TooBig { mtu: u32::from(mtu), version: Version::V4 }),
            // Protocol and port unreachable, and administratively prohibited.
            (3, 2 | 3 | 9 | 10 | 13) => Some(Self::Hard),
            (3 | 11 | 12, _) => Some(Self::Soft),
            (4, _) => Some(Self::SourceQuench),
            _ => None,
        }
    }

    /// Returns the error of an ICMPv6 message with this type and code (RFC 4443). `mtu` is its MTU
    /// field. `None` if it is no error.
    pub fn v6(kind: u8, code: u8, mtu: u32) -> Option<Self> {
        match (kind, code) {
            (2, _) => Some(Self::TooBig { mtu, version: Version::V6 }),
            // Administratively prohibited, port unreachable, policy, reject route; next header not recognised.
            (1, 1 | 4 | 5 | 6) | (4, 1) => Some(Self::Hard),
            (1 | 3 | 4, _) => Some(Self::Soft),
            _ => None,
        }
    }
}
