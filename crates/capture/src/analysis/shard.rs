//! Divides the analysis of one capture into shards that run in parallel, one per core.
//!
//! Each shard reads all frames but analyses only its own connections. The joined shards equal an
//! undivided analysis, unless more connections are open at a time than a shard may keep.

use super::found::Analysis;

/// One of the shards into which the connections of a capture are divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: u32,
    of: u32,
}

impl Shard {
    /// The only shard of an undivided analysis.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// Returns all shards of a capture. `of` is their number; 0 counts as 1.
    pub fn all(of: u32) -> impl Iterator<Item = Self> {
        (0..of.max(1)).map(move |index| Self { index, of: of.max(1) })
    }

    /// Returns whether the capture is divided into several shards.
    pub(crate) const fn is_one_of_several(self) -> bool {
        self.of > 1
    }

    /// Returns whether this shard also takes everything that is not divided: associations, and
    /// frames that are not packets of a TCP connection.
    pub(crate) const fn is_first(self) -> bool {
        self.index == 0
    }

    /// Returns whether connections with this hash belong to this shard.
    pub(crate) const fn holds(self, hash: u64) -> bool {
        // The connection table is indexed by the low bits of the hash, so the high ones choose the
        // shard.
        (hash >> 32) as u32 % self.of == self.index
    }
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct ShardResults {
    pub(crate) found: Analysis,
    /// The numbers of the frames in which connections began.
    pub(crate) opened: Vec<u64>,
}

/// Joins the results of all shards, given in order: only the first one has the undivided counts.
pub fn join(parts: Vec<ShardResults>) -> Analysis {
    let mut opened: Vec<u64> = parts.iter().flat_map(|part| &part.opened).copied().collect();
    opened.sort_unstable();
    let alone = parts.len() == 1;
    let mut parts = parts.into_iter().map(|part| part.found);
    let mut all = parts.next().unwrap_or_default();
    if alone {
        return all;
    }
    for part in parts {
        all.segments += part.segments;
        all.evicted += part.evicted;
        all.without_data += part.without_data;
        all.connections.extend(part.connections);
        all.retransmissions.extend(part.retransmissions);
    }
    // Each shard numbers a connection by the frame in which it began. Count the connections over
    // all shards instead.
    let number = |frame: u64| opened.partition_point(|other| *other < frame) as u64;
    all.connections.iter_mut().for_each(|one| one.connection = number(one.connection));
    all.retransmissions.iter_mut().for_each(|one| one.connection = number(one.connection));
    all.connections.sort_by_key(|one| one.connection);
    all.retransmissions.sort_by_key(|one| one.frame);
    all
}
