//! The DATA chunk (RFC 9260, section 3.3.1).

use crate::error::Error;
use crate::seq::Seq;

/// The flags of a DATA chunk.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct DataFlags(pub u8);

impl DataFlags {
    /// E: the last fragment of a message.
    pub const ENDING: Self = Self(0x01);
    /// B: the first fragment of a message.
    pub const BEGINNING: Self = Self(0x02);
    /// U: delivered without regard to order; the stream sequence number does not count.
    pub const UNORDERED: Self = Self(0x04);
    /// I: the sender wants the SACK at once.
    pub const IMMEDIATE: Self = Self(0x08);
    /// By agreement on [`Parameter::RetransmitBit`](super::Parameter::RetransmitBit): the chunk was sent before (figure
    /// 6 of the SCTP paper, rule a). RFC 9260 reserves this bit: others send 0 and ignore it.
    pub const SENT_AGAIN: Self = Self(0x10);
    /// A message in one chunk.
    pub const WHOLE: Self = Self::BEGINNING.with(Self::ENDING);

    /// These flags and `other`'s.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// User data: a message, or a fragment of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data<'a> {
    /// Its place in its message, and whether a SACK is wanted at once.
    pub flags: DataFlags,
    /// Its transmission sequence number.
    pub tsn: Seq,
    /// The stream that its message belongs to.
    pub stream: u16,
    /// The message's place in its stream.
    pub ssn: u16,
    /// The payload protocol identifier: the application's, in the byte order of the wire.
    pub ppid: [u8; 4],
    /// The user's bytes. RFC 9260 forbids that there are none; they are read all the same, because an ABORT names the TSN.
    pub payload: &'a [u8],
}

impl<'a> Data<'a> {
    /// Bytes before the user's: the chunk's head, and the fields of DATA.
    pub const HEADER_LEN: usize = 16;

    pub(super) fn parse(flags: u8, value: &'a [u8]) -> Result<Self, Error> {
        let Some((&[a, b, c, d, e, f, g, h, i, j, k, l], payload)) = value.split_first_chunk() else {
            let (what, expected, found) = ("SCTP DATA chunk", Self::HEADER_LEN, 4 + value.len());
            return Err(Error::Truncated { what, offset: 0, expected, found });
        };
        Ok(Self {
            flags: DataFlags(flags),
            tsn: Seq(u32::from_be_bytes([a, b, c, d])),
            stream: u16::from_be_bytes([e, f]),
            ssn: u16::from_be_bytes([g, h]),
            ppid: [i, j, k, l],
            payload,
        })
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.tsn.0.to_be_bytes());
        out.extend(self.stream.to_be_bytes());
        out.extend(self.ssn.to_be_bytes());
        out.extend(self.ppid);
        out.extend_from_slice(self.payload);
    }
}
