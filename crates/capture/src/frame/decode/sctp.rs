//! Reads an SCTP packet that may be captured only in part (RFC 9260, section 3).
//!
//! Chunks are read as far as they were captured. The checksum is not checked, because a network
//! card may fill it in later.

use super::Skipped;
use eifel_packet::ip::Addresses;
use eifel_packet::sctp::HEADER_LEN;
use eifel_packet::seq::Seq;

/// A packet with its common header. Chunks are read on demand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// Source and destination.
    pub addresses: Addresses,
    /// Identification of IPv4; 0 if unknown, as with IPv6.
    pub identification: u16,
    /// Identifies the innermost tunnel, as for TCP.
    pub tunnel: u32,
    /// Ports of the source and the destination.
    pub ports: (u16, u16),
    /// Verification tag chosen by the destination; 0 with an INIT chunk.
    pub tag: u32,
    /// The captured checksum, normally CRC32c.
    pub checksum: u32,
    chunks: &'a [u8],
}

/// The fields of a chunk that an analysis needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chunk<'a> {
    /// DATA or I-DATA (RFC 8260).
    Data {
        tsn: Seq,
        /// Bytes of user data on the wire.
        len: u16,
    },
    /// SACK, or NR-SACK.
    Sack(Sack<'a>),
    Init {
        /// The initiate tag: the tag in packets to the sender of this chunk.
        tag: u32,
        /// Its first TSN.
        tsn: Seq,
    },
    InitAck {
        /// The initiate tag: the tag in packets to the sender of this chunk.
        tag: u32,
        /// Its first TSN.
        tsn: Seq,
    },
    /// HEARTBEAT, with a digest of its content.
    Heartbeat(u64),
    /// HEARTBEAT ACK, with a digest of its content.
    HeartbeatAck(u64),
    CookieEcho,
    CookieAck,
    /// ABORT or SHUTDOWN COMPLETE.
    Over,
    /// SHUTDOWN, with its cumulative TSN.
    Shutdown(Seq),
    /// FORWARD TSN or I-FORWARD-TSN: everything up to this TSN is abandoned.
    ForwardTsn(Seq),
    /// Anything else.
    Other,
}

/// A chunk as on the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawChunk<'a> {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// Length of its value on the wire, in bytes.
    pub(crate) len: usize,
    /// The captured part of its value.
    pub(crate) value: &'a [u8],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sack<'a> {
    /// The cumulative TSN: everything up to it has arrived.
    pub cumulative: Seq,
    /// The receiver's window in bytes.
    pub window: u32,
    gaps: &'a [u8],
    duplicates: &'a [u8],
}

impl Sack<'_> {
    /// Returns the gap blocks as offsets from the cumulative TSN: first and last chunk of each.
    pub fn gaps(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        self.gaps.as_chunks::<4>().0.iter().map(|gap| (u16_at(gap, 0), u16_at(gap, 2)))
    }

    /// Returns the duplicate TSNs since the previous report, each as often as it is reported.
    pub fn duplicates(&self) -> impl Iterator<Item = Seq> + '_ {
        self.duplicates.as_chunks::<4>().0.iter().map(|tsn| Seq(u32::from_be_bytes(*tsn)))
    }
}

impl<'a> Packet<'a> {
    pub(super) fn read(
        addresses: Addresses,
        identification: u16,
        tunnel: u32,
        bytes: &'a [u8],
    ) -> Result<Self, Skipped> {
        let (header, chunks) = bytes.split_first_chunk::<HEADER_LEN>().ok_or(Skipped::Cut)?;
        Ok(Self {
            addresses,
            identification,
            tunnel,
            ports: (u16_at(header, 0), u16_at(header, 2)),
            tag: u32_at(header, 4),
            checksum: u32_at(header, 8),
            chunks,
        })
    }

    /// Returns a digest of the captured chunks.
    pub(crate) fn digest(&self) -> u64 {
        let (words, rest) = self.chunks.as_chunks::<8>();
        let mixed = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let sum = words.iter().fold(self.chunks.len() as u64, |sum, word| mixed(sum, u64::from_le_bytes(*word)));
        rest.iter().fold(sum, |sum, byte| mixed(sum, u64::from(*byte)))
    }

    /// Iterates over the chunks whose headers were captured.
    pub fn chunks(&self) -> impl Iterator<Item = Chunk<'a>> + use<'a> {
        self.kept_chunks().map(|(length, kept)| chunk(kept[0], length, kept))
    }

    /// Iterates over the chunks in wire form.
    pub(crate) fn raw_chunks(&self) -> impl Iterator<Item = RawChunk<'a>> + use<'a> {
        self.kept_chunks().map(|(length, kept)| RawChunk {
            kind: kept[0],
            flags: kept[1],
            len: length - 4,
            value: &kept[4..],
        })
    }

