//! Hashes all actions of an attack: each segment, packet, time and draw. A finding may stay within
//! its bound although the attack has changed; this hash changes.

use core::cell::Cell;
use core::fmt::{self, Debug, Write};

thread_local! {
    /// The hash so far; `None` outside of [`of`].
    static SO_FAR: Cell<Option<u64>> = const { Cell::new(None) };
}

/// FNV-1a, 64 bits.
struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(())
    }
}

/// Adds a value that the attack used or saw to the hash.
pub(crate) fn note(what: impl Debug) {
    if let Some(so_far) = SO_FAR.get() {
        let mut hash = Fnv(so_far);
        // Writing into a hash cannot fail.
        let _ = write!(hash, "{what:?};");
        SO_FAR.set(Some(hash.0));
    }
}

/// Returns whether this thread runs inside [`of`].
pub(crate) fn is_asked_for() -> bool {
    SO_FAR.get().is_some()
}

/// Returns the result of `run`, and the hash of everything that it noted on this thread.
pub(crate) fn of<T>(run: impl FnOnce() -> T) -> (T, u64) {
    SO_FAR.set(Some(0xcbf2_9ce4_8422_2325));
    let result = run();
    (result, SO_FAR.take().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_depends_on_values_and_their_order() {
        let number = |notes: &[u32]| of(|| notes.iter().for_each(note)).1;
        assert_eq!(number(&[]), 0xcbf2_9ce4_8422_2325);
        assert!(number(&[1, 2]) != number(&[2, 1]) && number(&[1, 2]) != number(&[12]));
        assert_eq!(number(&[1, 2]), number(&[1, 2]));
        // Notes outside of `of` are dropped.
        note(7);
        assert_eq!((of(is_asked_for).0, is_asked_for()), (true, false));
        assert_eq!(number(&[1, 2]), number(&[1, 2]));
    }
}
