//! The last data packets of a direction, by their IP identification.
//!
//! A packet that repeats the identification, the data and the timestamp of another one is a copy that
//! the network made. It may come much later, behind any number of others.

use crate::stream::{Data, Stream};

/// Packets remembered at first, and at most. Both are powers of two.
const LEAST: usize = 1 << 6;
const MOST: usize = 1 << 10;

/// An identification, and a digest of the fields that a copy shares.
type Entry = (u16, u32);

/// A table indexed by the low bits of the identification. In a flow with a counter of its own, it
/// holds the last packets.
#[derive(Debug, Default)]
pub(crate) struct RecentPackets {
    entries: Vec<Entry>,
    latest: u16,
}

impl RecentPackets {
    /// Returns the outstanding packets of a stream.
    pub(crate) fn of(stream: &Stream) -> Self {
        let mut recent = Self::default();
        let initial = stream.initial.unwrap_or_default();
        for sent in stream.out.iter().filter(|sent| sent.number != 0) {
            let stamp = sent.stamp().map_or(0, |stamp| stamp.0);
            recent.put((sent.number as u16, digest(eifel_packet::seq::wrap(sent.start, initial).0, sent.len, stamp)));
        }
        recent
    }

    /// Adds a packet with an identification.
    #[inline]
    pub(crate) fn add(&mut self, data: &Data) {
        if data.identification != 0 {
            self.put(entry(data));
        }
    }

    #[inline]
    fn put(&mut self, entry: Entry) {
        self.latest = entry.0;
        let (place, full) = (self.place(entry.0), self.entries.len() == MOST);
        match self.entries.get_mut(place) {
            Some(known) if known.0 == 0 || full => *known = entry,
            _ => self.grow(entry),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, entry: Entry) {
        let more = vec![(0, 0); (2 * self.entries.len()).max(LEAST)];
        for known in std::mem::replace(&mut self.entries, more).into_iter().chain([entry]) {
            let place = self.place(known.0);
            self.entries[place] = known;
        }
    }

    #[inline]
    fn place(&self, identification: u16) -> usize {
        usize::from(identification) & self.entries.len().wrapping_sub(1)
    }

    /// Returns whether a packet is a copy of a remembered one. The identification has to vary.
    pub(crate) fn has(&self, data: &Data) -> bool {
        let varies = data.numbered || data.identification != self.latest;
        let known = self.entries.get(self.place(data.identification));
        data.identification != 0 && varies && known == Some(&entry(data))
    }
}

fn entry(data: &Data) -> Entry {
    (data.identification, digest(data.seq.0, data.len, data.stamp.map_or(0, |stamp| stamp.0)))
}

#[inline]
fn digest(seq: u32, len: u32, stamp: u32) -> u32 {
    let product = (u64::from(seq) << 32 | u64::from(stamp)).wrapping_add(u64::from(len) << 17);
    (product.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}
