//! The common layout of chunks, parameters and error causes: two bytes of type, two of length, a
//! value, and padding to four bytes.

use crate::error::Error;

/// Bytes of type and length, before the value.
pub(super) const HEAD_LEN: usize = 4;

/// A chunk, parameter or error cause.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tlv<'a> {
    /// The first two bytes: a 16-bit type, or an 8-bit type and 8 bits of flags.
    pub(super) kind: [u8; 2],
    /// The value, without padding.
    pub(super) value: &'a [u8],
    /// The whole element, without padding.
    pub(super) bytes: &'a [u8],
    /// Offset of the element in the bytes of the iterator.
    pub(super) offset: usize,
}

/// Iterates over elements. Padding after the last element is optional. The iterator ends after an
/// error.
#[derive(Clone, Debug)]
pub(super) struct Tlvs<'a> {
    bytes: &'a [u8],
    offset: usize,
    what: &'static str,
}

impl<'a> Tlvs<'a> {
    /// Starts at `offset`. `what` names the elements in errors.
    pub(super) const fn new(bytes: &'a [u8], offset: usize, what: &'static str) -> Self {
        Self { bytes, offset, what }
    }

    /// Returns the offset of the next element.
    pub(super) const fn offset(&self) -> usize {
        self.offset
    }

    fn read(&self) -> Result<Tlv<'a>, Error> {
        let (what, offset) = (self.what, self.offset);
        let left = &self.bytes[offset..];
        let truncated = |expected| Error::Truncated { what, offset, expected, found: left.len() };
        let Some(&[a, b, c, d]) = left.first_chunk() else { return Err(truncated(HEAD_LEN)) };
        let length = usize::from(u16::from_be_bytes([c, d]));
        if length < HEAD_LEN {
            let (offset, found) = (offset + 2, length as u32);
            return Err(Error::Invalid { what, offset, expected: "a length of at least 4", found });
        }
        let Some(bytes) = left.get(..length) else { return Err(truncated(length)) };
        Ok(Tlv { kind: [a, b], value: &bytes[HEAD_LEN..], bytes, offset })
    }
}

impl<'a> Iterator for Tlvs<'a> {
    type Item = Result<Tlv<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.offset == self.bytes.len() {
            return None;
        }
        let read = self.read();
        self.offset = match &read {
            Ok(tlv) => (tlv.offset + tlv.bytes.len().next_multiple_of(4)).min(self.bytes.len()),
            Err(_) => self.bytes.len(),
        };
        Some(read)
    }
}

/// Pads `out` to four bytes and appends an element. The element itself stays unpadded, because the
/// padding of the last element does not count in the enclosing length (RFC 9260, section 3.2).
/// `out` must begin with the first element.
///
/// # Panics
/// If the value is longer than 65,531 bytes.
pub(super) fn emit(kind: u16, value: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
    let start = out.len();
    out.extend(kind.to_be_bytes());
    out.extend([0; 2]);
    value(out);
    let length = u16::try_from(out.len() - start).expect("an element is at most 65,535 bytes long");
    out[start + 2..][..2].copy_from_slice(&length.to_be_bytes());
}
