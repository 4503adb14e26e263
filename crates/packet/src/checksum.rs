//! The Internet checksum (RFC 1071): the ones' complement of the ones' complement sum of 16-bit words.

/// A partial sum. Pieces can be added in any order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds a 16-bit word.
    #[must_use]
    pub const fn word(self, word: u16) -> Self {
        Self(self.0 + word as u64)
    }

    /// Adds a 32-bit number as two words.
    #[must_use]
    pub const fn double_word(self, double_word: u32) -> Self {
        Self(self.0 + double_word as u64)
    }

    /// Adds bytes, most significant byte of each word first. An odd last byte is padded with zero, so only the last
    /// piece of a packet may have an odd length.
    #[must_use]
    pub fn bytes(self, bytes: &[u8]) -> Self {
        // RFC 1071, section 2(C): adding wider words and folding afterwards gives the same sum. A
        // u128 has room for all carries of any slice. Section 2(B): the sum of byte-swapped words
        // is the byte-swapped sum, so the words are added in native order. Two independent sums let
        // the additions run in parallel.
        let (pairs, rest) = bytes.as_chunks::<16>();
        let mut sums = [0; 2];
        for pair in pairs {
            let (words, _) = pair.as_chunks::<8>();
            sums[0] += u128::from(u64::from_ne_bytes(words[0]));
            sums[1] += u128::from(u64::from_ne_bytes(words[1]));
        }
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        let sum = sums[0] + sums[1];
        let doubles = |wide: u128| (0..4).map(move |place| u64::from((wide >> (32 * place)) as u32)).sum::<u64>();
        let folded = fold(doubles(sum) + doubles(u128::from_ne_bytes(last)));
        self.word(u16::from_be_bytes(folded.to_ne_bytes()))
    }

    /// Adds bytes that lie in two pieces, with the same result as [`bytes`](Self::bytes) on both
    /// joined. The first piece may have an odd length.
    #[must_use]
    pub fn pieces(self, [front, back]: [&[u8]; 2]) -> Self {
        let sum = self.bytes(front);
        if front.len().is_multiple_of(2) {
            return sum.bytes(back);
        }
        // The first piece ended in the middle of a word, so the second piece's bytes swap halves.
        sum.word(fold(Self::default().bytes(back).0).swap_bytes())
    }

    /// Returns the checksum. It is 0 over bytes that contain their own correct checksum.
    pub const fn finish(self) -> u16 {
        !fold(self.0)
    }
}

/// Adds the carries until none is left.
const fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        // Section 3: the words 0001 f203 f4f5 f6f7 add up to ddf2.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::default().bytes(&bytes).finish(), !0xddf2);
    }

    #[test]
    fn an_odd_last_byte_is_the_high_half_of_a_word() {
        assert_eq!(Sum::default().bytes(&[0xab]).finish(), !0xab00);
        assert_eq!(Sum::default().bytes(&[0x00, 0x01, 0xab]).finish(), !0xab01);
        assert_eq!(Sum::default().bytes(&[0x00, 0x01, 0xab, 0x02, 0x10]).finish(), !0xbb03);
    }

    /// Compares with RFC 1071, section 1, computed word by word.
    #[test]
    fn bytes_of_every_length_add_up_as_single_words_do() {
        let bytes: Vec<u8> = (0..200_u8).map(|byte| byte.wrapping_mul(167) | 0x80).collect();
        for length in 0..=bytes.len() {
            let words =
                bytes[..length].chunks(2).map(|two| u64::from(two[0]) << 8 | two.get(1).map_or(0, |&low| low.into()));
            assert_eq!(Sum::default().bytes(&bytes[..length]).finish(), !fold(words.sum()), "{length}");
        }
    }

    #[test]
    fn the_sum_does_not_depend_on_where_the_bytes_are_split() {
        let bytes: Vec<u8> = (0..41_u8).map(|byte| byte.wrapping_mul(151) ^ 0x5a).collect();
        let whole = Sum::default().word(7).bytes(&bytes).finish();
        for cut in 0..=bytes.len() {
            let (front, back) = bytes.split_at(cut);
            assert_eq!(Sum::default().word(7).pieces([front, back]).finish(), whole, "{cut}");
        }
    }

    #[test]
    fn carries_wrap_around_and_all_ways_to_add_agree() {
        assert_eq!(Sum::default().word(0xffff).word(0x0002).finish(), !0x0002);
        assert_eq!(Sum::default().double_word(0x1234_5678).finish(), Sum::default().word(0x1234).word(0x5678).finish());
        assert_eq!(Sum::default().bytes(&[0xff; 65_536]).finish(), 0);
    }
}
