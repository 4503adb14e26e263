//! Settings that override each other, key by key.

use super::format;
use super::profile;
use super::reader::Reader;
use crate::end::End;

/// The tables with a flow's settings, the closest first.
pub(super) struct Layers<'a> {
    /// What the scenario itself says.
    said: Vec<Reader<'a>>,
    /// The flow's profile, and an empty table, which gives the defaults.
    usual: Vec<Reader<'a>>,
}

impl<'a> Layers<'a> {
    /// Collects the table `key` of the flow, the table `key` of the scenario, that of the flow's
    /// profile, and an empty table. For the answering end, its own table comes before them.
    pub(super) fn new(key: &str, end: End, flow: &Reader<'a>, top: &Reader<'a>) -> Self {
        let (own, empty) = match key {
            "tcp" => ("answering_tcp", Reader::empty(&format::TCP)),
            "sctp" => ("answering_sctp", Reader::empty(&format::SCTP)),
            _ => ("answering_sender", Reader::empty(&format::SENDER)),
        };
        let own = (end == End::To).then(|| flow.table(own)).flatten();
        Self {
            said: [own, flow.table(key), top.table(key)].into_iter().flatten().collect(),
            usual: [profile::table(flow, key), Some(empty)].into_iter().flatten().collect(),
        }
    }

    /// Returns whether the scenario itself sets this key, and no profile.
    pub(super) fn says(&self, key: &str) -> bool {
        self.said.iter().any(|layer| layer.has(key))
    }

    /// Returns the closest table that has any of these keys, or the empty table.
    pub(super) fn of(&self, keys: &[&str]) -> &Reader<'a> {
        let mut layers = self.said.iter().chain(&self.usual);
        let found = layers.find(|layer| keys.iter().any(|key| layer.has(key)));
        found.or(self.usual.last()).expect("there is at least the empty layer")
    }
}
