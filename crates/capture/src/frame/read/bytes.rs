//! Numbers of either byte order. Callers check first that the bytes are there.

/// The byte order of a file's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Order {
    #[default]
    Little,
    Big,
}

impl Order {
    #[inline]
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let two = [bytes[at], bytes[at + 1]];
        match self {
            Self::Little => u16::from_le_bytes(two),
            Self::Big => u16::from_be_bytes(two),
        }
    }

    #[inline]
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let little = u32::from_le_bytes(four(bytes, at));
        if self == Self::Big { little.swap_bytes() } else { little }
    }
}

#[inline]
pub(super) fn four(bytes: &[u8], at: usize) -> [u8; 4] {
    [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
}
