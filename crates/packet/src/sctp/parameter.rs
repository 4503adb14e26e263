//! The parameters of INIT, INIT ACK and HEARTBEAT (RFC 9260, sections 3.3.2.1, 3.3.3.1 and 3.3.5).

use core::net::{Ipv4Addr, Ipv6Addr};

use super::chunk::Unaware;
use super::tlv::{self, Tlv, Tlvs};
use crate::error::Error;

const HEARTBEAT_INFO: u16 = 1;
const IPV4: u16 = 5;
const IPV6: u16 = 6;
const COOKIE: u16 = 7;
const UNRECOGNIZED: u16 = 8;
const COOKIE_PRESERVATIVE: u16 = 9;
const HOST_NAME: u16 = 11;
const SUPPORTED_ADDRESS_TYPES: u16 = 12;
const ECN_CAPABLE: u16 = 0x8000;
const SUPPORTED_EXTENSIONS: u16 = 0x8008;
const FORWARD_TSN_SUPPORTED: u16 = 0xc000;
/// Not registered. Its two high bits are 10, so that unaware ends skip it silently.
const RETRANSMIT_BIT: u16 = 0xb1fe;

/// Chunk types listed in [`Parameter::SupportedExtensions`].
pub mod extension {
    /// FORWARD TSN (RFC 3758).
    pub const FORWARD_TSN: u8 = super::super::chunk::FORWARD_TSN;
    /// The timestamp chunk of the SCTP paper.
    pub const TIMESTAMP: u8 = super::super::chunk::TIMESTAMP;
}

