//! The chunks of a packet (RFC 9260, sections 3.2 and 3.3).

use super::cause::Causes;
use super::data::Data;
use super::init::Init;
use super::parameter::Parameters;
use super::sack::{NrSack, Sack};
use super::tlv::{HEAD_LEN, Tlv, Tlvs};
use crate::error::Error;
use crate::segment::Timestamps;
use crate::seq::Seq;

const DATA: u8 = 0;
const INIT: u8 = 1;
const INIT_ACK: u8 = 2;
const SACK: u8 = 3;
const HEARTBEAT: u8 = 4;
const HEARTBEAT_ACK: u8 = 5;
const ABORT: u8 = 6;
const SHUTDOWN: u8 = 7;
const SHUTDOWN_ACK: u8 = 8;
const ERROR: u8 = 9;
const COOKIE_ECHO: u8 = 10;
const COOKIE_ACK: u8 = 11;
const ECNE: u8 = 12;
const CWR: u8 = 13;
const SHUTDOWN_COMPLETE: u8 = 14;
const NR_SACK: u8 = 16;
/// Not registered: the highest unassigned type with high bits 10, so that unaware ends skip the
/// chunk silently.
pub(super) const TIMESTAMP: u8 = 0xbe;
pub(super) const FORWARD_TSN: u8 = 0xc0;

/// T, in ABORT and SHUTDOWN COMPLETE: the verification tag is copied from the packet being
/// answered.
const REFLECTED: u8 = 1;

/// How an end treats an unknown chunk or parameter, by the two high bits of its type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unaware {
    /// 00: stops processing.
    Stop,
    /// 01: stops processing, and reports the type.
    StopAndReport,
    /// 10: skips the chunk or parameter.
    Skip,
    /// 11: skips the chunk or parameter, and reports it.
    SkipAndReport,
}

impl Unaware {
    /// Reads the two high bits of a type's high byte.
    pub const fn from_high_bits(byte: u8) -> Self {
        match byte >> 6 {
            0 => Self::Stop,
            1 => Self::StopAndReport,
            2 => Self::Skip,
            _ => Self::SkipAndReport,
        }
    }

    /// Returns whether the rest of the packet or chunk is processed.
    pub const fn goes_on(self) -> bool {
        matches!(self, Self::Skip | Self::SkipAndReport)
    }

    /// Returns whether the sender gets a report.
    pub const fn reports(self) -> bool {
        matches!(self, Self::StopAndReport | Self::SkipAndReport)
    }
}

/// A chunk of a type that this stack does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unknown<'a> {
    /// The chunk's type.
    pub kind: u8,
    /// The whole chunk, without padding.
    pub bytes: &'a [u8],
}

impl Unknown<'_> {
    /// Returns how an end that does not know the chunk's type has to treat it.
    pub const fn unaware(&self) -> Unaware {
        Unaware::from_high_bits(self.kind)
    }
}

/// A stream, and its last message that will not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Skipped {
    pub stream: u16,
    /// The message's stream sequence number.
    pub ssn: u16,
}

impl Skipped {
    /// Returns the four bytes of the entry.
    pub const fn to_bytes(self) -> [u8; 4] {
        let ([a, b], [c, d]) = (self.stream.to_be_bytes(), self.ssn.to_be_bytes());
        [a, b, c, d]
    }
}

/// FORWARD TSN (RFC 3758, section 3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForwardTsn<'a> {
    /// The new cumulative TSN: the sender has abandoned all chunks up to it.
    pub cumulative: Seq,
    /// Streams with abandoned messages, as four bytes each.
    pub streams: &'a [[u8; 4]],
}

impl ForwardTsn<'_> {
    /// Returns each stream with its last abandoned message.
    pub fn skipped(&self) -> impl ExactSizeIterator<Item = Skipped> + '_ {
        self.streams
            .iter()
            .map(|&[a, b, c, d]| Skipped { stream: u16::from_be_bytes([a, b]), ssn: u16::from_be_bytes([c, d]) })
    }
}

