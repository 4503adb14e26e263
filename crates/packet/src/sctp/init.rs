//! The contents of INIT and INIT ACK (RFC 9260, sections 3.3.2 and 3.3.3).

use super::parameter::Parameters;
use crate::error::Error;
use crate::seq::Seq;

/// An offer of an association, or its confirmation. The values are not judged. The association
/// rejects a tag or stream count of 0, since each needs its own answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Init<'a> {
    /// The verification tag of all packets to this end.
    pub initiate_tag: u32,
    /// Size of the receive buffer in bytes.
    pub a_rwnd: u32,
    /// Number of streams that this end wants to send on.
    pub outbound_streams: u16,
    /// Maximum number of streams that this end accepts.
    pub inbound_streams: u16,
    /// The TSN of this end's first DATA chunk.
    pub initial_tsn: Seq,
    /// Optional parameters: addresses, extensions, the cookie.
    pub parameters: Parameters<'a>,
}

impl<'a> Init<'a> {
    /// Bytes of the fields of fixed length.
    const FIXED_LEN: usize = 16;

    pub(super) fn parse(what: &'static str, value: &'a [u8]) -> Result<Self, Error> {
        let Some((&[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p], parameters)) = value.split_first_chunk() else {
            let (expected, found) = (4 + Self::FIXED_LEN, 4 + value.len());
            return Err(Error::Truncated { what, offset: 0, expected, found });
        };
        Ok(Self {
            initiate_tag: u32::from_be_bytes([a, b, c, d]),
            a_rwnd: u32::from_be_bytes([e, f, g, h]),
            outbound_streams: u16::from_be_bytes([i, j]),
            inbound_streams: u16::from_be_bytes([k, l]),
            initial_tsn: Seq(u32::from_be_bytes([m, n, o, p])),
            parameters: Parameters(parameters),
        })
    }

    pub(super) const fn value_len(&self) -> usize {
        Self::FIXED_LEN + self.parameters.0.len()
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        out.extend(self.initiate_tag.to_be_bytes());
        out.extend(self.a_rwnd.to_be_bytes());
        out.extend(self.outbound_streams.to_be_bytes());
        out.extend(self.inbound_streams.to_be_bytes());
        out.extend(self.initial_tsn.0.to_be_bytes());
        out.extend_from_slice(self.parameters.0);
    }
}
