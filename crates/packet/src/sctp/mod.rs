//! An SCTP packet as bytes (RFC 9260, section 3): the common header, the CRC32c, and the chunks.
//!
//! ```
//! use eifel_packet::sctp::{self, Chunk, Header};
//!
//! let header = Header { source_port: 5001, destination_port: 5002, verification_tag: 0xfeed };
//! let mut bytes = Vec::new();
//! let mut writer = sctp::Writer::new(&header, &mut bytes);
//! writer.chunk(&Chunk::CookieAck)?;
//! writer.finish();
//! let (read, mut chunks) = sctp::parse(&bytes)?;
//! assert_eq!((read, chunks.next(), chunks.next()), (header, Some(Ok(Chunk::CookieAck)), None));
//! # Ok::<(), eifel_packet::Error>(())
//! ```

mod cause;
mod chunk;
mod data;
mod init;
mod parameter;
mod sack;
mod tlv;

pub use cause::{Cause, Causes};
pub use chunk::{Chunk, Chunks, ForwardTsn, Skipped, Unaware, Unknown};
pub use data::{Data, DataFlags};
pub use init::Init;
pub use parameter::{Parameter, Parameters, extension};
pub use sack::{Gap, Gaps, NrSack, Sack, SackFlags};

use crate::error::Error;

/// The protocol number of SCTP in an IP header.
pub const PROTOCOL: u8 = 132;
/// The UDP port registered for encapsulated SCTP (RFC 6951, section 5.1).
pub const UDP_PORT: u16 = 9899;
/// Bytes of the common header.
pub const HEADER_LEN: usize = 12;

/// The longest payload of an IP packet. IPv6 reserves its 16-bit length for the payload alone.
const LIMIT: usize = 65_535;
/// Offset of the checksum in the common header.
const CHECKSUM_OFFSET: usize = 8;

/// The common header (RFC 9260, section 3.1), without the checksum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Header {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The tag chosen by the receiver; 0 in a packet with an INIT chunk.
    pub verification_tag: u32,
}

/// Appends one packet to a vector.
#[derive(Debug)]
pub struct Writer<'v> {
    out: &'v mut Vec<u8>,
    start: usize,
}

impl<'v> Writer<'v> {
    /// Starts a packet with its common header.
    pub fn new(header: &Header, out: &'v mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend(header.source_port.to_be_bytes());
        out.extend(header.destination_port.to_be_bytes());
        out.extend(header.verification_tag.to_be_bytes());
        // The checksum is computed with zeros in its own field (RFC 9260, section 6.8).
        out.extend([0; 4]);
        Self { out, start }
    }

    /// Returns the bytes of the packet so far, padding included.
    pub fn len(&self) -> usize {
        self.out.len() - self.start
    }

    /// Returns whether no chunk has been written yet.
    pub fn is_empty(&self) -> bool {
        self.len() == HEADER_LEN
    }

    /// Appends a chunk, padded to four bytes.
    ///
    /// # Errors
    /// [`Error::TooLong`], with nothing written, if the packet would exceed the limit of IP.
    pub fn chunk(&mut self, chunk: &Chunk<'_>) -> Result<(), Error> {
        let found = self.len() + chunk.length().next_multiple_of(4);
        if found > LIMIT {
            return Err(Error::TooLong { what: "SCTP packet", limit: LIMIT, found });
        }
        chunk.emit(self.out);
        Ok(())
    }

    /// Appends bytes unchecked in place of chunks, and completes the packet. For tests with
    /// malformed chunks.
    pub fn raw(self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.finish();
    }

    /// Completes the packet: fills in its checksum.
    pub fn finish(self) {
        let checksum = crc32c(&self.out[self.start..]);
        self.out[self.start + CHECKSUM_OFFSET..][..4].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Reads the payload of an IP or UDP packet as an SCTP packet. The chunks are parsed one by one,
/// when the iterator reaches them.
///
/// # Errors
/// [`Error::Truncated`] if the bytes end within the common header. [`Error::TooLong`] above the
/// limit of IP. [`Error::Crc32c`] for a wrong checksum.
pub fn parse(bytes: &[u8]) -> Result<(Header, Chunks<'_>), Error> {
    let (header, chunks) = parse_unverified(bytes)?;
    let expected = crc32c(bytes);
    let found = u32::from_be_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    if expected != found {
        return Err(Error::Crc32c { offset: CHECKSUM_OFFSET, expected, found });
    }
    Ok((header, chunks))
}

/// Reads as [`parse`] does, but accepts any checksum: for captures that were cut off, or taken
/// before the checksum was filled in.
///
/// # Errors
/// Those of [`parse`], except [`Error::Crc32c`].
pub fn parse_unverified(bytes: &[u8]) -> Result<(Header, Chunks<'_>), Error> {
    let Some(&[a, b, c, d, e, f, g, h, ..]) = bytes.first_chunk::<HEADER_LEN>() else {
        let (what, found) = ("SCTP common header", bytes.len());
        return Err(Error::Truncated { what, offset: 0, expected: HEADER_LEN, found });
    };
    if bytes.len() > LIMIT {
        return Err(Error::TooLong { what: "SCTP packet", limit: LIMIT, found: bytes.len() });
    }
    let header = Header {
        source_port: u16::from_be_bytes([a, b]),
        destination_port: u16::from_be_bytes([c, d]),
        verification_tag: u32::from_be_bytes([e, f, g, h]),
    };
    Ok((header, Chunks::new(bytes, HEADER_LEN)))
}

/// Returns the checksum as a big-endian reading of its four bytes in the packet. RFC 9260, appendix
/// A, sends the register's least significant byte first, so the number is the byte-swapped CRC.
fn crc32c(packet: &[u8]) -> u32 {
    let before = crc32c::crc32c(&packet[..CHECKSUM_OFFSET]);
    let zeros = crc32c::crc32c_append(before, &[0; 4]);
    crc32c::crc32c_append(zeros, &packet[HEADER_LEN..]).swap_bytes()
}
