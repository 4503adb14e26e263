//! A target that must fail. A fuzzer that misses it is not working.

/// Panics for five bytes that only a branch-guided fuzzer finds. Each comparison shows that the
/// previous byte was right.
///
/// # Panics
/// If the bytes begin with "eifel".
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
    fn only_the_planted_input_fails() {
        canary(b"");
        canary(b"eife");
        canary(b"eiffel");
        assert!(std::panic::catch_unwind(|| canary(b"eifel!")).is_err());
    }
}
