//! *Alters* the number of the first acknowledgement after a retransmission: it acknowledges only
//! the retransmission, although more data has arrived behind it. The next acknowledgement is
//! honest. F-RTO takes two ACKs that advance the window as proof. *Against* F-RTO (RFC 5682,
//! section 5).

use eifel_packet::segment::{SackBlocks, Segment};
use eifel_packet::seq::Seq;

use super::{Lie, after, is_before};

#[derive(Default)]
pub(super) struct WithheldAck {
    /// The end of the retransmission to acknowledge.
    admitted: Option<Seq>,
}

impl Lie for WithheldAck {
    fn observe(&mut self, segment: &Segment, again: bool) {
        self.admitted = again.then(|| after(segment));
    }

    fn alter(&mut self, segment: &mut Segment) -> bool {
        if let Some(admitted) = self.admitted.take().filter(|admitted| is_before(*admitted, segment.ack)) {
            segment.ack = admitted;
            segment.options.sack = SackBlocks::EMPTY;
        }
        true
    }
}
