//! The pcap format (IETF draft-ietf-opsawg-pcap): both byte orders, microseconds or nanoseconds,
//! and the longer record headers of some old Linux distributions.

use super::bytes::Order;
use super::{Head, MOST_CAPTURED, Record, Step};
use crate::frame::Error;

pub(super) const HEADER_LEN: usize = 24;

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// The magic number of Alexey Kuznetsov's libpcap, whose record headers are eight bytes longer.
const LONGER_RECORDS: u32 = 0xa1b2_cd34;

#[derive(Debug)]
pub(super) struct File {
    order: Order,
    nanos_per_tick: u64,
    record_header: usize,
    link: u32,
}

pub(super) fn recognises(magic: [u8; 4]) -> bool {
    order_of(magic).is_some()
}

fn order_of(magic: [u8; 4]) -> Option<(Order, u32)> {
    [(Order::Little, u32::from_le_bytes(magic)), (Order::Big, u32::from_be_bytes(magic))]
        .into_iter()
        .find(|(_, number)| matches!(*number, MICROSECONDS | NANOSECONDS | LONGER_RECORDS))
}

impl File {
    /// Reads the file header, which must be complete.
    pub(super) fn new(bytes: &[u8]) -> Result<Self, Error> {
        let magic = [bytes[0], bytes[1], bytes[2], bytes[3]];
        let (order, number) = order_of(magic).ok_or(Error::Unknown { magic })?;
        let version = order.u16(bytes, 4);
        if version != 2 {
            return Err(Error::Unsupported { what: "pcap version", number: u32::from(version) });
        }
        Ok(Self {
            order,
            nanos_per_tick: if number == NANOSECONDS { 1 } else { 1000 },
            record_header: if number == LONGER_RECORDS { 24 } else { 16 },
            // The upper half describes frame check sequences. They lie outside of the IP length
            // anyway.
            link: order.u32(bytes, 20) & 0xffff,
        })
    }

    /// Returns the record at the start of `bytes`, if it is complete and its length is valid.
    #[inline(always)]
    pub(super) fn record(&self, bytes: &[u8]) -> Option<Record> {
        match self.order {
            Order::Little => self.record_in(bytes, u32::from_le_bytes),
            Order::Big => self.record_in(bytes, u32::from_be_bytes),
        }
    }

    pub(super) fn is_little(&self) -> bool {
        self.order == Order::Little
    }

    /// Does the same as [`record`](Self::record), for a [little-endian](Self::is_little) file.
    #[inline(always)]
    pub(super) fn little(&self, bytes: &[u8]) -> Option<Record> {
        self.record_in(bytes, u32::from_le_bytes)
    }

    #[inline(always)]
    fn record_in(&self, bytes: &[u8], order: impl Fn([u8; 4]) -> u32) -> Option<Record> {
        let header = bytes.first_chunk::<16>()?;
        let number = |at: usize| order([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let captured = number(8);
        let length = self.record_header + captured as usize;
        if captured > MOST_CAPTURED || bytes.len() < length {
            return None;
        }
        let nanos = u64::from(number(0)) * 1_000_000_000 + u64::from(number(4)) * self.nanos_per_tick;
        let wire_len = number(12).max(captured);
        let head = Head { nanos, link: self.link, interface: 0, wire_len };
        Some(Record { length, start: self.record_header, captured: captured as usize, head })
    }

    /// Handles everything for which [`record`](Self::record) returns `None`: missing bytes and
    /// faults.
    pub(super) fn step(&self, bytes: &[u8], offset: u64) -> Result<Step, Error> {
        if bytes.len() < self.record_header {
            return Ok(Step::More(self.record_header));
        }
        let captured = self.order.u32(bytes, 8);
        if captured > MOST_CAPTURED {
            let expected = "at most 262144 bytes";
            return Err(Error::Invalid { what: "captured length", offset, expected, found: u64::from(captured) });
        }
        match self.record(bytes) {
            Some(record) => Ok(Step::Frame(record)),
            None => Ok(Step::More(self.record_header + captured as usize)),
        }
    }
}
