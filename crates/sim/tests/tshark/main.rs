//! Wireshark's dissectors read whole connections of the simulator. Every checksum must be good, no
//! packet malformed, and no complaint raised. The sequence analysis must agree with the simulator's
//! record. Wireshark has to guess some facts. Each kind of wrong guess has a reason here, and a
//! difference without a reason fails the test.

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

/// The number of differences between Wireshark and the record, by reason.
#[derive(Default)]
pub struct Reasons(BTreeMap<&'static str, u32>);

impl Reasons {
    /// Counts a difference.
    ///
    /// # Panics
    /// Panics when it has no reason.
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