    /// Iterates over each chunk's length on the wire and its captured bytes, at least four.
    fn kept_chunks(&self) -> impl Iterator<Item = (usize, &'a [u8])> + use<'a> {
        let mut rest = self.chunks;
        std::iter::from_fn(move || {
            let header = rest.first_chunk::<4>()?;
            let length = usize::from(u16_at(header, 2));
            if length < 4 {
                rest = &[];
                return None;
            }
            let kept = &rest[..length.min(rest.len())];
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
            Some((length, kept))
        })
    }
}

fn chunk(kind: u8, length: usize, kept: &[u8]) -> Chunk<'_> {
    let tsn = |at: usize| kept.get(at..at + 4).map(|bytes| Seq(u32_at(bytes, 0)));
    let read = match kind {
        0 => tsn(4).map(|tsn| Chunk::Data { tsn, len: length.saturating_sub(16) as u16 }),
        64 => tsn(4).map(|tsn| Chunk::Data { tsn, len: length.saturating_sub(20) as u16 }),
        1 | 2 => tsn(4).zip(tsn(16)).map(|(Seq(tag), tsn)| match kind {
            1 => Chunk::Init { tag, tsn },
            _ => Chunk::InitAck { tag, tsn },
        }),
        3 => sack(kept, 1).map(Chunk::Sack),
        16 => sack(kept, 2).map(Chunk::Sack),
        4 => Some(Chunk::Heartbeat(digest(&kept[4..]))),
        5 => Some(Chunk::HeartbeatAck(digest(&kept[4..]))),
        6 | 14 => Some(Chunk::Over),
        7 => tsn(4).map(Chunk::Shutdown),
        10 => Some(Chunk::CookieEcho),
        11 => Some(Chunk::CookieAck),
        192 | 194 => tsn(4).map(Chunk::ForwardTsn),
        _ => None,
    };
    read.unwrap_or(Chunk::Other)
}

/// Reads a SACK (RFC 9260, section 3.3.4). An NR-SACK has two lists of gap blocks.
fn sack(kept: &[u8], lists: usize) -> Option<Sack<'_>> {
    let fixed_len = if lists == 1 { 16 } else { 20 };
    let (fixed, rest) = kept.split_at_checked(fixed_len)?;
    let count = |place: usize| usize::from(u16_at(fixed, 12 + 2 * place)) * 4;
    let gaps: usize = (0..lists).map(count).sum();
    let (gaps, rest) = rest.split_at(gaps.min(rest.len()));
    let duplicates = &rest[..count(lists).min(rest.len())];
    Some(Sack { cumulative: Seq(u32_at(fixed, 4)), window: u32_at(fixed, 8), gaps, duplicates })
}

pub(crate) fn digest(content: &[u8]) -> u64 {
    content.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_packet::sctp::{self as whole, DataFlags, Header, SackFlags};

    #[test]
    fn chunks_are_read_as_written_up_to_the_snapshot_length() {
        let header = Header { source_port: 7, destination_port: 9, verification_tag: 0xfeed };
        let mut bytes = Vec::new();
        let mut writer = whole::Writer::new(&header, &mut bytes);
        let gaps = [[0, 2, 0, 3], [0, 5, 0, 5]];
        let duplicates = [Seq(98), Seq(98)].map(|tsn: Seq| tsn.0.to_be_bytes());
        let sack = whole::Sack {
            flags: SackFlags(0),
            cumulative: Seq(100),
            a_rwnd: 5000,
            gaps: whole::Gaps(&gaps),
            duplicates: &duplicates,
        };
        let data = whole::Data {
            flags: DataFlags(3),
            tsn: Seq(5),
            stream: 1,
            ssn: 2,
            ppid: [0; 4],
            payload: &[1, 2, 3, 4, 5],
        };
        writer.chunk(&whole::Chunk::Sack(sack)).unwrap();
        writer.chunk(&whole::Chunk::Data(data)).unwrap();
        writer.finish();
        let addresses = Addresses::V4 { source: [10, 0, 0, 1].into(), destination: [10, 0, 0, 2].into() };
        let packet = Packet::read(addresses, 0, 0, &bytes).unwrap();
        assert_eq!((packet.ports, packet.tag), ((7, 9), 0xfeed));
        let chunks: Vec<_> = packet.chunks().collect();
        let Chunk::Sack(sack) = chunks[0] else { panic!("{chunks:?}") };
        assert_eq!((sack.cumulative, sack.window), (Seq(100), 5000));
        assert_eq!(sack.gaps().collect::<Vec<_>>(), [(2, 3), (5, 5)]);
        assert_eq!(sack.duplicates().collect::<Vec<_>>(), [Seq(98), Seq(98)]);
        assert_eq!(chunks[1], Chunk::Data { tsn: Seq(5), len: 5 });
        for length in HEADER_LEN..bytes.len() {
            assert!(Packet::read(addresses, 0, 0, &bytes[..length]).unwrap().chunks().count() <= 2);
        }
    }
}
