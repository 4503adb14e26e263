//! Mathis and Mahdavi, "Forward Acknowledgement: Refining TCP Congestion Control", sections 3.1 and 3.2.

use super::compare;
use crate::sender::{DUP_THRESH, MSS, Next, Repair, Segment, Sender};

/// snd.fack, the forward-most byte that was SACKed in this recovery.
struct Fack {
    fack: u64,
}

impl Repair for Fack {
    /// (snd.fack - snd.una) > (3 * MSS), or three duplicate ACKs.
    fn begins_early(&self, sender: &Sender) -> bool {
        sender.highest_sacked() - sender.una > DUP_THRESH * MSS
    }

    fn begin(&mut self, _: &mut Sender) {
        self.fack = 0;
    }

    fn partial(&mut self, _: &mut Sender, _: u64) -> bool {
        true
    }

    /// Segments below snd.fack that were not SACKed have left the network.
    fn update(&mut self, sender: &mut Sender) {
        self.fack = self.fack.max(sender.highest_sacked());
        for segment in sender.segments.iter_mut().filter(|segment| segment.start < self.fack) {
            segment.lost = true;
        }
    }

    /// while (awnd < cwnd) sendsomething, with awnd = snd.nxt - snd.fack + retran_data
    fn next(&self, sender: &Sender, _: u64) -> Next {
        let retransmitted = sender.segments.iter().filter(|segment| segment.resent && !segment.sacked);
        let retran_data: u64 = retransmitted.map(Segment::len).sum();
        let room = sender.congest.cwnd.saturating_sub(sender.nxt - self.fack + retran_data);
        let missing = |segment: &Segment| segment.start < self.fack && !segment.sacked && !segment.resent;
        sender.segments.iter().position(missing).map_or(Next::New(room), |index| Next::Again(index, room))
    }
}

#[test]
fn fack_agrees_with_a_model_of_mathis_and_mahdavi() {
    compare("fack", true, &mut Fack { fack: 0 });
}
