//! One capture analysed in several shares at once, one a core: each share reads all frames, and takes in the connections that are
//! its own. Joined, they are what one analysis of everything finds, unless more connections last at a time than a share may keep.

use crate::analysis::Analysis;

/// A part of the connections of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    index: u32,
    of: u32,
}

impl Share {
    /// Everything.
    pub const WHOLE: Self = Self { index: 0, of: 1 };

    /// The shares into which a capture is divided, one at least.
    pub fn all(of: u32) -> impl Iterator<Item = Self> {
        (0..of.max(1)).map(move |index| Self { index, of: of.max(1) })
    }

    /// Whether there are others.
    pub(crate) const fn is_part(self) -> bool {
        self.of > 1
    }

    /// Whether it has whatever is not divided: associations, and what is no packet of a connection.
    pub(crate) const fn is_first(self) -> bool {
        self.index == 0
    }

    /// Whether connections with this hash are in it.
    pub(crate) const fn holds(self, hash: u64) -> bool {
        // The table of connections goes by the low bits.
        (hash >> 32) as u32 % self.of == self.index
    }
}

/// The findings of one share.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Part {
    pub(crate) found: Analysis,
    /// The frames in which connections began.
    pub(crate) opened: Vec<u64>,
}

/// Joins the shares of a capture, the first one first.
pub fn join(parts: Vec<Part>) -> Analysis {
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
    // Until here the frame in which a connection began was its number.
    let number = |frame: u64| opened.partition_point(|other| *other < frame) as u64;
    all.connections.iter_mut().for_each(|one| one.connection = number(one.connection));
    all.retransmissions.iter_mut().for_each(|one| one.connection = number(one.connection));
    all.connections.sort_by_key(|one| one.connection);
    all.retransmissions.sort_by_key(|one| one.frame);
    all
}
