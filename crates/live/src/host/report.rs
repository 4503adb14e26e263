//! A host's reports: counts, ended connections, reasons for a refused one, and segments for a witness.

use super::{Handle, Tally};
use eifel_base::time::Instant;
use eifel_packet::ip::Version;
use eifel_packet::segment::Segment;
use eifel_tcp::{Connection, Event, Outgoing};
use std::fmt;

/// A connection at its end.
pub struct Ended {
    pub connection: Connection,
    pub tally: Tally,
}

impl fmt::Debug for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ended({:?})", self.connection.counts())
    }
}

/// Counts of packets that belong to no connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Packets that could not be read: their headers or checksums are wrong.
    pub malformed: u64,
    /// Packets for other hosts.
    pub foreign: u64,
    /// Packets of protocols other than TCP and ICMP.
    pub other_protocols: u64,
    /// ICMP messages about no connection of this host.
    pub stray_icmp: u64,
    /// Segments for no connection and no listener, answered by a reset.
    pub reset: u64,
    /// Segments for a listener, ignored because the host has [its most
    /// connections](super::Config::most_connections).
    pub refused: u64,
}

/// Why no connection can be made.
#[derive(Clone, Debug)]
pub enum ConnectError {
    /// The host has no address of the peer's version of IP.
    NoAddress(Version),
    /// All ports are taken for this peer.
    NoPort,
    /// Another listener has the port.
    InUse(u16),
    /// An algorithm is unknown.
    Engine(eifel_recovery::registry::Error),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAddress(Version::V4) => f.write_str("the host has no IPv4 address"),
            Self::NoAddress(Version::V6) => f.write_str("the host has no IPv6 address"),
            Self::NoPort => f.write_str("all local ports are in use with this peer"),
            Self::InUse(port) => write!(f, "port {port} is in use: choose another"),
            Self::Engine(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConnectError {}

/// Sees segments as they come and go, and changes nothing.
pub trait Witness {
    /// Sees a segment before its connection does.
    fn arrives(&mut self, now: Instant, at: Handle, connection: &Connection, segment: &Segment);
    /// Sees a segment that leaves a connection.
    fn leaves(&mut self, now: Instant, at: Handle, connection: &Connection, sent: (&Segment, &Outgoing));
    /// Sees a connection that has processed its input and sent all that it may.
    fn settles(&mut self, now: Instant, at: Handle, connection: &Connection);
    /// Sees an event of a connection.
    fn happens(&mut self, now: Instant, at: Handle, event: &Event);
}
