//! *Alters* the echo of an acknowledgement that answers a retransmission: it shows the timestamp of
//! the first segment that arrived after the gap. The sender sent that segment right after the
//! missing data. Without such a segment, it shows the timestamp of the newest original. *Against*
//! Eifel detection by timestamps (RFC 3522, section 6), and its safe variant if neighbouring
//! segments share a timestamp.

use std::collections::VecDeque;

use eifel_packet::segment::{Segment, Timestamps};
use eifel_packet::seq::Seq;

use super::{Lie, after, is_before};

/// The most gaps remembered.
const MOST_GAPS: usize = 1024;

#[derive(Default)]
pub(super) struct ForgedEcho {
    /// The sequence number right after each gap, and the TSval of the segment there. In order.
    gaps: VecDeque<(Seq, u32)>,
    /// The end of the newest original, and its TSval.
    newest: Option<(Seq, u32)>,
    /// The forged echo of the next acknowledgement.
    forged: Option<u32>,
}

impl Lie for ForgedEcho {
    fn observe(&mut self, segment: &Segment, again: bool) {
        let Some(Timestamps { value, .. }) = segment.options.timestamps else { return };
        if again {
            let neighbour = self.gaps.iter().find(|(seq, _)| is_before(segment.seq, *seq));
            self.forged = neighbour.or(self.newest.as_ref()).map(|(_, stamp)| *stamp);
            return;
        }
        if self.newest.is_some_and(|(end, _)| is_before(end, segment.seq)) {
            if self.gaps.len() == MOST_GAPS {
                self.gaps.pop_front();
            }
            self.gaps.push_back((segment.seq, value));
        }
        self.newest = Some((after(segment), value));
    }

    fn alter(&mut self, segment: &mut Segment) -> bool {
        while self.gaps.front().is_some_and(|(seq, _)| is_before(*seq, segment.ack)) {
            self.gaps.pop_front();
        }
        if let (Some(forged), Some(stamps)) = (self.forged.take(), &mut segment.options.timestamps) {
            stamps.echo = forged;
        }
        true
    }
}
