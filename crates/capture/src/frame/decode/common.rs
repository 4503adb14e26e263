//! Reads the segments that most captures consist of: TCP over IPv4 without IP options, over
//! Ethernet or raw. They have timestamps or no TCP option, and no SYN, FIN or RST.
//!
//! Fields are read from the bytes where they are needed, without building a
//! [`Segment`](eifel_packet::segment::Segment) with all its options.

use super::ip::{TCP, ipv4};
use super::tcp::{ALIGNED_TIMESTAMPS, WITH_TIMESTAMPS, WITHOUT_OPTIONS};
use eifel_packet::segment::{Flags, Timestamps};
use eifel_packet::seq::Seq;

/// A mask for the first eight bytes of an IPv4 header, and its value for a packet without options
/// that is no fragment. The mask covers the version, the header length, and all fragmentation bits
/// but "don't fragment".
const SHORT_AND_WHOLE: (u64, u64) = (0xff00_0000_0000_3fff, 0x4500_0000_0000_0000);

/// Both addresses and both ports of an IPv4 packet in wire order, the source before the
/// destination. The bytes are not swapped, so these are identifiers and not numbers.
#[derive(Clone, Copy, Eq, Debug, Default)]
pub(crate) struct Ends {
    pub(crate) addresses: u64,
    pub(crate) ports: u32,
}

/// Compares in one step, because most compared ends are equal.
impl PartialEq for Ends {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        (self.addresses ^ other.addresses) | u64::from(self.ports ^ other.ports) == 0
    }
}

impl Ends {
    /// Returns the ends of a packet in the reverse direction.
    #[inline]
    pub(crate) fn back(self) -> Self {
        Self { addresses: self.addresses.rotate_left(32), ports: self.ports.rotate_left(16) }
    }
}

/// A segment with ACK, and without SYN, FIN, RST and SACK blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common<'a, const STAMPED: bool> {
    /// The headers of IPv4 and TCP.
    header: &'a [u8; 40],
    /// The values of the timestamps option; zeros without it.
    stamps: &'a [u8; 8],
    pub(crate) payload_len: u32,
}

/// A common segment, with or without timestamps.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'a> {
    Stamped(Common<'a, true>),
    Unstamped(Common<'a, false>),
}

/// Reads the ends of any TCP segment over IPv4 without options.
#[inline(always)]
pub(crate) fn ends(link: u32, bytes: &[u8]) -> Option<Ends> {
    let header = ipv4(link, bytes)?.first_chunk::<40>()?;
    let common = Common::<false> { header, stamps: &[0; 8], payload_len: 0 };
    (header[0] == 0x45 && header[9] == TCP).then(|| common.ends())
}

/// Reads a common segment. Returns `None` for any other one, and for one cut off within its
/// options.
#[inline(always)]
pub(crate) fn read(link: u32, bytes: &[u8]) -> Option<Found<'_>> {
    let (header, options) = ipv4(link, bytes)?.split_first_chunk::<40>()?;
    let unusual = Flags::SYN.with(Flags::FIN).with(Flags::RST).0 as u8;
    let usual = header[33] & (unusual | Flags::ACK.0 as u8) == Flags::ACK.0 as u8;
    let first = u64::from_be_bytes(*header.first_chunk()?);
    if first & SHORT_AND_WHOLE.0 != SHORT_AND_WHOLE.1 || header[9] != TCP || !usual {
        return None;
    }
    let total = u32::from(u16::from_be_bytes([header[2], header[3]]));
    match header[32] >> 4 {
        WITH_TIMESTAMPS => {
            let option = options.first_chunk::<12>()?;
            let stamps = option.last_chunk().filter(|_| option.first_chunk() == Some(&ALIGNED_TIMESTAMPS))?;
            Some(Found::Stamped(Common { header, stamps, payload_len: total.checked_sub(52)? }))
        }
        WITHOUT_OPTIONS => {
            Some(Found::Unstamped(Common { header, stamps: &[0; 8], payload_len: total.checked_sub(40)? }))
        }
        _ => None,
    }
}

impl<const STAMPED: bool> Common<'_, STAMPED> {
    #[inline(always)]
    fn four(&self, at: usize) -> [u8; 4] {
        self.header[at..].first_chunk().copied().unwrap_or_default()
    }

    #[inline(always)]
    fn two(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.header[at], self.header[at + 1]])
    }

    #[inline(always)]
    fn eight(&self, at: usize) -> [u8; 8] {
        self.header[at..].first_chunk().copied().unwrap_or_default()
    }

    #[inline(always)]
    pub(crate) fn ends(&self) -> Ends {
        Ends { addresses: u64::from_le_bytes(self.eight(12)), ports: u32::from_le_bytes(self.four(20)) }
    }

    #[inline(always)]
    pub(crate) fn identification(&self) -> u16 {
        self.two(4)
    }

    #[inline(always)]
    pub(crate) fn seq(&self) -> Seq {
        Seq(u32::from_be_bytes(self.four(24)))
    }

    #[inline(always)]
    pub(crate) fn ack(&self) -> Seq {
        Seq(u32::from_be_bytes(self.four(28)))
    }

    /// Returns the window field, unscaled.
    #[inline(always)]
    pub(crate) fn window(&self) -> u16 {
        self.two(34)
    }

    #[inline(always)]
    pub(crate) fn stamps(&self) -> Option<Timestamps> {
        let number = |at: usize| {
            u32::from_be_bytes([self.stamps[at], self.stamps[at + 1], self.stamps[at + 2], self.stamps[at + 3]])
        };
        STAMPED.then(|| Timestamps { value: number(0), echo: number(4) })
    }

    /// Returns the bytes for a fingerprint: sequence and ACK number, timestamps, and flags and
    /// window.
    #[inline(always)]
    pub(crate) fn words(&self) -> ([u8; 8], [u8; 8], [u8; 4]) {
        let [high, low, window, second] = self.four(32);
        (self.eight(24), *self.stamps, [high & (Flags::ALL.0 >> 8) as u8, low, window, second])
    }
}
