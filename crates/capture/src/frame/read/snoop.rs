//! The snoop format of Solaris, version 2 (RFC 1761).

use super::bytes::Order;
use super::{Head, MOST_CAPTURED, Record, Step};
use crate::frame::Error;

pub(super) const HEADER_LEN: usize = 16;
const RECORD_HEADER: usize = 24;
const MOST_PADDING: u32 = 4096;

#[derive(Debug)]
pub(super) struct File {
    link: u32,
}

impl File {
    /// Reads the file header, which must be complete.
    pub(super) fn new(bytes: &[u8]) -> Result<Self, Error> {
        if bytes[4..8] != *b"p\0\0\0" {
            return Err(Error::Unknown { magic: [bytes[0], bytes[1], bytes[2], bytes[3]] });
        }
        let version = Order::Big.u32(bytes, 8);
        if version != 2 {
            return Err(Error::Unsupported { what: "snoop version", number: version });
        }
        let link = match Order::Big.u32(bytes, 12) {
            // IEEE 802.3 and Ethernet.
            0 | 4 => 1,
            8 => 10,
            26 => 105,
            number => return Err(Error::Unsupported { what: "snoop datalink type", number }),
        };
        Ok(Self { link })
    }

    pub(super) fn step(&self, bytes: &[u8], offset: u64) -> Result<Step, Error> {
        if bytes.len() < RECORD_HEADER {
            return Ok(Step::More(RECORD_HEADER));
        }
        let field = |at| Order::Big.u32(bytes, at);
        let (original, captured, record) = (field(0), field(4), field(8));
        let invalid = |what, expected, found| Error::Invalid { what, offset, expected, found: u64::from(found) };
        if captured > MOST_CAPTURED {
            return Err(invalid("captured length", "at most 262144 bytes", captured));
        }
        let least = captured + RECORD_HEADER as u32;
        if record < least || record > least + MOST_PADDING {
            return Err(invalid("record length", "header, packet and padding", record));
        }
        let record = record as usize;
        if bytes.len() < record {
            return Ok(Step::More(record));
        }
        let nanos = u64::from(field(16)) * 1_000_000_000 + u64::from(field(20)) * 1000;
        let head = Head { nanos, link: self.link, interface: 0, wire_len: original.max(captured) };
        Ok(Step::Frame(Record { length: record, start: RECORD_HEADER, captured: captured as usize, head }))
    }
}
