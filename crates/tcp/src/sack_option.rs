//! Reads the peer's SACK option: filters out impossible blocks, and finds the DSACK (RFC 2018; RFC
//! 2883, section 4.2; RFC 9293 does not cover it).

use eifel_packet::segment::SackBlocks;
use eifel_packet::seq::{Seq, unwrap};
use eifel_recovery::fact::Block;

/// A SACK option without impossible blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reported {
    blocks: [Block; 4],
    count: u8,
    /// Number of blocks left out.
    pub(crate) ignored: u8,
    /// The duplicate, if the first block is a DSACK.
    pub(crate) dsack: Option<Block>,
}

impl Reported {
    const NOTHING: Self = Self { blocks: [Block { start: 0, end: 0 }; 4], count: 0, ignored: 0, dsack: None };

    /// Returns the blocks above the cumulative acknowledgement, in the order of the option.
    #[inline]
    pub(crate) fn blocks(&self) -> &[Block] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Reads an option from an ACK with the cumulative acknowledgement `cumulative`. `nxt` is the
    /// first position that was never sent. Ignores blocks that are inverted, were never sent, or
    /// begin at or below `cumulative` without being a duplicate.
    pub(crate) fn read(option: &SackBlocks, iss: Seq, cumulative: u64, nxt: u64) -> Self {
        let mut reported = Self::NOTHING;
        let position = |seq| unwrap(cumulative, iss, seq);
        let wire = option.as_slice();
        for (index, &(left, right)) in wire.iter().enumerate() {
            let block = Block { start: position(left), end: position(right) };
            if block.start >= block.end || block.end > nxt {
                reported.ignored += 1;
                continue;
            }
            let below = block.end <= cumulative;
            let within_next = index == 0
                && wire
                    .get(1)
                    .is_some_and(|&(left, right)| position(left) <= block.start && block.end <= position(right));
            if index == 0 && (below || within_next) {
                reported.dsack = Some(block);
            } else if block.start > cumulative {
                reported.blocks[usize::from(reported.count)] = block;
                reported.count += 1;
            } else {
                reported.ignored += 1;
            }
        }
        reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISS: Seq = Seq(u32::MAX - 999);

    fn read(blocks: &[(u64, u64)], cumulative: u64, nxt: u64) -> Reported {
        let mut option = SackBlocks::EMPTY;
        for &(left, right) in blocks {
            option.push(eifel_packet::seq::wrap(left, ISS), eifel_packet::seq::wrap(right, ISS));
        }
        Reported::read(&option, ISS, cumulative, nxt)
    }

    #[test]
    fn valid_blocks_keep_their_order_across_the_wrap() {
        let reported = read(&[(2001, 3001), (1001, 1501)], 501, 5001);
        assert_eq!(reported.blocks(), [Block { start: 2001, end: 3001 }, Block { start: 1001, end: 1501 }]);
        assert_eq!((reported.dsack, reported.ignored), (None, 0));
    }

    #[test]
    fn a_first_block_below_the_acknowledgement_or_within_the_second_is_a_duplicate() {
        let below = read(&[(1, 501), (2001, 3001)], 501, 5001);
        assert_eq!(below.dsack, Some(Block { start: 1, end: 501 }));
        assert_eq!(below.blocks(), [Block { start: 2001, end: 3001 }]);
        let within = read(&[(2001, 2501), (2001, 3001)], 501, 5001);
        assert_eq!(within.dsack, Some(Block { start: 2001, end: 2501 }));
        assert_eq!(within.blocks(), [Block { start: 2001, end: 3001 }]);
    }

    #[test]
    fn invalid_blocks_are_ignored_one_by_one() {
        // Inverted, empty, never sent, straddling the acknowledgement.
        let reported = read(&[(3001, 2001), (2001, 2001), (4001, 5002), (400, 1501)], 501, 5001);
        assert_eq!((reported.blocks(), reported.dsack, reported.ignored), (&[][..], None, 4));
        // Below the acknowledgement, but not the first.
        let reported = read(&[(2001, 3001), (1, 501)], 501, 5001);
        assert_eq!((reported.blocks().len(), reported.dsack, reported.ignored), (1, None, 1));
    }
}
