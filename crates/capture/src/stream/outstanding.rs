//! The outstanding data of one direction, as seen at the capture point.

use crate::order::Transmission;
use eifel_base::ranges::Block;
use eifel_base::ring::Ring;

/// Segments remembered per direction. Beyond this number the oldest are forgotten.
const MOST_OUTSTANDING: usize = 1 << 16;

/// Outstanding segments in ascending order, without gaps; missing data have entries too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outstanding {
    ring: Ring<Transmission>,
}

impl Outstanding {
    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    #[inline]
    pub(crate) fn push(&mut self, sent: Transmission) {
        if self.ring.len() == MOST_OUTSTANDING {
            self.ring.pop_front();
        }
        self.ring.push_back(sent);
    }

    /// Adds a segment below all others.
    pub(crate) fn push_front(&mut self, sent: Transmission) {
        self.ring.insert(0, sent);
    }

    /// Removes the segments that end at or below `cumulative`, and cuts off the rest below it.
    /// Calls `each` for every removed segment. Returns the last one, and whether removed data had not passed.
    #[inline(always)]
    pub(crate) fn pop_below(
        &mut self,
        cumulative: u64,
        mut each: impl FnMut(&Transmission),
    ) -> (Option<Transmission>, bool) {
        let mut unseen = false;
        let last = self.ring.pop_front_while(|sent| {
            let gone = sent.end() <= cumulative;
            if gone {
                unseen |= sent.missing;
                each(sent);
            }
            gone
        });
        if let Some(first) = self.ring.get_mut(0)
            && first.start < cumulative
        {
            first.len = (first.end() - cumulative) as u32;
            first.start = cumulative;
            unseen |= first.missing;
        }
        (last, unseen)
    }

    /// Returns whether the segment at `start` has this length and number, so that another one is its
    /// copy.
    pub(crate) fn has_copy_of(&self, start: u64, len: u32, number: u32) -> bool {
        let index = self.ring.partition_point(|sent| sent.start < start);
        let is_equal = |sent: &Transmission| (sent.start, sent.len, sent.number) == (start, len, number);
        number != 0 && self.ring.get(index).is_some_and(is_equal)
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Transmission> {
        self.ring.get(index)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Transmission> {
        self.ring.iter()
    }

    /// Splits segments so that `start..end` consists of whole ones. Returns the index of the first
    /// of these.
    pub(crate) fn align(&mut self, start: u64, end: u64) -> usize {
        self.cut(start);
        self.cut(end);
        self.ring.partition_point(|sent| sent.start < start)
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut Transmission> {
        self.ring.get_mut(index)
    }

    fn cut(&mut self, at: u64) {
        let index = self.ring.partition_point(|sent| sent.end() <= at);
        let Some(sent) = self.ring.get_mut(index) else { return };
        if sent.start >= at {
            return;
        }
        let mut rest = *sent;
        sent.len = (at - sent.start) as u32;
        rest.len -= sent.len;
        rest.start = at;
        self.ring.insert(index + 1, rest);
    }

    /// Returns the segments that have a position in `block`.
    pub(crate) fn overlapping(&self, block: Block) -> impl Iterator<Item = &Transmission> {
        let from = self.ring.partition_point(|sent| sent.end() <= block.start);
        self.ring.iter_from(from).take_while(move |sent| sent.start < block.end)
    }

    /// Returns `block`, extended to whole segments.
    pub(crate) fn bounds(&self, block: Block) -> Block {
        let extended =
            |all: Block, sent: &Transmission| Block { start: all.start.min(sent.start), end: all.end.max(sent.end()) };
        self.overlapping(block).fold(block, extended)
    }

    /// Frees the memory if nothing is outstanding.
    pub(crate) fn shrink(&mut self) {
        if self.ring.is_empty() && self.ring.capacity() > 0 {
            self.ring = Ring::default();
        }
    }

    /// Hands the memory to other directions if nothing is outstanding.
    #[inline(never)]
    pub(crate) fn give_memory(&mut self, spare: &mut SpareRings) {
        if self.ring.is_empty() && self.ring.capacity() > 0 {
            spare.take(std::mem::take(&mut self.ring));
        }
    }

    /// Takes memory from another direction if there is none.
    #[inline(never)]
    pub(crate) fn take_memory(&mut self, spare: &mut SpareRings) {
        if self.ring.capacity() == 0
            && let Some(ring) = spare.rings.pop()
        {
            self.ring = ring;
        }
    }
}

/// Memory of directions with nothing outstanding, for the next directions that send. In a capture
/// with many connections, most packets begin or end a direction's pause.
#[derive(Debug, Default)]
pub(crate) struct SpareRings {
    rings: Vec<Ring<Transmission>>,
}

impl SpareRings {
    /// The number of rings kept.
    const MOST: usize = 16;
    /// The largest capacity of a kept ring, in segments.
    const LARGEST: usize = 256;

    #[inline]
    fn take(&mut self, ring: Ring<Transmission>) {
        if self.rings.len() < Self::MOST && ring.capacity() <= Self::LARGEST {
            self.rings.push(ring);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outstanding_segments_are_split_at_the_ends_of_a_retransmission() {
        let mut outstanding = Outstanding::default();
        let sent = |start, len| Transmission::new(start, len, 0, None);
        outstanding.push(sent(0, 100));
        outstanding.push(sent(100, 1000));
        assert_eq!(outstanding.align(150, 200), 2);
        let parts: Vec<_> = outstanding.iter().map(|sent| (sent.start, sent.len)).collect();
        assert_eq!(parts, [(0, 100), (100, 50), (150, 50), (200, 900)]);
        assert_eq!(outstanding.align(0, 100), 0);
        let mut pop = |cumulative| {
            let mut seen = Vec::new();
            let (last, _) = outstanding.pop_below(cumulative, |sent| seen.push((sent.start, sent.len)));
            assert_eq!(last.map(|sent| (sent.start, sent.len)), seen.last().copied());
            seen
        };
        assert_eq!([50, 120, 120, 160].map(&mut pop), [vec![], vec![(50, 50)], vec![], vec![(120, 30)]]);
        assert_eq!(outstanding.get(0).map(|sent| (sent.start, sent.len)), Some((160, 40)));
    }

    #[test]
    fn directions_that_pause_hand_their_memory_to_those_that_send() {
        let sent = |start| Transmission::new(start, 1, 0, None);
        let mut spare = SpareRings::default();
        let mut many: Vec<_> = (0..2 * SpareRings::MOST).map(|_| Outstanding::default()).collect();
        for one in &mut many {
            one.push(sent(0));
            // Memory in use is not handed over.
            one.give_memory(&mut spare);
            assert_eq!(one.len(), 1);
            one.pop_below(1, |_| {});
        }
        many.iter_mut().for_each(|one| one.give_memory(&mut spare));
        assert!(many.iter().all(|one| one.ring.capacity() == 0));
        assert_eq!(spare.rings.len(), SpareRings::MOST);
        many[0].take_memory(&mut spare);
        many[0].take_memory(&mut spare);
        assert!(many[0].ring.capacity() > 0 && spare.rings.len() == SpareRings::MOST - 1);
        // A ring with too much room is freed instead.
        (0..=SpareRings::LARGEST as u64).for_each(|start| many[0].push(sent(start)));
        many[0].pop_below(u64::MAX, |_| {});
        many[0].give_memory(&mut spare);
        assert_eq!((many[0].ring.capacity(), spare.rings.len()), (0, SpareRings::MOST - 1));
    }
}
