//! A fast path for nearly all sent segments: full segments of new data, and acknowledgements
//! without data, on an open connection.
//!
//! [`plain_departure`](Connection::plain_departure) writes the same segment as
//! [`output`](crate::output), with fewer checks. The result of each skipped check is known:
//!
//! - On an open connection no SYN is due, and no state forbids sending.
//! - Without marks, gaps and a waiting reply, a segment carries only its data and the
//!   acknowledgement.
//! - If data and the peer's window both extend beyond the next full segment, it carries no FIN and
//!   no PSH. Neither Nagle's algorithm nor silly window avoidance delays it.
//! - If the engine has quiet room, data is outstanding. So the user timeout is already running, and
//!   the persist timer is not needed.

use core::ops::ControlFlow;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;
use eifel_packet::segment::{Flags, Segment};
use eifel_recovery::fact::Transmission;

use crate::connection::{Connection, Outgoing};
use crate::delayed_ack::DueAck;

impl Connection {
    /// Writes the next segment as [`poll_transmit`](Self::poll_transmit) does, if the fast path
    /// applies. Otherwise returns `Continue`, with nothing changed.
    #[inline(always)]
    pub(crate) fn plain_departure(&mut self, now: Instant, segment: &mut Segment) -> ControlFlow<Option<Outgoing>> {
        let plain = self.plain
            && self.receiver.due.owed() != DueAck::Alone
            && !self.receiver.has_blocks()
            && self.reply.is_none();
        if !plain {
            return ControlFlow::Continue(());
        }
        if self.engine.una() != self.stream.end() {
            if self.persist.is_some() || !self.is_next_full() {
                return ControlFlow::Continue(());
            }
            match self.engine.quiet_room(self.peer.limit) {
                None => return ControlFlow::Continue(()),
                Some(true) => return ControlFlow::Break(Some(Outgoing::of(self.plain_data(now, segment)))),
                Some(false) => {}
            }
        }
        if self.receiver.due.owed() == DueAck::InTime {
            return ControlFlow::Break(None);
        }
        ControlFlow::Break(Some(self.acknowledgement(now, segment)))
    }

    /// Writes a full segment of new data.
    #[inline(always)]
    fn plain_data(&mut self, now: Instant, segment: &mut Segment) -> Transmission {
        debug_assert!(
            self.user_timeout.until != Instant::NEVER || self.user_timeout.length == Duration::MAX,
            "something is outstanding"
        );
        // No closure, because the compiler would not inline it.
        let timestamps = match &mut self.stamps {
            Some(stamps) => {
                let option = stamps.option(now);
                stamps.sent(now, 0, Timestamp(option.value));
                Some(option)
            }
            None => None,
        };
        let stamp = timestamps.map(|option| Timestamp(option.value));
        let transmission = self.engine.send_quiet(now, stamp);
        debug_assert_eq!(transmission.len, self.mss, "the engine's full segment is the connection's");
        self.write_header(segment, transmission.start, (Flags::ACK, transmission.len), timestamps);
        transmission
    }
}
