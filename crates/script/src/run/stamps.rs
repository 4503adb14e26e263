//! Translates between a script's timestamps and the connection's.

use std::collections::BTreeMap;

use crate::script::Header;
use eifel_base::time::Duration;

/// Maps timestamps. The script's values count from its first value, and the connection's from the
/// connection's first.
#[derive(Debug)]
pub(super) struct Stamps {
    /// Whether values are compared, or only remembered.
    compares: bool,
    /// Ticks by which a value may differ from the script's.
    slack: u64,
    first: Option<(u32, u32)>,
    known: BTreeMap<u32, u32>,
}

impl Stamps {
    pub(super) fn new(header: &Header) -> Self {
        let tick = header.settings.timestamps.map_or(Duration::from_nanos(1), |clock| clock.granularity);
        let slack = header.tolerance.as_nanos() / tick.as_nanos().max(1);
        Self { compares: header.compares_stamps, slack, first: None, known: BTreeMap::new() }
    }

    /// Returns the connection's value for an echo that the script writes as `written`.
    pub(super) fn echoed(&self, written: u32) -> u32 {
        match (self.known.get(&written), self.first) {
            (Some(own), _) => *own,
            (None, Some((script, own))) => own.wrapping_add(written.wrapping_sub(script)),
            (None, None) => written,
        }
    }

    /// Compares the value `own` of a departed segment with the script's `written`. Returns whether
    /// they agree.
    pub(super) fn agree(&mut self, written: u32, own: u32) -> bool {
        let (script, first) = *self.first.get_or_insert((written, own));
        if !self.compares {
            self.known.insert(written, own);
            return true;
        }
        let expected = first.wrapping_add(written.wrapping_sub(script));
        let away = own.wrapping_sub(expected) as i32;
        u64::from(away.unsigned_abs()) <= self.slack
    }

    /// Returns the connection's value as the script would write it.
    pub(super) fn shown(&self, own: u32) -> u32 {
        self.first.map_or(own, |(script, first)| script.wrapping_add(own.wrapping_sub(first)))
    }
}
