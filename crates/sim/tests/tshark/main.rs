//! Wireshark's dissectors over whole connections that we make: every checksum good, nothing malformed, no complaint, and
//! what its sequence analysis concludes from the packets is what the simulator's record knows of them. Wireshark guesses
//! where it cannot know; each kind of wrong guess has its reason here, and a difference without one fails.

#![expect(clippy::unwrap_used, reason = "captures and texts of these tests are well formed")]

mod capture;
mod directly;
mod dissect;
mod duplicate_acks;
mod moved;
mod receiver;
mod runs;
mod sender;

use std::collections::BTreeMap;

/// How often a difference between Wireshark and the record has which reason.
#[derive(Default)]
pub struct Reasons(BTreeMap<&'static str, u32>);

impl Reasons {
    /// One more difference.
    pub fn note(&mut self, reason: Option<&'static str>, context: &dyn std::fmt::Debug) {
        let reason = reason.unwrap_or_else(|| panic!("a difference without a reason: {context:#?}"));
        *self.0.entry(reason).or_default() += 1;
    }
}

impl std::fmt::Display for Reasons {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|(reason, count)| writeln!(f, "  {count} × {reason}"))
    }
}
