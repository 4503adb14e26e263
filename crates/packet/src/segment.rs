//! TCP segments as values: the header's fields and the payload's length.

use crate::ip::Ecn;
use crate::seq::Seq;

/// The control bits of a TCP header (RFC 9293, section 3.1; ECN bits by RFC 3168) and the four
/// reserved bits next to the data offset. Reserved bits have no meaning unless both ends agreed on
/// [`Marks`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// The sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer is valid.
    pub const URG: Self = Self(0x20);
    /// ECN echo.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);
    /// If [`Marks::Bits`] is negotiated: the segment is a retransmission.
    pub const SENT_AGAIN: Self = Self(0x0400);
    /// If [`Marks::Bits`] is negotiated: the segment answers a segment with
    /// [`SENT_AGAIN`](Self::SENT_AGAIN).
    pub const ANSWERS_SENT_AGAIN: Self = Self(0x0800);
    /// All twelve bits, reserved bits included.
    pub const ALL: Self = Self(0x0fff);

    /// Returns these bits and those of `other`.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether all bits of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// How two ends of this stack distinguish the acknowledgement of a retransmission from that of the
/// original. These are the Eifel algorithm's alternatives to the timestamps option. An experimental
/// option (RFC 6994), which other stacks skip, offers a variant on the SYN and confirms it on the
/// SYN-ACK. The marks are used only if both ends want the same variant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marks {
    /// One reserved header bit on each retransmission, and another on each acknowledgement of a
    /// retransmission.
    Bits,
    /// The timestamps option on retransmissions and their acknowledgements, and on no other segment.
    Timestamps,
}

/// The timestamps option (RFC 7323, section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timestamps {
    /// TSval: the sender's clock when the segment left.
    pub value: u32,
    /// TSecr: the echoed value. Meaningful on segments with ACK.
    pub echo: u32,
}

/// At most four SACK blocks (RFC 2018, section 3); a DSACK is the first of them (RFC 2883).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); 4],
    len: u8,
}

impl SackBlocks {
    pub const EMPTY: Self = Self { blocks: [(Seq(0), Seq(0)); 4], len: 0 };

    /// Adds a block from `left` up to, not including, `right`. Returns `false` if there are already
    /// four blocks.
    pub fn push(&mut self, left: Seq, right: Seq) -> bool {
        if usize::from(self.len) == self.blocks.len() {
            return false;
        }
        self.blocks[usize::from(self.len)] = (left, right);
        self.len += 1;
        true
    }

    /// Returns the blocks in the order of the option. Each pair is the left edge and the first
    /// number beyond the block.
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Returns the number of blocks, 0 to 4.
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns whether there are no blocks.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl core::fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// The options that this stack understands. The reader skips all others. The encoding is in
/// [`options`](crate::options).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Maximum segment size in bytes, on a SYN (RFC 9293, section 3.7.1). Not validated: may be
    /// absurdly small.
    pub mss: Option<u16>,
    /// Window scale shift, on a SYN (RFC 7323, section 2). Not validated: may exceed 14.
    pub window_scale: Option<u8>,
    /// SACK permitted, on a SYN (RFC 2018, section 2).
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323, section 3).
    pub timestamps: Option<Timestamps>,
    /// SACK blocks. Not validated: the connection has to judge them.
    pub sack: SackBlocks,
    /// Marks of retransmissions, offered or confirmed on a SYN.
    pub marks: Option<Marks>,
}

impl Options {
    pub const NONE: Self = Self {
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        sack: SackBlocks::EMPTY,
        marks: None,
    };
}

/// A TCP segment's header (RFC 9293, section 3.1), and the length of the payload. The urgent
/// pointer is dropped on reading and written as 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Segment {
    pub source_port: u16,
    pub destination_port: u16,
    /// Sequence number of the first byte (or of the SYN or FIN).
    pub seq: Seq,
    /// Acknowledgement number. Valid only with [`Flags::ACK`].
    pub ack: Seq,
    /// Control bits.
    pub flags: Flags,
    /// Window field of the header, unscaled.
    pub window: u16,
    pub options: Options,
    /// Bytes of payload.
    pub payload_len: u32,
    /// The ECN field of the enclosing IP header. TCP needs no other field of that header.
    pub ecn: Ecn,
}

impl Segment {
    /// No bits, no options, no payload, all numbers 0. A placeholder for a segment to be written.
    pub const EMPTY: Self = Self {
        source_port: 0,
        destination_port: 0,
        seq: Seq(0),
        ack: Seq(0),
        flags: Flags(0),
        window: 0,
        options: Options::NONE,
        payload_len: 0,
        ecn: Ecn::NotEct,
    };
}
