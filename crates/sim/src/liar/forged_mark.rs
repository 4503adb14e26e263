//! *Alters* the mark of an acknowledgement that answers a retransmission: the acknowledgement
//! claims to answer an original. *Against* Eifel detection by a bit (Ludwig, chapter 5, section
//! 5.2.1).

use eifel_packet::segment::{Flags, Segment};

use super::Lie;

pub(super) struct ForgedMark;

impl Lie for ForgedMark {
    fn observe(&mut self, _: &Segment, _: bool) {}

    fn alter(&mut self, segment: &mut Segment) -> bool {
        segment.flags = Flags(segment.flags.0 & !Flags::ANSWERS_SENT_AGAIN.0);
        true
    }
}
