//! The causes that ERROR and ABORT carry (RFC 9260, section 3.3.10).

use super::tlv::{self, Tlv, Tlvs};
use crate::error::Error;
use crate::seq::Seq;

/// Why a packet, chunk or association was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause<'a> {
    /// 1: DATA for a stream that does not exist.
    InvalidStream(u16),
    /// 2: types of mandatory parameters that INIT or INIT ACK lacked, as two bytes each.
    MissingParameters(&'a [[u8; 2]]),
    /// 3: a cookie arrived too late, by this many microseconds; 0 if the peer does not tell.
    StaleCookie(u32),
    /// 4: no memory, or no room for another association.
    OutOfResource,
    /// 5: an address parameter, including its header, that cannot be used.
    UnresolvableAddress(&'a [u8]),
    /// 6: a chunk of an unknown type, including its header.
    UnrecognizedChunk(&'a [u8]),
    /// 7: INIT or INIT ACK had an invalid value.
    InvalidMandatoryParameter,
    /// 8: unknown parameters of INIT ACK, including their headers.
    UnrecognizedParameters(&'a [u8]),
    /// 9: the DATA chunk with this TSN had no user data.
    NoUserData(Seq),
    /// 10: COOKIE ECHO arrived after SHUTDOWN ACK was sent.
    CookieWhileShuttingDown,
    /// 11: a restart with addresses that the association does not have, as whole parameters.
    RestartWithNewAddresses(&'a [u8]),
    /// 12: the application aborted, with its reason.
    UserAbort(&'a [u8]),
    /// 13: a protocol violation that no other cause covers.
    ProtocolViolation(&'a [u8]),
    /// Any other cause, with its value.
    Unknown { code: u16, value: &'a [u8] },
}

impl<'a> Cause<'a> {
    fn parse(tlv: &Tlv<'a>) -> Result<Self, Error> {
        let (code, value) = (u16::from_be_bytes(tlv.kind), tlv.value);
        let invalid = |expected| Error::Invalid {
            what: "length of SCTP error cause",
            offset: tlv.offset + 2,
            expected,
            found: tlv.bytes.len() as u32,
        };
        let word = || value.try_into().map(u32::from_be_bytes).map_err(|_| invalid("8 for a cause of one word"));
        Ok(match code {
            1 => Self::InvalidStream((word()? >> 16) as u16),
            2 => Self::MissingParameters(missing(value).ok_or_else(|| invalid("8 + 2 for each missing parameter"))?),
            3 => Self::StaleCookie(word()?),
            5 => Self::UnresolvableAddress(value),
            6 => Self::UnrecognizedChunk(value),
            8 => Self::UnrecognizedParameters(value),
            9 => Self::NoUserData(Seq(word()?)),
            11 => Self::RestartWithNewAddresses(value),
            12 => Self::UserAbort(value),
            13 => Self::ProtocolViolation(value),
            4 | 7 | 10 if !value.is_empty() => return Err(invalid("4 for a cause of no value")),
            4 => Self::OutOfResource,
            7 => Self::InvalidMandatoryParameter,
            10 => Self::CookieWhileShuttingDown,
            _ => Self::Unknown { code, value },
        })
    }

    /// Appends the cause to those in `out`.
    ///
    /// # Panics
    /// If the cause is longer than 65,535 bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut put = |code, value: &[u8]| tlv::emit(code, |out| out.extend_from_slice(value), out);
        match *self {
            Self::InvalidStream(stream) => put(1, &(u32::from(stream) << 16).to_be_bytes()),
            Self::MissingParameters(types) => tlv::emit(
                2,
                |out| {
                    out.extend((types.len() as u32).to_be_bytes());
                    out.extend_from_slice(types.as_flattened());
                },
                out,
            ),
            Self::StaleCookie(us) => put(3, &us.to_be_bytes()),
            Self::OutOfResource => put(4, &[]),
            Self::UnresolvableAddress(parameter) => put(5, parameter),
            Self::UnrecognizedChunk(chunk) => put(6, chunk),
            Self::InvalidMandatoryParameter => put(7, &[]),
            Self::UnrecognizedParameters(parameters) => put(8, parameters),
            Self::NoUserData(tsn) => put(9, &tsn.0.to_be_bytes()),
            Self::CookieWhileShuttingDown => put(10, &[]),
            Self::RestartWithNewAddresses(parameters) => put(11, parameters),
            Self::UserAbort(reason) => put(12, reason),
            Self::ProtocolViolation(what) => put(13, what),
            Self::Unknown { code, value } => put(code, value),
        }
    }
}

/// Reads a count and that number of types. Returns `None` if the count does not match.
fn missing(value: &[u8]) -> Option<&[[u8; 2]]> {
    let (count, types) = value.split_first_chunk()?;
    let (types, []) = types.as_chunks::<2>() else { return None };
    (types.len() as u32 == u32::from_be_bytes(*count)).then_some(types)
}

/// Causes in the encoding of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Causes<'a>(pub &'a [u8]);

impl<'a> Causes<'a> {
    /// Returns the causes in the order of the chunk. Each is parsed when the iterator reaches it.
    ///
    /// # Errors
    /// [`Error::Truncated`] and [`Error::Invalid`] for a length below 4, beyond the end, or wrong
    /// for a known cause. Offsets count from the first cause.
    pub fn iter(&self) -> impl Iterator<Item = Result<Cause<'a>, Error>> + use<'a> {
        Tlvs::new(self.0, 0, "SCTP error cause").map(|tlv| Cause::parse(&tlv?))
    }
}
