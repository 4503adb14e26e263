//! Settings that override each other, key by key.

use super::format;
use super::reader::Reader;
use crate::end::End;

/// The tables with a flow's settings, the closest first. The last table is empty and gives the
/// defaults.
pub(super) struct Layers<'a>(Vec<Reader<'a>>);

impl<'a> Layers<'a> {
    /// Collects the table `key` of the flow, the table `key` of the scenario, and an empty table.
    /// For the answering end, its own table comes before them.
    pub(super) fn new(key: &str, end: End, flow: &Reader<'a>, top: &Reader<'a>) -> Self {
        let (own, empty) = match key {
            "tcp" => ("answering_tcp", Reader::empty(&format::TCP)),
            "sctp" => ("answering_sctp", Reader::empty(&format::SCTP)),
            _ => ("answering_sender", Reader::empty(&format::SENDER)),
        };
        let own = (end == End::To).then(|| flow.table(own)).flatten();
        Self([own, flow.table(key), top.table(key), Some(empty)].into_iter().flatten().collect())
    }

    /// Returns the closest table that has any of these keys, or the empty table.
    pub(super) fn of(&self, keys: &[&str]) -> &Reader<'a> {
        let found = self.0.iter().find(|layer| keys.iter().any(|key| layer.has(key)));
        found.or(self.0.last()).expect("there is at least the empty layer")
    }
}
