//! The positions that have arrived beyond a gap. Their bytes are stored elsewhere.

use eifel_base::ranges::Ranges;
use eifel_recovery::fact::Block;

/// Blocks of out-of-order positions, limited in number. Each operation costs O(log n) plus the
/// blocks that it merges. A segment in order costs nothing while there are no blocks.
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    pieces: Ranges,
    limit: usize,
}

/// Bytes of window per allowed block, so that the blocks never take more memory than the window.
const BYTES_PER_PIECE: u64 = 64;
/// Number of blocks allowed in any window, however small.
const FEWEST_PIECES: usize = 64;

impl Reassembly {
    /// Returns an empty queue for a receive window of `window` bytes.
    pub(crate) fn new(window: u64) -> Self {
        let limit = usize::try_from(window / BYTES_PER_PIECE).unwrap_or(usize::MAX).max(FEWEST_PIECES);
        Self { pieces: Ranges::default(), limit }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the number of blocks.
    pub(crate) fn pieces(&self) -> usize {
        self.pieces.count()
    }

    /// Returns the block that contains `position`.
    pub(crate) fn containing(&self, position: u64) -> Option<Block> {
        self.pieces.containing(position)
    }

    /// Returns the first part of `block` that has already arrived.
    pub(crate) fn first_overlap(&self, block: Block) -> Option<Block> {
        self.pieces.within(block).next()
    }

    /// Returns the blocks in ascending order.
    pub(crate) fn ascending(&self) -> impl Iterator<Item = Block> + '_ {
        self.pieces.ascending()
    }

    /// Adds `block`, which is not empty, and calls `gap` for each part of it that is new. If there
    /// are too many blocks, the highest is dropped: the peer will send it again (RFC 2018, section
    /// 8, allows this).
    pub(crate) fn insert(&mut self, block: Block, gap: impl FnMut(Block)) {
        self.pieces.insert(block, gap);
        if self.pieces.count() > self.limit {
            self.pieces.remove_highest();
        }
    }

    /// Removes everything below `nxt`, and the block adjacent to it. Returns the first position
    /// that is still missing.
    pub(crate) fn advance(&mut self, nxt: u64) -> u64 {
        self.pieces.absorb(nxt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(start: u64, end: u64) -> Block {
        Block { start, end }
    }

    fn insert(reassembly: &mut Reassembly, start: u64, end: u64) -> Vec<Block> {
        let mut gaps = Vec::new();
        reassembly.insert(block(start, end), |gap| gaps.push(gap));
        gaps
    }

    #[test]
    fn pieces_merge_and_only_new_parts_are_reported() {
        let mut reassembly = Reassembly::new(1 << 16);
        assert_eq!(insert(&mut reassembly, 10, 20), [block(10, 20)]);
        assert_eq!(insert(&mut reassembly, 30, 40), [block(30, 40)]);
        assert_eq!(insert(&mut reassembly, 20, 25), [block(20, 25)]);
        assert_eq!(insert(&mut reassembly, 12, 25), []);
        assert_eq!(insert(&mut reassembly, 5, 45), [block(5, 10), block(25, 30), block(40, 45)]);
        assert_eq!(reassembly.ascending().collect::<Vec<_>>(), [block(5, 45)]);
        assert_eq!(reassembly.advance(4), 4);
        assert_eq!(reassembly.advance(5), 45);
        assert!(reassembly.is_empty());
    }

    #[test]
    fn the_first_overlap_is_cut_to_the_block() {
        let mut reassembly = Reassembly::new(1 << 16);
        insert(&mut reassembly, 10, 20);
        insert(&mut reassembly, 30, 40);
        assert_eq!(reassembly.first_overlap(block(15, 35)), Some(block(15, 20)));
        assert_eq!(reassembly.first_overlap(block(20, 35)), Some(block(30, 35)));
        assert_eq!(reassembly.first_overlap(block(20, 30)), None);
        assert_eq!(reassembly.first_overlap(block(0, 10)), None);
        assert_eq!(reassembly.first_overlap(block(5, 50)), Some(block(10, 20)));
    }

    #[test]
    fn too_many_pieces_drop_the_furthest() {
        let mut reassembly = Reassembly::new(0);
        for piece in (0..=64).rev() {
            insert(&mut reassembly, 10 + piece * 2, 11 + piece * 2);
        }
        assert_eq!(reassembly.pieces(), 64);
        assert_eq!(reassembly.ascending().last(), Some(block(10 + 63 * 2, 11 + 63 * 2)));
    }

    proptest! {
        #[test]
        fn reassembly_agrees_with_a_set_of_single_positions(
            blocks in prop::collection::vec((1u64..200, 1u64..30), 1..40), nxt in 1u64..100,
        ) {
            let mut reassembly = Reassembly::new(1 << 16);
            let mut naive = std::collections::BTreeSet::new();
            for (start, len) in blocks {
                let asked = block(start, start + len);
                let overlap: Vec<_> = (start..start + len).filter(|at| naive.contains(at)).collect();
                let first = reassembly.first_overlap(asked);
                prop_assert_eq!(first.map(|first| first.start), overlap.first().copied());
                if let Some(first) = first {
                    prop_assert!((first.start..first.end).all(|at| naive.contains(&at)));
                    prop_assert!(first.end == asked.end || !naive.contains(&first.end));
                }
                reassembly.insert(asked, |gap| {
                    for at in gap.start..gap.end {
                        assert!(naive.insert(at), "{at} was there");
                    }
                });
                prop_assert!((start..start + len).all(|at| naive.contains(&at)));
            }
            let pieces: Vec<_> = reassembly.ascending().collect();
            prop_assert!(pieces.windows(2).all(|pair| pair[0].end < pair[1].start));
            prop_assert_eq!(pieces.iter().map(|piece| piece.end - piece.start).sum::<u64>(), naive.len() as u64);
            let mut expected = nxt;
            while naive.contains(&expected) || naive.range(..expected).next_back() == Some(&expected) {
                expected += 1;
            }
            prop_assert_eq!(reassembly.advance(nxt), expected);
        }
    }
}
