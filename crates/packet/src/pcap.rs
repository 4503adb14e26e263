//! Capture files of the old pcap format, with nanoseconds, for readers without pcapng such as
//! tcptrace.

use std::io::{self, Write};

/// LINKTYPE_RAW: each packet starts with its IPv4 or IPv6 header.
pub(crate) const LINKTYPE_RAW: u32 = 101;

/// The magic number of files with nanosecond timestamps.
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
/// The largest packet that libpcap accepts, in bytes.
const SNAPLEN: u32 = 262_144;

/// Writes a pcap file of IP packets. The file is little-endian on every machine, so equal packets
/// give equal bytes.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Writes the file's header.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&MAGIC_NANOSECONDS.to_le_bytes())?;
        out.write_all(&[2, 0, 4, 0])?;
        for field in [0, 0, SNAPLEN, LINKTYPE_RAW] {
            out.write_all(&field.to_le_bytes())?;
        }
        Ok(Self { out })
    }

    /// Writes a packet seen at `nanos` nanoseconds after 1970. `wire_len` is its length on the
    /// wire. `bytes` holds its beginning, from the IP header on.
    ///
    /// # Errors
    /// Those of `out`. [`io::ErrorKind::InvalidInput`], with nothing written, for a time after
    /// 2106, more than 262 144 bytes, or more bytes than `wire_len`.
    pub fn packet(&mut self, nanos: u64, bytes: &[u8], wire_len: u32) -> io::Result<()> {
        let Ok(seconds) = u32::try_from(nanos / 1_000_000_000) else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "pcap: the time does not fit 32 bits of seconds"));
        };
        let captured = captured_len(bytes, wire_len)?;
        let fraction = (nanos % 1_000_000_000) as u32;
        for field in [seconds, fraction, captured, wire_len] {
            self.out.write_all(&field.to_le_bytes())?;
        }
        self.out.write_all(bytes)
    }

    /// Flushes, and returns the sink.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Returns the number of bytes to capture of a packet. Fails if readers would not accept it.
pub(crate) fn captured_len(bytes: &[u8], wire_len: u32) -> io::Result<u32> {
    match u32::try_from(bytes.len()) {
        Ok(captured) if captured <= wire_len && captured <= SNAPLEN => Ok(captured),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "capture: {} bytes of a packet of {wire_len}: expected no more, and at most {SNAPLEN}",
                bytes.len()
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_to_the_byte() {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.packet(3_000_000_007, &[0x45, 0x00, 0x00], 40).unwrap();
        #[rustfmt::skip]
        let expected = [
            0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0,
            3, 0, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0, 40, 0, 0, 0, 0x45, 0, 0,
        ];
        assert_eq!(writer.finish().unwrap(), expected);
    }

    #[test]
    fn values_that_the_format_cannot_hold_are_refused_and_write_no_bytes() {
        let mut writer = Writer::new(Vec::new()).unwrap();
        assert_eq!(writer.packet(u64::MAX, &[], 0).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(writer.packet(0, &[1, 2], 1).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(writer.finish().unwrap().len(), 24);
    }
}
