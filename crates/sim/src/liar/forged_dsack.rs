//! *Alters* the SACK blocks of an acknowledgement that answers a retransmission: the first block
//! reports the retransmission as a duplicate. *Against* detection by DSACK (RFC 3708, section 3).

use eifel_packet::segment::{SackBlocks, Segment};
use eifel_packet::seq::Seq;

use super::{Lie, after, is_before};

#[derive(Default)]
pub(super) struct ForgedDsack {
    /// The range that the next acknowledgement reports as a duplicate.
    duplicate: Option<(Seq, Seq)>,
}

impl Lie for ForgedDsack {
    fn observe(&mut self, segment: &Segment, again: bool) {
        if again {
            self.duplicate = Some((segment.seq, after(segment)));
        }
    }

    fn alter(&mut self, segment: &mut Segment) -> bool {
        let Some((left, right)) = self.duplicate.take() else { return true };
        let mut forged = SackBlocks::EMPTY;
        forged.push(left, right);
        let room = if segment.options.timestamps.is_some() { 2 } else { 3 };
        // The honest acknowledgement may already report the duplicate.
        let honest = segment.options.sack.as_slice();
        for &(left, right) in honest.iter().filter(|block| is_before(segment.ack, block.1)).take(room) {
            forged.push(left, right);
        }
        segment.options.sack = forged;
        true
    }
}
