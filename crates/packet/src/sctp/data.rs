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
    /// U: delivered without regard to order. The stream sequence number is ignored.
    pub const UNORDERED: Self = Self(0x04);
    /// I: the sender wants an immediate SACK.
    pub const IMMEDIATE: Self = Self(0x08);
    /// If both ends sent [`Parameter::RetransmitBit`](super::Parameter::RetransmitBit): the chunk
    /// is a retransmission (figure 6 of the SCTP paper, rule a). RFC 9260 reserves this bit: other
    /// stacks send 0 and ignore it.
    pub const SENT_AGAIN: Self = Self(0x10);
    /// A whole message in one chunk.
    pub const WHOLE: Self = Self::BEGINNING.with(Self::ENDING);

    /// Returns these flags and those of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// User data: a message, or a fragment of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data<'a> {
    /// The fragment's place in its message, order, and the request for an immediate SACK.
    pub flags: DataFlags,
    /// The transmission sequence number.
    pub tsn: Seq,
    /// The stream of the message.
    pub stream: u16,
    /// The stream sequence number of the message.
    pub ssn: u16,
    /// The payload protocol identifier of the application, in network byte order.
    pub ppid: [u8; 4],
    /// The user data. RFC 9260 forbids an empty payload. The reader accepts it, because the ABORT
    /// has to name the TSN.
    pub payload: &'a [u8],
}

impl<'a> Data<'a> {
    /// Bytes before the user data: chunk header and fixed DATA fields.
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
