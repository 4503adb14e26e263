//! TIME-WAIT in stacks that accept a new connection from the same peer meanwhile (RFC 9293, section
//! 3.10.7.4, fourth check, and RFC 1122, section 4.2.2.13).

use eifel_base::time::Instant;
use eifel_packet::segment::{Flags, Segment};
use eifel_packet::seq::{Seq, unwrap, wrap};
use eifel_recovery::fact::Block;

use crate::connection::Connection;
use crate::handshake::length;
use crate::settings::TimeWait;
use crate::state::State;

/// Distance from the last connection's sequence numbers to those of the next, if the proposed
/// number is too low. It exceeds any window without scaling.
const BEYOND: u64 = 0x1_0000;

impl Connection {
    /// Returns the initial sequence number for a listener's answer to `segment`. `None` if the
    /// segment is not a SYN beyond all arrived data that may reopen the connection. The number is
    /// `proposed` if it is beyond all sent data, otherwise a number that is. So no old segment fits
    /// the new connection.
    pub fn makes_way(&self, segment: &Segment, proposed: Seq) -> Option<Seq> {
        let calls = segment.flags.has(Flags::SYN) && segment.flags.0 & (Flags::ACK.0 | Flags::RST.0) == 0;
        let reopens = self.rare.open_settings.time_wait_rule == TimeWait::Reopens;
        let over = matches!(self.state, State::TimeWait { .. });
        if !(calls && reopens && over) || self.receiver.position(segment.seq) <= self.receiver.nxt {
            return None;
        }
        let nxt = self.engine.nxt();
        let lies_beyond = unwrap(nxt, self.iss, proposed) > nxt;
        Some(if lies_beyond { proposed } else { wrap(nxt + BEYOND, self.iss) })
    }

    /// Returns whether [`late_arrival`](Self::late_arrival) handles a segment in TIME-WAIT. Resets
    /// follow RFC 5961 instead.
    pub(crate) fn is_late(&self, segment: &Segment) -> bool {
        self.rare.open_settings.time_wait_rule == TimeWait::Reopens && !segment.flags.has(Flags::RST)
    }

    /// Processes a segment in TIME-WAIT as 4.4BSD's stacks do. A segment without ACK is dropped,
    /// and a bare acknowledgement without news is ignored. Any other segment is answered.
    pub(crate) fn late_arrival(&mut self, now: Instant, segment: &Segment) {
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        let start = self.receiver.position(segment.seq);
        let block = Block { start, end: start + length(segment) };
        let ack = unwrap(self.engine.nxt(), self.iss, segment.ack);
        let known = segment.flags == Flags::ACK && block.start == block.end;
        if known && start == self.receiver.nxt && ack == self.engine.nxt() {
            return;
        }
        if segment.flags.has(Flags::FIN) {
            self.set_state(State::TimeWait { until: now + self.rare.open_settings.time_wait });
        }
        if segment.flags.has(Flags::SYN) {
            return self.challenge(now);
        }
        self.answer_unacceptable(now, block);
    }
}
