//! The last data packets of a direction.
//!
//! A packet that repeats the IP identification, the data and the timestamp of another one is a copy that
//! the network made. It may come much later, behind any number of others. Without an identification,
//! packets are found by their sequence number, and the time has to show that the sender cannot have
//! sent the data again.

use crate::stream::{Data, Stream};

/// Packets remembered at first, and at most. Both are powers of two.
const LEAST: usize = 1 << 6;
const MOST: usize = 1 << 10;

/// A remembered packet.
#[derive(Clone, Copy, Default, Debug)]
struct Entry {
    /// The identification; without one, bits of the sequence number. 0 in an empty entry.
    key: u16,
    /// A digest of the fields that a copy shares.
    digest: u32,
    /// When it passed, in units of 1024 nanoseconds; wraps.
    passed: u32,
}

/// A table indexed by the low bits of the key. In a flow with a counter of its own, it holds the last
/// packets.
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
        for sent in stream.out.iter().filter(|sent| !sent.missing) {
            let (seq, stamp) =
                (eifel_packet::seq::wrap(sent.start, initial).0, sent.stamp().map_or(0, |stamp| stamp.0));
            recent.put(Entry::new(sent.number as u16, (seq, sent.len, stamp), sent.nanos));
        }
        recent
    }

    /// Adds a packet that passes at `nanos`.
    #[inline]
    pub(crate) fn add(&mut self, data: &Data, nanos: u64) {
        self.put(entry(data, nanos));
    }

    #[inline]
    fn put(&mut self, entry: Entry) {
        self.latest = entry.key;
        let (place, full) = (self.place(entry.key), self.entries.len() == MOST);
        match self.entries.get_mut(place) {
            Some(known) if known.key == 0 || full => *known = entry,
            _ => self.grow(entry),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, entry: Entry) {
        let more = vec![Entry::default(); (2 * self.entries.len()).max(LEAST)];
        for known in std::mem::replace(&mut self.entries, more).into_iter().chain([entry]) {
            let place = self.place(known.key);
            self.entries[place] = known;
        }
    }

    #[inline]
    fn place(&self, key: u16) -> usize {
        usize::from(key) & self.entries.len().wrapping_sub(1)
    }

    /// Returns whether a packet is a copy of a remembered one by its identification, which has to vary.
    pub(crate) fn has(&self, data: &Data) -> bool {
        let varies = data.numbered || data.identification != self.latest;
        data.identification != 0 && varies && self.find(&entry(data, 0)).is_some()
    }

    /// Returns how long ago an equal packet without an identification passed, in nanoseconds.
    pub(crate) fn since(&self, data: &Data, nanos: u64) -> Option<u64> {
        let entry = entry(data, nanos);
        let known = self.find(&entry).filter(|_| data.identification == 0)?;
        Some(u64::from(entry.passed.wrapping_sub(known.passed)) << 10)
    }

    fn find(&self, entry: &Entry) -> Option<&Entry> {
        let known = self.entries.get(self.place(entry.key));
        known.filter(|known| (known.key, known.digest) == (entry.key, entry.digest))
    }
}

impl Entry {
    #[inline]
    fn new(identification: u16, (seq, len, stamp): (u32, u32, u32), nanos: u64) -> Self {
        let product = (u64::from(seq) << 32 | u64::from(stamp)).wrapping_add(u64::from(len) << 17);
        let digest = (product.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
        let of_seq = || (seq.wrapping_mul(0x9e37_79b9) >> 16) as u16 | 1;
        let key = if identification == 0 { of_seq() } else { identification };
        Self { key, digest, passed: (nanos >> 10) as u32 }
    }
}

#[inline]
fn entry(data: &Data, nanos: u64) -> Entry {
    Entry::new(data.identification, (data.seq.0, data.len, data.stamp.map_or(0, |stamp| stamp.0)), nanos)
}
