//! Faults of a capture file, with their place.

use core::fmt;

/// Why a capture could not be read on. Offsets count bytes from the start of the uncompressed file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The file is none of the formats that are read.
    Unknown {
        /// Its first bytes.
        magic: [u8; 4],
    },
    /// A format, version or link type that has a name but no reader here.
    Unsupported {
        /// The part of the file.
        what: &'static str,
        /// Its number in the file.
        number: u32,
    },
    /// A field holds a value that no writer of the format leaves there.
    Invalid {
        /// The field.
        what: &'static str,
        /// Where the block or record starts that holds it.
        offset: u64,
        /// The values allowed.
        expected: &'static str,
        /// The value found.
        found: u64,
    },
    /// The file ends inside of a record. What came before it was read.
    Cut {
        /// Where the record starts.
        offset: u64,
        /// Bytes that it needs.
        expected: u64,
        /// Bytes that are there.
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
