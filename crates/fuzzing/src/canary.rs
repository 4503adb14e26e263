//! The bird in the mine: a target that must fail, so that a fuzzer which finds nothing is known to look.

/// Panics for five bytes that only a fuzzer guided by branches finds: each comparison shows that
/// the byte before was right.
///
/// # Panics For bytes that begin with "eifel".
pub fn canary(data: &[u8]) {
    let mut right = 0;
    for (byte, wanted) in data.iter().zip(b"eifel") {
        if byte != wanted {
            return;
        }
        right += 1;
    }
    assert!(right < 5, "the canary has been found");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_planted_fails() {
        canary(b"");
        canary(b"eife");
        canary(b"eiffel");
        assert!(std::panic::catch_unwind(|| canary(b"eifel!")).is_err());
    }
}
