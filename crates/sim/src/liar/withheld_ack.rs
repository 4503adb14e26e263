//! *Alters* the number of the first acknowledgement after a retransmission: only that has arrived, it says, though more
//! waited behind it; and the next tells the truth. Two ACKs that advance are F-RTO's proof.
//! *Against* F-RTO (RFC 5682, section 5).

use eifel_packet::segment::{SackBlocks, Segment};
use eifel_packet::seq::Seq;

use super::{Lie, after, is_before};

#[derive(Default)]
pub(super) struct WithheldAck {
    /// The end of a retransmission that is to be answered.
    admitted: Option<Seq>,
}

impl Lie for WithheldAck {
    fn hears(&mut self, segment: &Segment, again: bool) {
        self.admitted = again.then(|| after(segment));
    }

    fn says(&mut self, segment: &mut Segment) -> bool {
        if let Some(admitted) = self.admitted.take().filter(|admitted| is_before(*admitted, segment.ack)) {
            segment.ack = admitted;
            segment.options.sack = SackBlocks::EMPTY;
        }
        true
    }
}
