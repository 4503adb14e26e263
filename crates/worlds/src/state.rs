//! Digests of worlds: worlds with the same digest have the same continuations.

use core::fmt::{Debug, Write};

use eifel_base::siphash::siphash_128;

/// Writes parts of a world's state as text, and hashes the text. Every type in them derives
/// `Debug`, which shows each field.
///
/// The seams' traits require `Debug` too, so that no algorithm can hide its memory. Instants and
/// durations are shown as seconds in floating point, which distinguishes all nanoseconds of the
/// first 52 days.
#[derive(Default)]
pub(crate) struct Digester {
    text: String,
}

impl Digester {
    /// Returns the digest of these parts.
    pub(crate) fn digest(&mut self, parts: &[&dyn Debug]) -> u128 {
        siphash_128(&[0, 0], self.write(parts).as_bytes())
    }

    /// Returns the parts as text.
    pub(crate) fn write(&mut self, parts: &[&dyn Debug]) -> &str {
        self.text.clear();
        for part in parts {
            let written = writeln!(self.text, "{part:?}");
            debug_assert!(written.is_ok(), "a text takes everything");
        }
        &self.text
    }
}
