//! Connections of a capture, and the state kept for each while it lasts.

mod ack;
mod again;
mod ahead;
mod boundaries;
mod calm;
mod clock;
mod connection;
mod doubts;
mod flight;
mod half;
mod held;
mod implied;
mod path_mtu;
mod popped;
mod recent;
mod replica;
mod rows;
mod sent;
mod smoothed;
mod straight;
mod table;
mod trip;
mod twin;
mod unheard;

pub use boundaries::Place;

pub(crate) use ahead::Ahead;
pub use connection::{Connection, Cost, Direction, Protocol, Summary};
pub(crate) use flight::Flight;
pub use half::Counts;
pub(crate) use table::hash;
pub use table::{MOST_CONNECTIONS, Table};
pub(crate) use trip::Trip;
pub use trip::Vantage;

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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// The sender.
    pub source: Endpoint,
    /// The receiver.
    pub destination: Endpoint,
    /// The tunnel of the packet; 0 outside of tunnels.
    pub tunnel: u32,
}

impl Way {
    /// Returns the way of a packet with these addresses and ports.
    pub fn new(addresses: &Addresses, ports: (u16, u16), tunnel: u32) -> Self {
        Self {
            source: Endpoint { address: addresses.source(), port: ports.0 },
            destination: Endpoint { address: addresses.destination(), port: ports.1 },
            tunnel,
        }
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
