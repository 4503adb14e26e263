//! SACK (RFC 9260, section 3.3.4), and NR-SACK, which separates chunks that the receiver may still
//! drop.

use crate::error::Error;
use crate::seq::Seq;

/// A gap ack block: a run of chunks received beyond a missing chunk. Both ends are inclusive, and
/// count from the cumulative TSN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gap {
    /// Offset of the first chunk from the cumulative TSN.
    pub start: u16,
    /// Offset of the last chunk from the cumulative TSN.
    pub end: u16,
}

impl Gap {
    /// Returns the four bytes of the block.
    pub const fn to_bytes(self) -> [u8; 4] {
        let ([a, b], [c, d]) = (self.start.to_be_bytes(), self.end.to_be_bytes());
        [a, b, c, d]
    }

    const fn from_bytes([a, b, c, d]: [u8; 4]) -> Self {
        Self { start: u16::from_be_bytes([a, b]), end: u16::from_be_bytes([c, d]) }
    }
}

/// Gap ack blocks in the encoding of the chunk. Not validated: the association has to judge them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Gaps<'a>(pub &'a [[u8; 4]]);

impl Gaps<'_> {
    /// Returns the blocks in the order of the chunk.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Gap> + DoubleEndedIterator + '_ {
        self.0.iter().map(|bytes| Gap::from_bytes(*bytes))
    }
}

/// The flags of a SACK chunk. RFC 9260 reserves all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SackFlags(pub u8);

impl SackFlags {
    /// If both ends sent [`Parameter::RetransmitBit`](super::Parameter::RetransmitBit): this SACK
    /// answers a chunk with [`DataFlags::SENT_AGAIN`](super::DataFlags::SENT_AGAIN) (figure 6 of
    /// the SCTP paper, rule b).
    pub const ANSWERS_SENT_AGAIN: Self = Self(0x01);

    /// Returns whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A selective acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sack<'a> {
    /// Flags beyond RFC 9260.
    pub flags: SackFlags,
    /// The cumulative TSN: the last TSN before the first missing TSN.
    pub cumulative: Seq,
    /// Free space in the receive buffer, in bytes.
    pub a_rwnd: u32,
    /// TSNs that arrived beyond the cumulative TSN.
    pub gaps: Gaps<'a>,
    /// TSNs that arrived in duplicate since the last SACK, as four bytes each.
    pub duplicates: &'a [[u8; 4]],
}

impl<'a> Sack<'a> {
    /// Bytes of a SACK without blocks and duplicates. Each block or duplicate adds four bytes.
    pub const MIN_LEN: usize = 16;

    pub(super) fn parse(flags: u8, value: &'a [u8]) -> Result<Self, Error> {
        let Some((&[a, b, c, d, e, f, g, h, i, j, k, l], lists)) = value.split_first_chunk() else {
            return Err(truncated("SCTP SACK chunk", Self::MIN_LEN, value));
        };
        let counts = [u16::from_be_bytes([i, j]), u16::from_be_bytes([k, l])];
        let [gaps, duplicates] = split("SCTP SACK chunk", value, lists, counts)?;
        Ok(Self {
            flags: SackFlags(flags),
            cumulative: Seq(u32::from_be_bytes([a, b, c, d])),
            a_rwnd: u32::from_be_bytes([e, f, g, h]),
            gaps: Gaps(gaps),
            duplicates,
        })
    }

    /// Returns the TSNs of the duplicates.
    pub fn duplicates(&self) -> impl ExactSizeIterator<Item = Seq> + '_ {
        self.duplicates.iter().map(|bytes| Seq(u32::from_be_bytes(*bytes)))
    }

    pub(super) const fn value_len(&self) -> usize {
        12 + 4 * (self.gaps.0.len() + self.duplicates.len())
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.cumulative.0.to_be_bytes());
        out.extend(self.a_rwnd.to_be_bytes());
        out.extend((self.gaps.0.len() as u16).to_be_bytes());
        out.extend((self.duplicates.len() as u16).to_be_bytes());
        out.extend_from_slice(self.gaps.0.as_flattened());
        out.extend_from_slice(self.duplicates.as_flattened());
    }
}

/// A SACK with a second list: chunks that the receiver will not drop any more
/// (draft-natarajan-tsvwg-sctp-nrsack). The reader exists for captures. This stack neither offers
/// nor sends NR-SACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NrSack<'a> {
    /// The "all gaps are non-renegable" bit (1). The other bits are reserved.
    pub flags: u8,
    /// The cumulative TSN: the last TSN before the first missing TSN.
    pub cumulative: Seq,
    /// Free space in the receive buffer, in bytes.
    pub a_rwnd: u32,
    /// TSNs that arrived beyond the cumulative TSN, and may still be dropped.
    pub gaps: Gaps<'a>,
    /// TSNs that arrived beyond the cumulative TSN, and will not be dropped.
    pub kept: Gaps<'a>,
    /// TSNs that arrived in duplicate, as four bytes each.
    pub duplicates: &'a [[u8; 4]],
}

impl<'a> NrSack<'a> {
    pub(super) fn parse(flags: u8, value: &'a [u8]) -> Result<Self, Error> {
        let Some((&[a, b, c, d, e, f, g, h, i, j, k, l, m, n, _, _], lists)) = value.split_first_chunk() else {
            return Err(truncated("SCTP NR-SACK chunk", 20, value));
        };
        let counts = [u16::from_be_bytes([i, j]), u16::from_be_bytes([k, l]), u16::from_be_bytes([m, n])];
        let [gaps, kept, duplicates] = split("SCTP NR-SACK chunk", value, lists, counts)?;
        Ok(Self {
            flags,
            cumulative: Seq(u32::from_be_bytes([a, b, c, d])),
            a_rwnd: u32::from_be_bytes([e, f, g, h]),
            gaps: Gaps(gaps),
            kept: Gaps(kept),
            duplicates,
        })
    }

    pub(super) const fn value_len(&self) -> usize {
        16 + 4 * (self.gaps.0.len() + self.kept.0.len() + self.duplicates.len())
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.cumulative.0.to_be_bytes());
        out.extend(self.a_rwnd.to_be_bytes());
        for list in [self.gaps.0, self.kept.0, self.duplicates] {
            out.extend((list.len() as u16).to_be_bytes());
        }
        out.extend([0; 2]);
        for list in [self.gaps.0, self.kept.0, self.duplicates] {
            out.extend_from_slice(list.as_flattened());
        }
    }
}

fn truncated(what: &'static str, expected: usize, value: &[u8]) -> Error {
    Error::Truncated { what, offset: 0, expected, found: 4 + value.len() }
}

/// Splits the bytes after the counts into lists of these lengths. The lists must fill the chunk
/// exactly.
fn split<'a, const N: usize>(
    what: &'static str,
    value: &[u8],
    lists: &'a [u8],
    counts: [u16; N],
) -> Result<[&'a [[u8; 4]]; N], Error> {
    let wanted = counts.iter().map(|count| 4 * usize::from(*count)).sum::<usize>();
    let expected = 4 + value.len() - lists.len() + wanted;
    if lists.len() < wanted {
        return Err(truncated(what, expected, value));
    }
    if lists.len() > wanted {
        let (offset, found) = (expected, (lists.len() - wanted) as u32);
        return Err(Error::Invalid { what, offset, expected: "nothing behind the lists", found });
    }
    let mut entries = lists.as_chunks::<4>().0;
    Ok(counts.map(|count| {
        let (list, rest) = entries.split_at(usize::from(count));
        entries = rest;
        list
    }))
}
