//! The pcapng format (IETF draft-ietf-opsawg-pcapng).
//!
//! All three kinds of packet block are read, with the time resolution and time offset of their
//! interface. Names, statistics and secrets are skipped. Journals and custom blocks become frames
//! without a packet.

use super::bytes::{Order, four};
use super::{Head, MOST_CAPTURED, NO_PACKET, Record, Step};
use crate::frame::Error;

/// The type of a section header block. It is the same in both byte orders.
pub(super) const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// Blocks without a packet that Wireshark numbers as frames: custom blocks, and entries of a journal.
const NUMBERED: [u32; 3] = [0xbad, 0x4000_0bad, 9];

/// Bytes of a block around its body: type and length before it, the length again behind it.
const AROUND: u32 = 12;
/// The most bytes that a packet's options may add to its block.
const MOST_OPTIONS: u32 = 1 << 20;
const MOST_INTERFACES: usize = 65_536;

const END_OF_OPTIONS: u16 = 0;
const TIME_RESOLUTION: u16 = 9;
const TIME_OFFSET: u16 = 14;

#[derive(Debug, Default)]
pub(super) struct File {
    order: Order,
    interfaces: Vec<Interface>,
    /// Time of the previous packet, in nanoseconds. A simple packet block has no time, and takes
    /// this one.
    nanos: u64,
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u32,
    snaplen: u32,
    clock: Clock,
}

/// How an interface's ticks convert to time.
#[derive(Clone, Copy, Debug)]
struct Clock {
    resolution: Resolution,
    offset_s: i64,
    /// Nanoseconds per tick; 0 if that is not a whole number or if an offset is added.
    scale: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Resolution {
    /// 10 to the power of minus this.
    Decimal(u32),
    /// 2 to the power of minus this.
    Binary(u32),
}

impl Resolution {
    /// Reads the option's only byte. Its highest bit selects the base.
    fn read(byte: u8) -> Self {
        let exponent = u32::from(byte & 0x7f);
        if byte & 0x80 == 0 { Self::Decimal(exponent) } else { Self::Binary(exponent) }
    }
}

impl Clock {
    fn new(resolution: Resolution, offset_s: i64) -> Self {
        let scale = match resolution {
            Resolution::Decimal(digits @ 0..=9) if offset_s == 0 => 10_u64.pow(9 - digits),
            _ => 0,
        };
        Self { resolution, offset_s, scale }
    }

    /// Converts ticks to nanoseconds since 1970, clamped to 64 bits.
    #[inline]
    fn nanos(&self, ticks: u64) -> u64 {
        match ticks.checked_mul(self.scale) {
            Some(nanos) if self.scale > 0 => nanos,
            _ => self.any_nanos(ticks),
        }
    }

    #[cold]
    #[inline(never)]
    fn any_nanos(&self, ticks: u64) -> u64 {
        let ticks = u128::from(ticks);
        let nanos = match self.resolution {
            Resolution::Decimal(digits @ 0..=9) => ticks * 10_u128.pow(9 - digits),
            Resolution::Decimal(digits) => 10_u128.checked_pow(digits - 9).map_or(0, |divisor| ticks / divisor),
            Resolution::Binary(bits) => (ticks * 1_000_000_000) >> bits,
        };
        let offset = i128::from(self.offset_s) * 1_000_000_000;
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX).saturating_add(offset);
        u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
    }
}

