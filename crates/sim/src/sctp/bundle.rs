//! The contents of SCTP packets under way.

use crate::oracle::{Role, Sent};
use crate::slab::Packet;
use eifel_packet::ip::{self, Addresses, Header, Version};
use eifel_packet::sctp;
use eifel_recovery::engine::Kind;
use eifel_recovery::fact::Transmission;
use eifel_sctp::{Plain, Single};
use std::net::Ipv4Addr;

/// The form of a packet's contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Bytes: the payload of the IP packet.
    Bytes,
    /// Values, for packets with only DATA and SACK chunks in a run that is not observed.
    Plain,
    /// A single chunk, for most packets of a run that is not observed, and the index of the
    /// [way](super::endpoint::Way) on which it left. The other fields of the bundle are unused.
    Single(Single, u16),
}

/// An SCTP packet and the transmissions of its chunks.
pub struct Bundle {
    pub form: Form,
    pub bytes: Vec<u8>,
    pub plain: Plain,
    /// The addresses in the IP header.
    pub addresses: Addresses,
    /// The transmissions of its DATA chunks, in order, if there are several. The [`Packet`] itself
    /// describes a single transmission.
    pub chunks: Vec<Sent>,
}

impl Default for Bundle {
    fn default() -> Self {
        let nobody = Ipv4Addr::UNSPECIFIED;
        let addresses = Addresses::V4 { source: nobody, destination: nobody };
        Self { form: Form::Bytes, bytes: Vec::new(), plain: Plain::default(), addresses, chunks: Vec::new() }
    }
}

impl Bundle {
    /// Returns the bytes of the packet, with its IP header. Requires [`Form::Bytes`].
    ///
    /// # Panics
    /// Panics when an association made a packet that IP cannot carry.
    pub fn datagram(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes.len() + 40);
        let header = Header::new(self.addresses);
        ip::emit(&header, sctp::PROTOCOL, self.bytes.len(), &mut bytes).expect("a packet fits its path's PMTU");
        bytes.extend_from_slice(&self.bytes);
        bytes
    }

    /// Returns the length of the packet in bytes, with its IP header.
    pub fn ip_len(&self, ip: Version) -> u32 {
        let len = match self.form {
            Form::Bytes => self.bytes.len(),
            Form::Plain => self.plain.len(),
            Form::Single(single, _) => single.len() as usize,
        };
        ip.header_len() + len as u32
    }
}

/// The bundles of all packets, by handle. The memory of a bundle is reused with its handle.
#[derive(Default)]
pub struct Bundles(Vec<Bundle>);

impl Bundles {
    /// Returns the bundle of the packet with this handle.
    pub fn get(&self, handle: u32) -> &Bundle {
        &self.0[handle as usize]
    }

    /// Returns the bundle of the packet with this handle, to change it.
    #[inline]
    pub fn get_mut(&mut self, handle: u32) -> &mut Bundle {
        &mut self.0[handle as usize]
    }

    /// Returns the transmission of one of the packet's chunks.
    #[inline]
    pub fn chunk(&self, packet: &Packet, handle: u32, index: usize) -> Sent {
        if packet.positions == 1 { crate::network::sent(packet) } else { self.get(handle).chunks[index] }
    }

    /// Prepares the bundle of a packet of values that is about to leave. Returns its values.
    #[inline]
    pub fn plain(&mut self, handle: u32) -> &mut Plain {
        let bundle = self.vacant(handle);
        bundle.form = Form::Plain;
        &mut bundle.plain
    }

    /// Returns the bundle of a packet that is about to leave, with the contents of an earlier
    /// packet.
    #[inline]
    pub fn place(&mut self, handle: u32) -> &mut Bundle {
        let index = handle as usize;
        if self.0.len() <= index {
            self.0.resize_with(index + 1, Bundle::default);
        }
        &mut self.0[index]
    }

    /// Empties and returns the bundle of a packet that is about to leave.
    pub fn vacant(&mut self, handle: u32) -> &mut Bundle {
        let bundle = self.place(handle);
        bundle.form = Form::Bytes;
        bundle.bytes.clear();
        bundle.chunks.clear();
        bundle
    }
}

/// Returns a chunk's transmission as the oracle sees it.
#[inline]
pub(super) fn sent(transmission: &Transmission) -> Sent {
    let role = match transmission.kind {
        Kind::Retransmission(_) => Role::Retransmission,
        Kind::New | Kind::WindowProbe => Role::Original,
    };
    Sent { transmission: transmission.id.0 + 1, start: transmission.start, end: transmission.start + 1, role }
}
