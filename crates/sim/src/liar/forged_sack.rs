//! *Alters* the SACK blocks while data is missing: they report everything up to the highest segment
//! as received. After 100 acknowledgements it sends the true blocks again, as if the receiver had
//! dropped reported data (RFC 2018, section 8; RFC 9260, section 6.2.1). Losses of several windows
//! then look like losses of one window. *Against* loss recovery.

use eifel_packet::segment::{SackBlocks, Segment};
use eifel_packet::seq::Seq;

use super::{Lie, after};

/// The most consecutive acknowledgements with forged blocks.
const MOST_DENIED: u32 = 100;

#[derive(Default)]
pub(super) struct ForgedSack {
    /// The end of the newest original.
    highest: Option<Seq>,
    /// Acknowledgements with forged blocks since data has been missing.
    denied: u32,
}

impl Lie for ForgedSack {
    fn observe(&mut self, segment: &Segment, again: bool) {
        if !again {
            self.highest = Some(after(segment));
        }
    }

    fn alter(&mut self, segment: &mut Segment) -> bool {
        if segment.options.sack.is_empty() {
            self.denied = 0;
        } else if let Some(highest) = self.highest.filter(|_| self.denied < MOST_DENIED) {
            self.denied += 1;
            segment.options.sack = SackBlocks::EMPTY;
            segment.options.sack.push(segment.ack, highest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_denied_for_a_while_and_then_told() {
        let mut lie = ForgedSack::default();
        lie.observe(&Segment { seq: Seq(7), payload_len: 2, ..Segment::EMPTY }, false);
        let mut honest = Segment { ack: Seq(4), ..Segment::EMPTY };
        honest.options.sack.push(Seq(7), Seq(9));
        for _ in 0..MOST_DENIED {
            let mut said = honest;
            assert!(lie.alter(&mut said));
            assert_eq!(said.options.sack.as_slice(), [(Seq(4), Seq(9))]);
        }
        let mut said = honest;
        lie.alter(&mut said);
        assert_eq!(said, honest);
        // Nothing is missing any more, so the lie conceals the next gap again.
        lie.alter(&mut Segment::EMPTY.clone());
        lie.alter(&mut said);
        assert_eq!(said.options.sack.as_slice(), [(Seq(4), Seq(9))]);
    }
}