/// A parameter of a chunk, borrowed from the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameter<'a> {
    /// Bytes that a HEARTBEAT wants echoed. Only its sender can interpret them.
    HeartbeatInfo(&'a [u8]),
    /// An address of the sender.
    Ipv4(Ipv4Addr),
    /// An address of the sender.
    Ipv6(Ipv6Addr),
    /// Bytes that INIT ACK wants echoed in COOKIE ECHO.
    Cookie(&'a [u8]),
    /// A parameter of INIT that the sender of INIT ACK did not know, including its header.
    Unrecognized(&'a [u8]),
    /// Milliseconds by which the sender of INIT wants the cookie to outlive its usual lifetime.
    CookiePreservative(u32),
    /// The whole parameter. RFC 9260 forbids it: it is answered with an ABORT.
    HostName(&'a [u8]),
    /// Address types that the sender supports, as two bytes each.
    SupportedAddressTypes(&'a [[u8; 2]]),
    /// Reserved for ECN.
    EcnCapable,
    /// Chunk types beyond RFC 9260 that the sender understands (RFC 5061, section 4.2.7).
    SupportedExtensions(&'a [u8]),
    /// The sender understands FORWARD TSN (RFC 3758, section 3.1).
    ForwardTsnSupported,
    /// The sender understands the retransmit bit in DATA and SACK (the SCTP paper, figure 6). The
    /// bit is used if both ends sent this parameter. Specific to this stack.
    RetransmitBit,
    /// Any other type.
    Unknown {
        /// The parameter's type.
        kind: u16,
        /// The whole parameter, without padding.
        bytes: &'a [u8],
    },
}

impl<'a> Parameter<'a> {
    fn parse(tlv: &Tlv<'a>) -> Result<Self, Error> {
        let kind = u16::from_be_bytes(tlv.kind);
        let value = tlv.value;
        let invalid = |expected| Error::Invalid {
            what: "length of SCTP parameter",
            offset: tlv.offset + 2,
            expected,
            found: tlv.bytes.len() as u32,
        };
        Ok(match kind {
            HEARTBEAT_INFO => Self::HeartbeatInfo(value),
            IPV4 => {
                let octets: [u8; 4] = value.try_into().map_err(|_| invalid("8 for an IPv4 address"))?;
                Self::Ipv4(octets.into())
            }
            IPV6 => {
                let octets: [u8; 16] = value.try_into().map_err(|_| invalid("20 for an IPv6 address"))?;
                Self::Ipv6(octets.into())
            }
            COOKIE => Self::Cookie(value),
            UNRECOGNIZED => Self::Unrecognized(value),
            COOKIE_PRESERVATIVE => {
                let bytes = value.try_into().map_err(|_| invalid("8 for a cookie preservative"))?;
                Self::CookiePreservative(u32::from_be_bytes(bytes))
            }
            HOST_NAME => Self::HostName(tlv.bytes),
            SUPPORTED_ADDRESS_TYPES => match value.as_chunks::<2>() {
                (types, []) => Self::SupportedAddressTypes(types),
                _ => return Err(invalid("an even number for supported address types")),
            },
            ECN_CAPABLE if value.is_empty() => Self::EcnCapable,
            SUPPORTED_EXTENSIONS => Self::SupportedExtensions(value),
            FORWARD_TSN_SUPPORTED if value.is_empty() => Self::ForwardTsnSupported,
            RETRANSMIT_BIT if value.is_empty() => Self::RetransmitBit,
            ECN_CAPABLE | FORWARD_TSN_SUPPORTED | RETRANSMIT_BIT => {
                return Err(invalid("4 for a parameter of no value"));
            }
            _ => Self::Unknown { kind, bytes: tlv.bytes },
        })
    }

    /// Appends the parameter to those in `out`.
    ///
    /// # Panics
    /// If the parameter is longer than 65,535 bytes, or if its `bytes` are shorter than the 4-byte
    /// header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut put = |kind, value: &[u8]| tlv::emit(kind, |out| out.extend_from_slice(value), out);
        match *self {
            Self::HeartbeatInfo(info) => put(HEARTBEAT_INFO, info),
            Self::Ipv4(address) => put(IPV4, &address.octets()),
            Self::Ipv6(address) => put(IPV6, &address.octets()),
            Self::Cookie(cookie) => put(COOKIE, cookie),
            Self::Unrecognized(parameter) => put(UNRECOGNIZED, parameter),
            Self::CookiePreservative(ms) => put(COOKIE_PRESERVATIVE, &ms.to_be_bytes()),
            Self::HostName(bytes) => put(HOST_NAME, &bytes[tlv::HEAD_LEN..]),
            Self::SupportedAddressTypes(types) => put(SUPPORTED_ADDRESS_TYPES, types.as_flattened()),
            Self::EcnCapable => put(ECN_CAPABLE, &[]),
            Self::SupportedExtensions(types) => put(SUPPORTED_EXTENSIONS, types),
            Self::ForwardTsnSupported => put(FORWARD_TSN_SUPPORTED, &[]),
            Self::RetransmitBit => put(RETRANSMIT_BIT, &[]),
            Self::Unknown { kind, bytes } => put(kind, &bytes[tlv::HEAD_LEN..]),
        }
    }

    /// Returns how an end has to treat an unknown parameter. `None` for a known parameter.
    pub const fn unaware(&self) -> Option<Unaware> {
        match self {
            Self::Unknown { kind, .. } => Some(Unaware::from_high_bits((*kind >> 8) as u8)),
            _ => None,
        }
    }
}

/// Parameters in the encoding of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parameters<'a>(pub &'a [u8]);

impl<'a> Parameters<'a> {
    /// Returns the parameters in the order of the chunk. Each is parsed when the iterator reaches
    /// it.
    ///
    /// # Errors
    /// [`Error::Truncated`] and [`Error::Invalid`] for a length below 4, beyond the end, or wrong
    /// for a known type. Offsets count from the first parameter.
    pub fn iter(&self) -> impl Iterator<Item = Result<Parameter<'a>, Error>> + use<'a> {
        Tlvs::new(self.0, 0, "SCTP parameter").map(|tlv| Parameter::parse(&tlv?))
    }
}
