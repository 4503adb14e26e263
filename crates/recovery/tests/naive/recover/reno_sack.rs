//! Fall and Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK TCP", section 3.

use super::compare;
use crate::sender::{DUP_THRESH, Left, MSS, Next, Repair, Sender};

/// The estimated number of bytes outstanding in the path.
pub struct RenoSack {
    pub pipe: u64,
}

impl Repair for RenoSack {
    /// The outstanding bytes, less the segments that duplicates report as gone from the network.
    fn begin(&mut self, sender: &mut Sender) {
        self.pipe = sender.outstanding().saturating_sub(DUP_THRESH * MSS);
    }

    /// pipe is decremented for a duplicate ACK, and by two for a partial ACK.
    fn duplicate(&mut self, _: &mut Sender) {
        self.pipe = self.pipe.saturating_sub(MSS);
    }

    fn partial(&mut self, _: &mut Sender, _: u64) -> bool {
        self.pipe = self.pipe.saturating_sub(2 * MSS);
        true
    }

    /// pipe is incremented by new and retransmitted bytes.
    fn sent(&mut self, left: &Left) {
        self.pipe += left.end - left.start;
    }

    /// Holes below the highest block first, then new data, while pipe is below cwnd.
    fn next(&self, sender: &Sender, now: u64) -> Next {
        let room = sender.within_a_round_trip(now, sender.congest.cwnd.saturating_sub(self.pipe));
        let highest = sender.highest_sacked();
        let hole =
            sender.segments.iter().position(|segment| !segment.sacked && !segment.resent && segment.start < highest);
        hole.map_or(Next::New(room), |index| Next::Again(index, room))
    }
}

#[test]
fn reno_sack_agrees_with_a_model_of_fall_and_floyd() {
    compare("reno-sack", true, &mut RenoSack { pipe: 0 });
}
