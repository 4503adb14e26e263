//! Header prediction (Jacobson). Nearly all segments on an open connection are the next in order,
//! with no flag except ACK and perhaps PSH.
//!
//! [`plain_arrival`](Connection::plain_arrival) handles them as [`input`](crate::input) would, with
//! fewer checks. The result of each skipped check is known:
//!
//! - A segment that begins at RCV.NXT is acceptable, and no part of it is old.
//! - Without SYN, RST and FIN there is nothing to answer, to close or to challenge.
//! - An acknowledgement from SND.UNA to SND.NXT is acceptable in every state in which data flows.
//! - If no data is outstanding and the window is unchanged, an acknowledgement without SACK blocks
//!   on a data segment has no effect.

use eifel_base::time::Instant;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::wrap;
use eifel_recovery::fact::Block;

use crate::connection::Connection;
use crate::receive::Arrival;

impl Connection {
    /// Processes a segment if header prediction applies. Otherwise returns `false`, with nothing
    /// changed.
    #[inline(always)]
    pub(crate) fn plain_arrival(&mut self, now: Instant, segment: &Segment, payload: &[u8]) -> bool {
        let (una, nxt) = (self.engine.una(), self.engine.nxt());
        let start = self.receiver.nxt;
        // An ACK below `una` wraps to a number larger than any window.
        let acknowledged = u64::from(segment.ack.0.wrapping_sub(wrap(una, self.iss).0));
        let plain = segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.seq == wrap(start, self.receiver.irs)
            && acknowledged <= nxt - una;
        if !plain {
            return false;
        }
        if let Some(stamps) = &mut self.stamps {
            match segment.options.timestamps {
                Some(stamp) if !stamps.is_old(now, stamp.value) => {
                    stamps.accept(now, stamp.value, start, self.receiver.last_ack_sent);
                }
                _ => return false,
            }
        }
        if segment.payload_len == 0 {
            self.take_current_acknowledgement(now, segment, Block { start, end: start }, una + acknowledged);
            return true;
        }
        let block = Block { start, end: start + u64::from(segment.payload_len) };
        let acknowledges = una < nxt || !segment.options.sack.is_empty();
        if acknowledges || !self.peer.is_unchanged(start, una, segment.window) {
            self.take_current_acknowledgement(now, segment, block, una + acknowledged);
        }
        match self.receiver.take_next(now, block.end, payload) {
            Arrival::Nothing => {}
            news => self.tell_arrival(now, segment, news),
        }
        true
    }
}
