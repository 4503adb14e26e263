//! Writes capture files of the pcapng format (IETF draft draft-ietf-opsawg-pcapng): IP packets with
//! times in nanoseconds, the interface of each packet, and comments.

use std::io::{self, Write};

use crate::pcap::{LINKTYPE_RAW, captured_len};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const INTERFACE_NAME: u16 = 2;
const TIME_RESOLUTION: u16 = 9;
const APPLICATION: u16 = 4;

/// An interface of a capture file, such as one end of a link. Valid only for the [`Writer`] that
/// made it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Interface(u32);

/// Writes a pcapng file of one section. The file is little-endian on every machine, so equal
/// packets give equal bytes.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    interfaces: u32,
    /// The body of the current block. Reused, so that packets cost no allocation.
    body: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the section header, which names `application` as the creator of the file.
    ///
    /// # Errors
    /// Those of `out`. [`io::ErrorKind::InvalidInput`] if the name is longer than 65 535 bytes.
    pub fn new(out: W, application: &str) -> io::Result<Self> {
        let mut writer = Self { out, interfaces: 0, body: Vec::new() };
        writer.body.extend(0x1a2b_3c4d_u32.to_le_bytes());
        // Version 1.0, then an unspecified section length (-1).
        writer.body.extend([1, 0, 0, 0]);
        writer.body.extend(u64::MAX.to_le_bytes());
        writer.option(APPLICATION, application.as_bytes())?;
        writer.end_of_options();
        writer.block(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Describes an interface whose packets start with their IP headers, with times in nanoseconds.
    /// Interfaces can also be added after packets.
    ///
    /// # Errors
    /// Those of the sink. [`io::ErrorKind::InvalidInput`] if the name is longer than 65 535 bytes.
    pub fn interface(&mut self, name: &str) -> io::Result<Interface> {
        self.interface_of(name, LINKTYPE_RAW as u16)
    }

    /// Describes an interface whose packets start with the header of another link type, from tcpdump.org's registry.
    ///
    /// # Errors
    /// Those of [`interface`](Self::interface).
    pub fn interface_of(&mut self, name: &str, link: u16) -> io::Result<Interface> {
        self.body.clear();
        // Link type and reserved bits, then a snapshot length of 0: no limit.
        self.body.extend(link.to_le_bytes());
        self.body.extend([0; 6]);
        self.option(INTERFACE_NAME, name.as_bytes())?;
        self.option(TIME_RESOLUTION, &[9])?;
        self.end_of_options();
        self.block(INTERFACE_DESCRIPTION)?;
        let interface = Interface(self.interfaces);
        self.interfaces += 1;
        Ok(interface)
    }

    /// Writes a packet seen at `nanos` nanoseconds after 1970, and `packet.wire_len` bytes long.
    ///
    /// # Errors
    /// Those of the sink. [`io::ErrorKind::InvalidInput`], with nothing written:
    /// - for a comment longer than 65 535 bytes,
    /// - for more than 262 144 bytes of packet, or more than `wire_len`,
    /// - for an `interface` number that this file does not have.
    pub fn packet(&mut self, interface: Interface, nanos: u64, packet: Packet<'_>) -> io::Result<()> {
        if interface.0 >= self.interfaces {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "pcapng: an interface that this file does not have",
            ));
        }
        let captured = captured_len(packet.bytes, packet.wire_len)?;
        self.body.clear();
        for field in [interface.0, (nanos >> 32) as u32, nanos as u32, captured, packet.wire_len] {
            self.body.extend(field.to_le_bytes());
        }
        self.padded(packet.bytes);
        if let Some(comment) = packet.comment {
            self.option(COMMENT, comment.as_bytes())?;
            self.end_of_options();
        }
        self.block(ENHANCED_PACKET)
    }

    /// Flushes, and returns the sink.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn option(&mut self, code: u16, value: &[u8]) -> io::Result<()> {
        let Ok(length) = u16::try_from(value.len()) else {
            let message = format!("pcapng: a text of {} bytes: expected at most 65535", value.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
        self.body.extend(code.to_le_bytes());
        self.body.extend(length.to_le_bytes());
        self.padded(value);
        Ok(())
    }

    fn end_of_options(&mut self) {
        self.body.extend(END_OF_OPTIONS.to_le_bytes());
        self.body.extend([0; 2]);
    }

    /// Appends bytes and pads the body to a multiple of 4 bytes.
    fn padded(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    fn block(&mut self, kind: u32) -> io::Result<()> {
        // The body is bounded: a packet of at most 262 144 bytes, and a text of at most 65 535.
        let length = (self.body.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.body)?;
        self.out.write_all(&length)
    }
}

/// A packet as written to a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// The beginning of the packet, from the IP header on.
    pub bytes: &'a [u8],
    /// Length of the whole packet on the wire, in bytes.
    pub wire_len: u32,
    /// A comment for readers of the capture.
    pub comment: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_to_the_byte() {
        let mut writer = Writer::new(Vec::new(), "eifel").unwrap();
        let end = writer.interface("a end").unwrap();
        writer
            .packet(end, 0x1_0000_0002, Packet { bytes: &[0x45, 1, 2], wire_len: 40, comment: Some("lost") })
            .unwrap();
        writer.packet(end, 7, Packet { bytes: &[0x45, 0, 0, 9], wire_len: 4, comment: None }).unwrap();
        #[rustfmt::skip]
        let expected = [
            0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
            255, 255, 255, 255, 255, 255, 255, 255, 4, 0, 5, 0, b'e', b'i', b'f', b'e', b'l', 0, 0, 0,
            0, 0, 0, 0, 44, 0, 0, 0,

            1, 0, 0, 0, 44, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0, 0,
            2, 0, 5, 0, b'a', b' ', b'e', b'n', b'd', 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,

            6, 0, 0, 0, 48, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 40, 0, 0, 0,
            0x45, 1, 2, 0, 1, 0, 4, 0, b'l', b'o', b's', b't', 0, 0, 0, 0, 48, 0, 0, 0,

            6, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0,
            0x45, 0, 0, 9, 36, 0, 0, 0,
        ];
        assert_eq!(writer.finish().unwrap(), expected);
    }

    #[test]
    fn values_that_the_format_cannot_hold_are_refused_and_write_no_bytes() {
        let long = "x".repeat(65_536);
        assert_eq!(Writer::new(Vec::new(), &long).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let mut writer = Writer::new(Vec::new(), "").unwrap();
        let packet = Packet { bytes: &[0x45], wire_len: 1, comment: None };
        let refused = |result: io::Result<()>| assert_eq!(result.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        refused(writer.packet(Interface(0), 0, packet));
        refused(writer.interface(&long).map(|_| ()));
        let end = writer.interface("").unwrap();
        refused(writer.packet(end, 0, Packet { wire_len: 0, ..packet }));
        refused(writer.packet(end, 0, Packet { comment: Some(&long), ..packet }));
        refused(writer.packet(end, 0, Packet { bytes: &[0; 262_145], wire_len: 262_145, ..packet }));
        // The section header (an empty option has no value), and the interface description.
        assert_eq!(writer.finish().unwrap().len(), 36 + 36);
    }
}
