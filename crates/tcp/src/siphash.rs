//! SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", section 2): what a stranger without the secret
//! cannot tell from chance.

/// A secret of 128 bits.
pub(crate) type Secret = [u64; 2];

/// The hash of so many words of 64 bits.
pub(crate) fn siphash(secret: &Secret, words: &[u64]) -> u64 {
    let [k0, k1] = *secret;
    let mut v = [
        k0 ^ 0x736f_6d65_7073_6575,
        k1 ^ 0x646f_7261_6e64_6f6d,
        k0 ^ 0x6c79_6765_6e65_7261,
        k1 ^ 0x7465_6462_7974_6573,
    ];
    // The last word holds the length in bytes in its highest byte; no bytes are left over here.
    let length = ((words.len() as u64 * 8) & 0xff) << 56;
    for &word in words.iter().chain(&[length]) {
        v[3] ^= word;
        round(&mut v);
        round(&mut v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for _ in 0..4 {
        round(&mut v);
    }
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn round(v: &mut [u64; 4]) {
    v[0] = v[0].wrapping_add(v[1]);
    v[2] = v[2].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(13) ^ v[0];
    v[3] = v[3].rotate_left(16) ^ v[2];
    v[0] = v[0].rotate_left(32);
    v[2] = v[2].wrapping_add(v[1]);
    v[0] = v[0].wrapping_add(v[3]);
    v[1] = v[1].rotate_left(17) ^ v[2];
    v[3] = v[3].rotate_left(21) ^ v[0];
    v[2] = v[2].rotate_left(32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_vectors() {
        // Key 00 01 ... 0f; inputs of 0 and of 8 bytes 00 01 ..., from the authors' reference implementation.
        let secret = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(siphash(&secret, &[]), 0x726f_db47_dd0e_0e31);
        assert_eq!(siphash(&secret, &[0x0706_0504_0302_0100]), 0x93f5_f579_9a93_2462);
    }
}