/// A chunk. Lists in it are borrowed from the packet, and parsed when iterated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chunk<'a> {
    /// User data.
    Data(Data<'a>),
    /// Offers an association.
    Init(Init<'a>),
    /// Confirms an association, and hands out the cookie.
    InitAck(Init<'a>),
    /// Acknowledges data.
    Sack(Sack<'a>),
    /// Acknowledges data, and marks the part that the receiver will not drop.
    NrSack(NrSack<'a>),
    /// Asks whether an address is reachable.
    Heartbeat(Parameters<'a>),
    /// Answers a HEARTBEAT, and echoes its parameters.
    HeartbeatAck(Parameters<'a>),
    /// Ends the association at once.
    Abort {
        /// T: the verification tag is copied from the packet being answered.
        reflected: bool,
        /// The error causes.
        causes: Causes<'a>,
    },
    /// Asks for an orderly end of the association.
    Shutdown {
        /// The cumulative TSN: all chunks up to it have arrived.
        cumulative: Seq,
    },
    /// Answers SHUTDOWN.
    ShutdownAck,
    /// Reports errors in a packet.
    Error(Causes<'a>),
    /// Returns the cookie of INIT ACK.
    CookieEcho(&'a [u8]),
    /// Confirms the cookie.
    CookieAck,
    /// Reserved for ECN: reports a congestion mark to the sender.
    Ecne {
        /// The lowest TSN with a congestion mark.
        lowest: Seq,
    },
    /// Reserved for ECN: the sender reduced its window.
    Cwr {
        /// The TSN of the ECNE being answered.
        lowest: Seq,
    },
    /// Answers SHUTDOWN ACK. The last chunk of an association.
    ShutdownComplete {
        /// T: the verification tag is copied from the packet being answered.
        reflected: bool,
    },
    /// Abandons data.
    ForwardTsn(ForwardTsn<'a>),
    /// The timestamp chunk of the SCTP paper (section 4): twelve bytes, echoed by the rules of RFC
    /// 7323. It precedes the DATA or SACK chunks of its packet. Specific to this stack.
    Timestamp(Timestamps),
    /// Any other type.
    Unknown(Unknown<'a>),
}

impl<'a> Chunk<'a> {
    /// Length of a timestamp chunk in bytes.
    pub const TIMESTAMP_LEN: usize = 12;

    fn parse(tlv: &Tlv<'a>) -> Result<Self, Error> {
        let ([kind, flags], value) = (tlv.kind, tlv.value);
        let reflected = flags & REFLECTED != 0;
        let length = |expected| Error::Invalid {
            what: "length of SCTP chunk",
            offset: 2,
            expected,
            found: tlv.bytes.len() as u32,
        };
        let word = || value.try_into().map(u32::from_be_bytes).map_err(|_| length("8 for a chunk of one TSN"));
        Ok(match kind {
            DATA => Self::Data(Data::parse(flags, value)?),
            INIT => Self::Init(Init::parse("SCTP INIT chunk", value)?),
            INIT_ACK => Self::InitAck(Init::parse("SCTP INIT ACK chunk", value)?),
            SACK => Self::Sack(Sack::parse(flags, value)?),
            NR_SACK => Self::NrSack(NrSack::parse(flags, value)?),
            HEARTBEAT => Self::Heartbeat(Parameters(value)),
            HEARTBEAT_ACK => Self::HeartbeatAck(Parameters(value)),
            ABORT => Self::Abort { reflected, causes: Causes(value) },
            SHUTDOWN => Self::Shutdown { cumulative: Seq(word()?) },
            ERROR => Self::Error(Causes(value)),
            COOKIE_ECHO => Self::CookieEcho(value),
            ECNE => Self::Ecne { lowest: Seq(word()?) },
            CWR => Self::Cwr { lowest: Seq(word()?) },
            SHUTDOWN_ACK | COOKIE_ACK | SHUTDOWN_COMPLETE if !value.is_empty() => {
                return Err(length("4 for a chunk of no value"));
            }
            SHUTDOWN_ACK => Self::ShutdownAck,
            COOKIE_ACK => Self::CookieAck,
            SHUTDOWN_COMPLETE => Self::ShutdownComplete { reflected },
            FORWARD_TSN => match value.as_chunks::<4>() {
                ([cumulative, streams @ ..], []) => {
                    Self::ForwardTsn(ForwardTsn { cumulative: Seq(u32::from_be_bytes(*cumulative)), streams })
                }
                _ => return Err(length("8 + 4 for each stream of FORWARD TSN")),
            },
            TIMESTAMP => match *value {
                [a, b, c, d, e, f, g, h] => Self::Timestamp(Timestamps {
                    value: u32::from_be_bytes([a, b, c, d]),
                    echo: u32::from_be_bytes([e, f, g, h]),
                }),
                _ => return Err(length("12 for a timestamp")),
            },
            _ => Self::Unknown(Unknown { kind, bytes: tlv.bytes }),
        })
    }

    /// Returns the chunk's length in bytes, without padding.
    pub const fn length(&self) -> usize {
        HEAD_LEN
            + match self {
                Self::Data(data) => Data::HEADER_LEN - HEAD_LEN + data.payload.len(),
                Self::Init(init) | Self::InitAck(init) => init.value_len(),
                Self::Sack(sack) => sack.value_len(),
                Self::NrSack(sack) => sack.value_len(),
                Self::Heartbeat(parameters) | Self::HeartbeatAck(parameters) => parameters.0.len(),
                Self::Abort { causes, .. } | Self::Error(causes) => causes.0.len(),
                Self::Shutdown { .. } | Self::Ecne { .. } | Self::Cwr { .. } => 4,
                Self::CookieEcho(cookie) => cookie.len(),
                Self::ShutdownAck | Self::CookieAck | Self::ShutdownComplete { .. } => 0,
                Self::ForwardTsn(forward) => 4 + 4 * forward.streams.len(),
                Self::Timestamp(_) => Self::TIMESTAMP_LEN - HEAD_LEN,
                Self::Unknown(unknown) => unknown.bytes.len().saturating_sub(HEAD_LEN),
            }
    }

    const fn head(&self) -> [u8; 2] {
        match self {
            Self::Data(data) => [DATA, data.flags.0],
            Self::Init(_) => [INIT, 0],
            Self::InitAck(_) => [INIT_ACK, 0],
            Self::Sack(sack) => [SACK, sack.flags.0],
            Self::NrSack(sack) => [NR_SACK, sack.flags],
            Self::Heartbeat(_) => [HEARTBEAT, 0],
            Self::HeartbeatAck(_) => [HEARTBEAT_ACK, 0],
            Self::Abort { reflected, .. } => [ABORT, *reflected as u8],
            Self::Shutdown { .. } => [SHUTDOWN, 0],
            Self::ShutdownAck => [SHUTDOWN_ACK, 0],
            Self::Error(_) => [ERROR, 0],
            Self::CookieEcho(_) => [COOKIE_ECHO, 0],
            Self::CookieAck => [COOKIE_ACK, 0],
            Self::Ecne { .. } => [ECNE, 0],
            Self::Cwr { .. } => [CWR, 0],
            Self::ShutdownComplete { reflected } => [SHUTDOWN_COMPLETE, *reflected as u8],
            Self::ForwardTsn(_) => [FORWARD_TSN, 0],
            Self::Timestamp(_) => [TIMESTAMP, 0],
            Self::Unknown(unknown) => [unknown.kind, if unknown.bytes.len() > 1 { unknown.bytes[1] } else { 0 }],
        }
    }

    /// Appends the chunk with its padding. `self.length()` must fit 16 bits.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend(self.head());
        out.extend((self.length() as u16).to_be_bytes());
        match self {
            Self::Data(data) => data.emit(out),
            Self::Init(init) | Self::InitAck(init) => init.emit(out),
            Self::Sack(sack) => sack.emit(out),
            Self::NrSack(sack) => sack.emit(out),
            Self::Heartbeat(Parameters(bytes))
            | Self::HeartbeatAck(Parameters(bytes))
            | Self::Abort { causes: Causes(bytes), .. }
            | Self::Error(Causes(bytes))
            | Self::CookieEcho(bytes) => out.extend_from_slice(bytes),
            Self::Shutdown { cumulative: tsn } | Self::Ecne { lowest: tsn } | Self::Cwr { lowest: tsn } => {
                out.extend(tsn.0.to_be_bytes());
            }
            Self::ShutdownAck | Self::CookieAck | Self::ShutdownComplete { .. } => {}
            Self::ForwardTsn(forward) => {
                out.extend(forward.cumulative.0.to_be_bytes());
                out.extend_from_slice(forward.streams.as_flattened());
            }
            Self::Timestamp(Timestamps { value, echo }) => {
                out.extend(value.to_be_bytes());
                out.extend(echo.to_be_bytes());
            }
            Self::Unknown(unknown) => out.extend_from_slice(unknown.bytes.get(HEAD_LEN..).unwrap_or_default()),
        }
        let len = out.len() - start;
        out.resize(start + len.next_multiple_of(4), 0);
    }
}

/// The chunks of a packet in order, each parsed when the iterator reaches it. A malformed chunk
/// yields an error, and the iterator continues with the next. If the chunk's length is below 4 or
/// exceeds the packet, the iterator ends.
#[derive(Clone, Debug)]
pub struct Chunks<'a>(Tlvs<'a>);

impl<'a> Chunks<'a> {
    /// Iterates over the chunks from `offset` on.
    pub const fn new(packet: &'a [u8], offset: usize) -> Self {
        Self(Tlvs::new(packet, offset, "SCTP chunk"))
    }

    /// Returns the offset of the next chunk.
    pub const fn offset(&self) -> usize {
        self.0.offset()
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let tlv = match self.0.next()? {
            Ok(tlv) => tlv,
            Err(error) => return Some(Err(error)),
        };
        Some(Chunk::parse(&tlv).map_err(|error| error.beyond(tlv.offset)))
    }
}
