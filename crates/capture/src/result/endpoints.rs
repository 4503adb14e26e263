//! The ends of a connection, and where an event is found in a capture.

use eifel_packet::ip::Addresses;
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr};

/// One end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Endpoint {
    pub address: IpAddr,
    pub port: u16,
}

impl Default for Endpoint {
    fn default() -> Self {
        Self { address: Ipv4Addr::UNSPECIFIED.into(), port: 0 }
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.address {
            IpAddr::V4(address) => write!(f, "{address}:{}", self.port),
            IpAddr::V6(address) => write!(f, "[{address}]:{}", self.port),
        }
    }
}

impl Serialize for Endpoint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The source and destination of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Flow {
    pub source: Endpoint,
    pub destination: Endpoint,
    /// The network of the packet, as in [`Packet`](crate::frame::decode::Packet).
    pub tunnel: u32,
}

impl Flow {
    /// Returns the flow of a packet with these addresses and ports.
    pub fn new(addresses: &Addresses, ports: (u16, u16), tunnel: u32) -> Self {
        Self {
            source: Endpoint { address: addresses.source(), port: ports.0 },
            destination: Endpoint { address: addresses.destination(), port: ports.1 },
            tunnel,
        }
    }

    /// Returns the flow in the reverse direction.
    pub fn back(self) -> Self {
        Self { source: self.destination, destination: self.source, tunnel: self.tunnel }
    }
}

/// The time and frame of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct When {
    /// Nanoseconds since 1970.
    pub nanos: u64,
    /// Number of the frame in the capture, from 1.
    pub frame: u64,
}
