//! Chooses the blocks of a SACK option and their order (RFC 2018, section 4; RFC 2883, section 4).

use eifel_packet::segment::SackBlocks;
use eifel_packet::seq::{Seq, wrap};
use eifel_recovery::fact::Block;

use crate::reassembly::Reassembly;

/// The recently reported blocks, newest first, and the duplicate still to be reported. A block is
/// remembered by a position inside it, because it grows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SackReport {
    recent: [u64; REMEMBERED],
    remembered: u8,
    duplicate: Option<Block>,
}

const REMEMBERED: usize = 4;

impl SackReport {
    /// Moves a block to the front: that of a segment that has arrived out of order at `position`.
    pub(crate) fn touch(&mut self, position: u64, queue: &Reassembly) {
        let Some(block) = queue.containing(position) else { return };
        let mut recent = [block.start; REMEMBERED];
        let mut count = 1;
        for &other in &self.recent[..usize::from(self.remembered)] {
            if count < REMEMBERED && !(block.start..block.end).contains(&other) {
                recent[count] = other;
                count += 1;
            }
        }
        *self = Self { recent, remembered: count as u8, duplicate: self.duplicate };
    }

    /// Reports the duplicate `block` in the next option, once.
    pub(crate) fn duplicate(&mut self, block: Block) {
        self.duplicate = Some(block);
    }

    /// Forgets all blocks, because no data is out of order any more.
    pub(crate) fn forget_blocks(&mut self) {
        self.remembered = 0;
    }

    /// Returns whether there is a duplicate to report.
    pub(crate) fn has_duplicate(&self) -> bool {
        self.duplicate.is_some()
    }

    /// Returns whether there is neither a block nor a duplicate to report.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_duplicate() && self.remembered == 0
    }

    /// Returns at most `room` blocks in the order of the option. The duplicate comes first, then
    /// the most recently touched blocks, then the lowest others. A duplicate above a gap lies in
    /// the block listed next, because its arrival touched that block. A duplicate that is a whole
    /// block is listed twice (RFC 2883, section 4.1.3).
    pub(crate) fn take(&mut self, room: usize, irs: Seq, queue: &Reassembly) -> SackBlocks {
        let mut blocks = SackBlocks::EMPTY;
        let mut left = room.min(REMEMBERED);
        if left == 0 {
            return blocks;
        }
        let mut push = |block: Block| blocks.push(wrap(block.start, irs), wrap(block.end, irs));
        if let Some(duplicate) = self.duplicate.take() {
            push(duplicate);
            left -= 1;
        }
        let recent = self.recent[..usize::from(self.remembered)].iter().filter_map(|&at| queue.containing(at));
        let mut chosen = [Block { start: 0, end: 0 }; REMEMBERED];
        let mut count = 0;
        for block in recent.chain(queue.ascending().take(REMEMBERED)) {
            if count == left {
                break;
            }
            if !chosen[..count].contains(&block) {
                chosen[count] = block;
                count += 1;
                push(block);
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(start: u64, end: u64) -> Block {
        Block { start, end }
    }

    struct Receiver {
        report: SackReport,
        queue: Reassembly,
    }

    impl Receiver {
        fn new() -> Self {
            Self { report: SackReport::default(), queue: Reassembly::new(1 << 16) }
        }

        fn arrive(&mut self, start: u64, end: u64) {
            self.queue.insert(block(start, end), |_| {});
            self.report.touch(start, &self.queue);
        }

        fn option(&mut self, room: usize) -> Vec<(u32, u32)> {
            let blocks = self.report.take(room, Seq(0), &self.queue);
            blocks.as_slice().iter().map(|&(left, right)| (left.0, right.0)).collect()
        }
    }

    #[test]
    fn the_block_that_grew_last_comes_first() {
        let mut receiver = Receiver::new();
        receiver.arrive(100, 200);
        receiver.arrive(300, 400);
        receiver.arrive(500, 600);
        assert_eq!(receiver.option(3), [(500, 600), (300, 400), (100, 200)]);
        receiver.arrive(200, 250);
        assert_eq!(receiver.option(3), [(100, 250), (500, 600), (300, 400)]);
        // 300..400 and 500..600 merge into one block, reported once. A fourth block fits without
        // timestamps.
        receiver.arrive(400, 500);
        receiver.arrive(700, 800);
        receiver.arrive(900, 1000);
        assert_eq!(receiver.option(3), [(900, 1000), (700, 800), (300, 600)]);
        assert_eq!(receiver.option(4), [(900, 1000), (700, 800), (300, 600), (100, 250)]);
    }

    #[test]
    fn pieces_that_are_no_longer_remembered_fill_the_option() {
        let mut receiver = Receiver::new();
        for piece in 1..=6 {
            receiver.arrive(piece * 100, piece * 100 + 50);
        }
        assert_eq!(receiver.option(4), [(600, 650), (500, 550), (400, 450), (300, 350)]);
        assert_eq!(receiver.queue.advance(300), 350);
        receiver.queue.advance(650);
        receiver.arrive(700, 750);
        assert_eq!(receiver.option(4), [(700, 750)]);
        assert_eq!(receiver.option(0), []);
    }

    #[test]
    fn a_duplicate_is_reported_first_and_once() {
        let mut receiver = Receiver::new();
        receiver.arrive(100, 200);
        receiver.arrive(300, 400);
        receiver.report.duplicate(block(120, 180));
        receiver.arrive(120, 180);
        assert_eq!(receiver.option(3), [(120, 180), (100, 200), (300, 400)]);
        assert_eq!(receiver.option(3), [(100, 200), (300, 400)]);
        // A duplicate below the cumulative ACK has no block around it.
        receiver.report.duplicate(block(10, 20));
        assert_eq!(receiver.option(2), [(10, 20), (100, 200)]);
    }
}