impl File {
    /// Returns the enhanced packet block at the start of `bytes`, if it is complete and valid.
    #[inline(always)]
    pub(super) fn record(&mut self, bytes: &[u8]) -> Option<Record> {
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
    pub(super) fn little(&mut self, bytes: &[u8]) -> Option<Record> {
        self.record_in(bytes, u32::from_le_bytes)
    }

    #[inline(always)]
    fn record_in(&mut self, bytes: &[u8], order: impl Fn([u8; 4]) -> u32) -> Option<Record> {
        let header = bytes.first_chunk::<28>()?;
        let number = |at: usize| order([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (length, captured) = (number(4) as usize, number(20));
        let fits = captured as usize + 32 <= length && captured <= MOST_CAPTURED && length.is_multiple_of(4);
        let usual = number(0) == ENHANCED_PACKET && length <= (MOST_CAPTURED + MOST_OPTIONS) as usize;
        if !(usual && fits) || order(*bytes.get(length - 4..length)?.first_chunk()?) as usize != length {
            return None;
        }
        let index = number(8);
        let interface = self.interfaces.get(index as usize)?;
        let ticks = u64::from(number(12)) << 32 | u64::from(number(16));
        let wire_len = number(24).max(captured);
        self.nanos = interface.clock.nanos(ticks);
        let head = Head { nanos: self.nanos, link: interface.link, interface: index, wire_len };
        Some(Record { length, start: 28, captured: captured as usize, head })
    }

    /// Handles everything for which [`record`](Self::record) returns `None`: other blocks, missing
    /// bytes and faults.
    pub(super) fn step(&mut self, bytes: &[u8], offset: u64) -> Result<Step, Error> {
        if bytes.len() < AROUND as usize {
            return Ok(Step::More(AROUND as usize));
        }
        if four(bytes, 0) == SECTION_HEADER {
            return self.section(bytes, offset);
        }
        let (kind, length) = (self.order.u32(bytes, 0), self.order.u32(bytes, 4));
        check_length(length, offset)?;
        let (least, most) = match kind {
            INTERFACE_DESCRIPTION => (20, MOST_OPTIONS),
            ENHANCED_PACKET | OBSOLETE_PACKET => (32, MOST_CAPTURED + MOST_OPTIONS),
            SIMPLE_PACKET => (16, MOST_CAPTURED + MOST_OPTIONS),
            _ if NUMBERED.contains(&kind) && length <= MOST_CAPTURED + MOST_OPTIONS => (AROUND, length),
            _ => return Ok(Step::Skip(u64::from(length))),
        };
        if length < least || length > most {
            let expected = "a length allowed for this kind of block";
            return Err(Error::Invalid { what: "block length", offset, expected, found: u64::from(length) });
        }
        let whole = length as usize;
        if bytes.len() < whole {
            return Ok(Step::More(whole));
        }
        self.check_trailer(bytes, length, offset)?;
        match kind {
            INTERFACE_DESCRIPTION => self.interface(&bytes[..whole], offset),
            SIMPLE_PACKET => self.simple(&bytes[..whole], offset),
            _ if NUMBERED.contains(&kind) => {
                let head = Head { nanos: self.nanos, link: NO_PACKET, interface: 0, wire_len: 0 };
                Ok(Step::Frame(Record { length: whole, start: 0, captured: 0, head }))
            }
            _ => self.packet(&bytes[..whole], kind, offset),
        }
    }

    /// Reads a section header. A section has its own byte order and its own interfaces.
    fn section(&mut self, bytes: &[u8], offset: u64) -> Result<Step, Error> {
        self.order = match four(bytes, 8) {
            magic if u32::from_le_bytes(magic) == BYTE_ORDER => Order::Little,
            magic if u32::from_be_bytes(magic) == BYTE_ORDER => Order::Big,
            magic => {
                let found = u64::from(u32::from_le_bytes(magic));
                return Err(Error::Invalid { what: "byte order", offset, expected: "1a2b3c4d", found });
            }
        };
        let length = self.order.u32(bytes, 4);
        check_length(length, offset)?;
        if length < 28 {
            let expected = "at least 28 bytes for a section header";
            return Err(Error::Invalid { what: "block length", offset, expected, found: u64::from(length) });
        }
        if bytes.len() < 16 {
            return Ok(Step::More(16));
        }
        let major = self.order.u16(bytes, 12);
        if major != 1 {
            return Err(Error::Unsupported { what: "pcapng version", number: u32::from(major) });
        }
        self.interfaces.clear();
        Ok(Step::Skip(u64::from(length)))
    }

    fn check_trailer(&self, bytes: &[u8], length: u32, offset: u64) -> Result<(), Error> {
        let trailer = self.order.u32(bytes, length as usize - 4);
        if trailer != length {
            let expected = "the same length as at its start";
            return Err(Error::Invalid { what: "length at the end", offset, expected, found: u64::from(trailer) });
        }
        Ok(())
    }

    fn interface(&mut self, block: &[u8], offset: u64) -> Result<Step, Error> {
        if self.interfaces.len() == MOST_INTERFACES {
            let found = MOST_INTERFACES as u64 + 1;
            return Err(Error::Invalid { what: "number of interfaces", offset, expected: "at most 65536", found });
        }
        let (mut resolution, mut offset_s) = (Resolution::Decimal(6), 0);
        let mut options = &block[16..block.len() - 4];
        while options.len() >= 4 {
            let (code, length) = (self.order.u16(options, 0), usize::from(self.order.u16(options, 2)));
            let Some(value) = options.get(4..4 + length) else { break };
            match (code, value) {
                (END_OF_OPTIONS, _) => break,
                (TIME_RESOLUTION, [exponent, ..]) => resolution = Resolution::read(*exponent),
                (TIME_OFFSET, value) if length == 8 => {
                    let (first, second) = (self.order.u32(value, 0), self.order.u32(value, 4));
                    let (high, low) = if self.order == Order::Big { (first, second) } else { (second, first) };
                    offset_s = (u64::from(high) << 32 | u64::from(low)) as i64;
                }
                _ => {}
            }
            options = options.get((4 + length).next_multiple_of(4)..).unwrap_or_default();
        }
        let (link, snaplen) = (u32::from(self.order.u16(block, 8)), self.order.u32(block, 12));
        self.interfaces.push(Interface { link, snaplen, clock: Clock::new(resolution, offset_s) });
        Ok(Step::Skip(block.len() as u64))
    }

    fn packet(&mut self, block: &[u8], kind: u32, offset: u64) -> Result<Step, Error> {
        let index = match kind {
            OBSOLETE_PACKET => u32::from(self.order.u16(block, 8)),
            _ => self.order.u32(block, 8),
        };
        let interface = self.described(index, offset)?;
        let ticks = u64::from(self.order.u32(block, 12)) << 32 | u64::from(self.order.u32(block, 16));
        self.nanos = interface.clock.nanos(ticks);
        let captured = self.order.u32(block, 20);
        self.frame(block, Body { start: 28, captured, wire_len: self.order.u32(block, 24), index }, offset)
    }

    fn simple(&self, block: &[u8], offset: u64) -> Result<Step, Error> {
        let interface = self.described(0, offset)?;
        let wire_len = self.order.u32(block, 8);
        let room = block.len() as u32 - 16;
        let snaplen = if interface.snaplen == 0 { u32::MAX } else { interface.snaplen };
        self.frame(block, Body { start: 12, captured: wire_len.min(snaplen).min(room), wire_len, index: 0 }, offset)
    }

    fn frame(&self, block: &[u8], body: Body, offset: u64) -> Result<Step, Error> {
        let Body { start, captured, wire_len, index } = body;
        let room = block.len() - start - 4;
        if captured as usize > room || captured > MOST_CAPTURED {
            let expected = "at most the bytes of its block, and 262144";
            return Err(Error::Invalid { what: "captured length", offset, expected, found: u64::from(captured) });
        }
        let link = self.described(index, offset)?.link;
        let head = Head { nanos: self.nanos, link, interface: index, wire_len: wire_len.max(captured) };
        Ok(Step::Frame(Record { length: block.len(), start, captured: captured as usize, head }))
    }

    fn described(&self, index: u32, offset: u64) -> Result<&Interface, Error> {
        let expected = "an interface that the section has described";
        let found = u64::from(index);
        self.interfaces.get(index as usize).ok_or(Error::Invalid { what: "interface", offset, expected, found })
    }
}

/// The position of a packet's bytes in its block.
struct Body {
    start: usize,
    captured: u32,
    wire_len: u32,
    index: u32,
}

fn check_length(length: u32, offset: u64) -> Result<(), Error> {
    if length < AROUND || !length.is_multiple_of(4) {
        let expected = "a multiple of 4, and at least 12";
        return Err(Error::Invalid { what: "block length", offset, expected, found: u64::from(length) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_resolutions_and_offsets_saturate() {
        let nanos = |resolution, offset_s, ticks| Clock::new(Resolution::read(resolution), offset_s).nanos(ticks);
        assert_eq!(nanos(9, 0, 5), 5);
        assert_eq!(nanos(127, 0, u64::MAX), 0);
        assert_eq!(nanos(0x80 | 127, 0, u64::MAX), 0);
        assert_eq!(nanos(0, 0, u64::MAX), u64::MAX);
        assert_eq!(nanos(9, -1, 5), 0);
        assert_eq!(nanos(9, i64::MIN, u64::MAX), 0);
        assert_eq!(nanos(0x80, 1, 3), 4_000_000_000);
    }
}
