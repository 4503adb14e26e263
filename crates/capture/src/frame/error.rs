//! Errors in a capture file, with their positions.

use core::fmt;

/// Why reading a capture stopped. Offsets count bytes from the start of the uncompressed file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The file has none of the supported formats.
    Unknown {
        /// The first four bytes of the file; zero for those that a shorter file lacks.
        magic: [u8; 4],
    },
    /// A known format, version or link type that this crate cannot read.
    Unsupported {
        /// The part of the file: a version or a link type.
        what: &'static str,
        /// Its number in the file.
        number: u32,
    },
    /// A field holds a value that the format does not allow.
    Invalid {
        what: &'static str,
        /// Where the block or record with the field starts.
        offset: u64,
        /// The values allowed.
        expected: &'static str,
        found: u64,
    },
    /// The file ends inside a record. Everything before the record was read.
    Cut {
        /// Where the record starts.
        offset: u64,
        /// Bytes that the record needs.
        expected: u64,
        /// Bytes of the record that the file has.
        found: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { magic } => write!(
                f,
                "not a capture file: expected pcap, pcapng or snoop, perhaps compressed by gzip or zstd; found \
                 {:02x} {:02x} {:02x} {:02x} at byte 0",
                magic[0], magic[1], magic[2], magic[3]
            ),
            Self::Unsupported { what, number } => write!(f, "{what} {number} is not supported"),
            Self::Invalid { what, offset, expected, found } => {
                write!(f, "{what} of the record at byte {offset}: expected {expected}, found {found}")
            }
            Self::Cut { offset, expected, found } => {
                write!(f, "the record at byte {offset} is cut off: expected {expected} bytes, found {found}")
            }
        }
    }
}

impl core::error::Error for Error {}
