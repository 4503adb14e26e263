//! Errors of readers and writers, with their offsets in the bytes.

use core::fmt;

/// Why bytes could not be read, or a value could not be written. Offsets count bytes from the start
/// of the slice passed to the reader that returned the error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// The bytes end too early.
    Truncated {
        /// The field or header that is cut off.
        what: &'static str,
        offset: usize,
        /// Bytes that the field or header needs from `offset` on.
        expected: usize,
        found: usize,
    },
    /// A field holds a value that is not allowed.
    Invalid {
        what: &'static str,
        offset: usize,
        /// The allowed values.
        expected: &'static str,
        found: u32,
    },
    /// A checksum does not match the bytes that it covers.
    Checksum {
        /// The header that carries the checksum.
        what: &'static str,
        offset: usize,
        /// The checksum computed over the other bytes.
        expected: u16,
        found: u16,
    },
    /// The CRC32c of an SCTP packet does not match its bytes.
    Crc32c {
        offset: usize,
        /// The checksum computed over the other bytes.
        expected: u32,
        found: u32,
    },
    /// A fragment of an IP packet. Only whole packets are read.
    Fragment {
        /// Offset of the fragmentation field or header.
        offset: usize,
    },
    /// A value does not fit the format; nothing was written.
    TooLong { what: &'static str, limit: usize, found: usize },
}

impl Error {
    /// Returns the error with its offset counted from `base` bytes earlier.
    pub(crate) fn beyond(mut self, base: usize) -> Self {
        match &mut self {
            Self::Truncated { offset, .. }
            | Self::Invalid { offset, .. }
            | Self::Checksum { offset, .. }
            | Self::Crc32c { offset, .. }
            | Self::Fragment { offset } => *offset += base,
            Self::TooLong { .. } => {}
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Truncated { what, offset, expected, found } => {
                write!(f, "{what} at byte {offset}: cut off: expected {expected} bytes, found {found}")
            }
            Self::Invalid { what, offset, expected, found } => {
                write!(f, "{what} at byte {offset}: expected {expected}, found {found}")
            }
            Self::Checksum { what, offset, expected, found } => {
                write!(f, "{what} checksum at byte {offset}: expected {expected:#06x}, found {found:#06x}")
            }
            Self::Crc32c { offset, expected, found } => {
                write!(f, "SCTP CRC32c at byte {offset}: expected {expected:#010x}, found {found:#010x}")
            }
            Self::Fragment { offset } => {
                write!(f, "IP fragment at byte {offset}: not analysed: expected a whole packet")
            }
            Self::TooLong { what, limit, found } => {
                write!(f, "{what}: too long: expected at most {limit} bytes, found {found}")
            }
        }
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_is_one_line_that_says_what_where_and_what_was_expected() {
        let cases = [
            (
                Error::Truncated { what: "TCP header", offset: 20, expected: 20, found: 7 },
                "TCP header at byte 20: cut off: expected 20 bytes, found 7",
            ),
            (
                Error::Invalid { what: "IP version", offset: 0, expected: "4 or 6", found: 5 },
                "IP version at byte 0: expected 4 or 6, found 5",
            ),
            (
                Error::Checksum { what: "TCP", offset: 36, expected: 0x0102, found: 0xfe },
                "TCP checksum at byte 36: expected 0x0102, found 0x00fe",
            ),
            (
                Error::Crc32c { offset: 8, expected: 0xfe, found: 0x0102_0304 },
                "SCTP CRC32c at byte 8: expected 0x000000fe, found 0x01020304",
            ),
            (Error::Fragment { offset: 6 }, "IP fragment at byte 6: not analysed: expected a whole packet"),
            (
                Error::TooLong { what: "TCP options", limit: 40, found: 44 },
                "TCP options: too long: expected at most 40 bytes, found 44",
            ),
        ];
        for (error, line) in cases {
            assert_eq!(error.to_string(), line);
        }
    }

    #[test]
    fn an_offset_moves_with_the_start_of_the_slice() {
        assert_eq!(Error::Fragment { offset: 6 }.beyond(14), Error::Fragment { offset: 20 });
    }
}
