//! What has arrived beyond a gap: disjoint, non-adjacent ranges of positions, without their bytes.

use std::collections::BTreeMap;

use eifel_recovery::fact::Block;

/// Out-of-order positions. Each operation costs O(log n) and what it merges; a segment in order costs nothing as long as
/// nothing is here.
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    pieces: BTreeMap<u64, u64>,
    limit: usize,
}

/// The window's bytes for which one piece is allowed: so the pieces never take more memory than the window.
const BYTES_PER_PIECE: u64 = 64;
/// Small windows may have so many pieces nevertheless.
const FEWEST_PIECES: usize = 64;

impl Reassembly {
    /// For a window of so many bytes.
    pub(crate) fn new(window: u64) -> Self {
        let limit = usize::try_from(window / BYTES_PER_PIECE).unwrap_or(usize::MAX).max(FEWEST_PIECES);
        Self { pieces: BTreeMap::new(), limit }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The piece that contains `position`.
    pub(crate) fn containing(&self, position: u64) -> Option<Block> {
        let (&start, &end) = self.pieces.range(..=position).next_back()?;
        (position < end).then_some(Block { start, end })
    }

    /// The first part of `block` that is here already.
    pub(crate) fn first_overlap(&self, block: Block) -> Option<Block> {
        let from = self.pieces.range(..=block.start).next_back().map_or(block.start, |(&start, _)| start);
        let (&start, &end) = self.pieces.range(from..block.end).find(|&(_, &end)| end > block.start)?;
        Some(Block { start: start.max(block.start), end: end.min(block.end) })
    }

    /// The pieces from the lowest up.
    pub(crate) fn ascending(&self) -> impl Iterator<Item = Block> + '_ {
        self.pieces.iter().map(|(&start, &end)| Block { start, end })
    }

    /// Adds `block`, which is not empty, and calls `gap` for each part of it that was not here. Where that makes too many
    /// pieces, the furthest is forgotten: the peer will send it again (RFC 2018, section 8, allows it).
    pub(crate) fn insert(&mut self, block: Block, mut gap: impl FnMut(Block)) {
        let mut merged = block;
        let mut reached = block.start;
        let before = self.pieces.range(..=block.start).next_back().map(|(&start, &end)| Block { start, end });
        if let Some(before) = before.filter(|before| before.end >= block.start) {
            if before.end >= block.end {
                return;
            }
            merged.start = before.start;
            reached = before.end;
        }
        while let Some((&start, &end)) = self.pieces.range(block.start + 1..=block.end).next() {
            if start > reached {
                gap(Block { start: reached, end: start });
            }
            reached = reached.max(end);
            merged.end = merged.end.max(end);
            self.pieces.remove(&start);
        }
        if reached < block.end {
            gap(Block { start: reached, end: block.end });
        }
        self.pieces.insert(merged.start, merged.end);
        if self.pieces.len() > self.limit {
            self.pieces.pop_last();
        }
    }

    /// Everything below `nxt` has arrived: takes out what lies there or follows it without a gap, and returns where that
    /// ends.
    pub(crate) fn advance(&mut self, nxt: u64) -> u64 {
        let mut reached = nxt;
        while let Some(first) = self.pieces.first_entry() {
            if *first.key() > reached {
                break;
            }
            reached = reached.max(first.remove());
        }
        reached
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
    fn too_many_pieces_cost_the_furthest() {
        let mut reassembly = Reassembly::new(0);
        for piece in (0..=64).rev() {
            insert(&mut reassembly, 10 + piece * 2, 11 + piece * 2);
        }
        assert_eq!(reassembly.pieces.len(), 64);
        assert_eq!(reassembly.ascending().last(), Some(block(10 + 63 * 2, 11 + 63 * 2)));
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_set_of_single_positions(
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
