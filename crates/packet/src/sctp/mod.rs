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

/// The longest packet that any IP packet can carry: IPv6 has the whole of its 16-bit length for it.
const LIMIT: usize = 65_535;
/// Where the checksum stands in the common header.
const CHECKSUM_OFFSET: usize = 8;

/// The common header (RFC 9260, section 3.1), but for the checksum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Header {
    /// The sender's port.
    pub source_port: u16,
    /// The receiver's port.
    pub destination_port: u16,
    /// The tag that the receiver chose; 0 in a packet with an INIT chunk.
    pub verification_tag: u32,
}

/// Writes one packet behind whatever `out` holds already.
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
        // The checksum is over a packet with zeros in its place (RFC 9260, section 6.8).
        out.extend([0; 4]);
        Self { out, start }
    }

    /// Bytes of the packet so far, padding included.
    pub fn len(&self) -> usize {
        self.out.len() - self.start
    }

    /// Whether there is no chunk yet.
    pub fn is_empty(&self) -> bool {
        self.len() == HEADER_LEN
    }

    /// Appends a chunk, padded to four bytes.
    ///
    /// # Errors
    /// [`Error::TooLong`], with nothing written, when the packet would be longer than IP can carry.
    pub fn chunk(&mut self, chunk: &Chunk<'_>) -> Result<(), Error> {
        let found = self.len() + chunk.length().next_multiple_of(4);
        if found > LIMIT {
            return Err(Error::TooLong { what: "SCTP packet", limit: LIMIT, found });
        }
        chunk.emit(self.out);
        Ok(())
    }

    /// Appends bytes as they are, in place of chunks, and completes the packet: for tests of what no chunk may be.
    pub fn raw(self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.finish();
    }

    /// Completes the packet with its checksum.
    pub fn finish(self) {
        let checksum = crc32c(&self.out[self.start..]);
        self.out[self.start + CHECKSUM_OFFSET..][..4].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Reads the payload of an IP or UDP packet as an SCTP packet; chunks are read one by one, as they are asked for.
///
/// # Errors
/// [`Error::Truncated`] for bytes that end before the common header does, [`Error::TooLong`] for more than a packet
/// holds, and [`Error::Crc32c`] for a wrong checksum.
pub fn parse(bytes: &[u8]) -> Result<(Header, Chunks<'_>), Error> {
    let (header, chunks) = parse_unverified(bytes)?;
    let expected = crc32c(bytes);
    let found = u32::from_be_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
    if expected != found {
        return Err(Error::Crc32c { offset: CHECKSUM_OFFSET, expected, found });
    }
    Ok((header, chunks))
}

/// Reads as [`parse`] does, but takes any checksum: for captures that were cut off, or made before the checksum was.
///
/// # Errors
/// Those of [`parse`], without the last.
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

/// The checksum as the number that its four bytes make in network order. RFC 9260, appendix A: the register's least
/// significant byte stands first, so the number is the CRC with its bytes reversed.
fn crc32c(packet: &[u8]) -> u32 {
    let before = crc32c::crc32c(&packet[..CHECKSUM_OFFSET]);
    let zeros = crc32c::crc32c_append(before, &[0; 4]);
    crc32c::crc32c_append(zeros, &packet[HEADER_LEN..]).swap_bytes()
}
