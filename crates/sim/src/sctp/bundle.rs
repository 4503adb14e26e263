//! The contents of SCTP packets under way.

use crate::oracle::Sent;
use eifel_packet::ip::{self, Addresses, Header, Version};
use eifel_packet::sctp;
use std::net::Ipv4Addr;

/// An SCTP packet and the transmissions of its chunks.
pub struct Bundle {
    /// The payload of IP.
    pub bytes: Vec<u8>,
    /// As they stand in the IP header.
    pub addresses: Addresses,
    /// The transmissions of its DATA chunks, in order.
    pub chunks: Vec<Sent>,
}

impl Default for Bundle {
    fn default() -> Self {
        let nobody = Ipv4Addr::UNSPECIFIED;
        let addresses = Addresses::V4 { source: nobody, destination: nobody };
        Self { bytes: Vec::new(), addresses, chunks: Vec::new() }
    }
}

impl Bundle {
    /// Returns the packet with its IP header.
    ///
    /// # Panics
    /// When an association made a packet that IP cannot carry.
    pub fn datagram(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes.len() + 40);
        let header = Header::new(self.addresses);
        ip::emit(&header, sctp::PROTOCOL, self.bytes.len(), &mut bytes).expect("a packet fits its path's PMTU");
        bytes.extend_from_slice(&self.bytes);
        bytes
    }

    /// Returns the bytes of the packet with its IP header.
    pub fn ip_len(&self, ip: Version) -> u32 {
        ip.header_len() + self.bytes.len() as u32
    }
}

/// The bundles of all packets, by handle. Their memory is used again with the handle.
#[derive(Default)]
pub struct Bundles(Vec<Bundle>);

impl Bundles {
    /// Returns the bundle of the packet with this handle.
    pub fn get(&self, handle: u32) -> &Bundle {
        &self.0[handle as usize]
    }

    /// Returns the bundle of a packet that is about to leave, empty.
    pub fn vacant(&mut self, handle: u32) -> &mut Bundle {
        let index = handle as usize;
        if self.0.len() <= index {
            self.0.resize_with(index + 1, Bundle::default);
        }
        let bundle = &mut self.0[index];
        bundle.bytes.clear();
        bundle.chunks.clear();
        bundle
    }

    /// Takes a bundle out while its packet is handled. It is to be [put back](Self::put).
    pub fn take(&mut self, handle: u32) -> Bundle {
        std::mem::take(&mut self.0[handle as usize])
    }

    /// Puts a bundle back, which keeps its allocation.
    pub fn put(&mut self, handle: u32, bundle: Bundle) {
        self.0[handle as usize] = bundle;
    }
}
