//! Sending: the next segment, and whether it may be sent now.

use super::Engine;
use crate::fact::{Block, Cause, Kind, Transmission, TxId};
use crate::pace::Permit;
use crate::recover::{HighRxt, Next};
use core::ops::ControlFlow;
use eifel_base::time::Instant;
use eifel_base::units::Timestamp;

/// The data that the connection has to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// End of the written data: the first position without data.
    pub end: u64,
    /// First position beyond the peer's window.
    pub limit: u64,
    /// Positions of the next segment of new data; 0 if there is none, or the connection delays it.
    pub next: u32,
    /// Payload bytes of a full segment sent now: the MSS, or less while TCP options need room.
    pub full: u32,
    /// Positions before `end` that take no room in a segment: 1 for TCP's FIN.
    pub weightless: u32,
    /// Whether the next segment may be sent although cwnd is full, because it carries no data.
    pub beyond_cwnd: bool,
    /// TSval that a segment sent now would carry.
    pub stamp: Option<Timestamp>,
}

impl Engine {
    /// Returns an offer of the data written up to `end`, in full segments and a shorter last one. A
    /// connection that segments in another way changes [`next`](Offer::next).
    #[inline(always)]
    pub fn offer(&self, end: u64, limit: u64, stamp: Option<Timestamp>) -> Offer {
        let full = self.path.watch.view().mss;
        let next = end.min(limit).saturating_sub(self.board.nxt()).min(u64::from(full)) as u32;
        Offer { end, limit, next, full, weightless: 0, beyond_cwnd: false, stamp }
    }

    /// Returns the next segment to transmit now, and records it as sent. Must be called after every
    /// input until it returns `None`.
    #[inline(always)]
    pub fn poll_send(&mut self, now: Instant, offer: &Offer) -> Option<Transmission> {
        let room = self.quiet_room(offer.limit);
        if offer.next == self.path.watch.view().mss {
            match room {
                Some(true) => return Some(self.send_quiet(now, offer.stamp)),
                Some(false) => return None,
                None => {}
            }
        }
        // The full version gets copies, so that offer and transmission stay in registers in the
        // shortcut. Otherwise they would be written to memory in parts and read back as a whole.
        // That would cost more than everything else.
        let Transmission { id, start, len, kind, copy } = self.poll_any(now, &Offer { ..*offer })?;
        Some(Transmission { id, start, len, kind, copy })
    }

    /// Returns the next segment without the shortcut.
    #[inline(never)]
    fn poll_any(&mut self, now: Instant, offer: &Offer) -> Option<Transmission> {
        let unsent = offer.end.min(offer.limit) > self.board.nxt();
        let room = match self.room {
            // Since loss recovery was last asked, nothing has come up that must be sent first.
            Some(room) if unsent && self.path.pace.is_none() && self.probe.is_none() => room,
            _ => match self.find_room(now, offer, unsent) {
                ControlFlow::Continue(room) => room,
                ControlFlow::Break(other) => return other,
            },
        };
        self.send_new(now, offer, room)
    }

    /// Returns how many bytes of new data may be sent. Breaks with the segment that is sent before
    /// new data, or with `None` if everything must wait.
    #[inline(never)]
    fn find_room(&mut self, now: Instant, offer: &Offer, unsent: bool) -> ControlFlow<Option<Transmission>, u64> {
        self.update_view(now);
        match self.path.permit(now) {
            Permit::Now => self.path.released_at = Instant::NEVER,
            Permit::At(instant) => {
                let has_work = unsent || self.board.lost_below() > self.board.una();
                self.path.released_at = if has_work { instant } else { Instant::NEVER };
                return ControlFlow::Break(None);
            }
            Permit::NextInput => return ControlFlow::Break(None),
        }
        if let Some(answer) = self.probe_with_new(now, offer) {
            return ControlFlow::Break(answer);
        }
        if unsent && let Some(room) = self.room {
            return ControlFlow::Continue(room);
        }
        self.room = None;
        if self.board.outstanding() == 0 && unsent {
            self.path.restart_after_idle(now);
        }
        match self.recovery.next(&self.board, &self.path.window, self.path.watch.view(), unsent) {
            Next::Retransmit { at, room, mark } => {
                ControlFlow::Break(self.send_retransmission(now, offer, (at, room), mark))
            }
            Next::New { room } if unsent => ControlFlow::Continue(room),
            Next::New { .. } => ControlFlow::Break(None),
        }
    }

    /// Sends the next segment of new data, if there is one and `room` bytes suffice. While nothing
    /// is outstanding, `room` does not matter.
    pub(super) fn send_new(&mut self, now: Instant, offer: &Offer, room: u64) -> Option<Transmission> {
        let len = u64::from(offer.next);
        if len == 0 {
            return None;
        }
        if len > room && self.board.outstanding() > 0 && !offer.beyond_cwnd {
            self.leave_room(room);
            return None;
        }
        self.leave_room(room.saturating_sub(len));
        Some(self.send_first(now, offer.next, offer.stamp, Kind::New))
    }

    /// Sends `len` positions for the first time.
    fn send_first(&mut self, now: Instant, len: u32, stamp: Option<Timestamp>, kind: Kind) -> Transmission {
        let start = self.board.nxt();
        self.note_new(now, len, stamp);
        self.sent(now, Transmission { id: TxId(0), start, len, kind, copy: 0 })
    }

    /// Sends the position `start` again, without repairing a presumed loss.
    fn send_duplicate(&mut self, now: Instant, start: u64, kind: Kind) -> Transmission {
        self.quiet = false;
        self.path.watch.on_repeat(start);
        let (copy, _) = self.board.on_retransmission(now, Block { start, end: start + 1 }, HighRxt::Advance);
        self.sent(now, Transmission { id: TxId(0), start, len: 1, kind, copy })
    }

    /// Allows `room` more bytes before loss recovery is asked again. Loss recovery is never asked
    /// while the engine is quiet.
    #[inline(always)]
    fn leave_room(&mut self, room: u64) {
        if !self.quiet {
            self.room = Some(room);
        }
    }

    /// Retransmits a segment from `at` on, cut to a full segment's length now. Returns `None` if `room` does
    /// not suffice.
    #[inline(never)]
    fn send_retransmission(
        &mut self,
        now: Instant,
        offer: &Offer,
        (at, room): (u64, u64),
        mark: HighRxt,
    ) -> Option<Transmission> {
        let whole = self.board.segment_at(at)?;
        let full = u64::from(offer.full);
        let longest = if whole.end == offer.end { full + u64::from(offer.weightless) } else { full };
        let len = if whole.end - at <= longest { whole.end - at } else { full };
        if len > room && self.board.pipe() > 0 {
            return None;
        }
        let cause = self.episode().map_or(Cause::Timeout, |episode| episode.cause);
        self.quiet = false;
        let (copy, original) = self.board.on_retransmission(now, Block { start: at, end: at + len }, mark);
        let kind = Kind::Retransmission(cause);
        let transmission = self.sent(now, Transmission { id: TxId(0), start: at, len: len as u32, kind, copy });
        self.path.watch.on_retransmission(&transmission, offer.stamp, original);
        Some(transmission)
    }

    /// Sends the handshake's segment, which takes position 0: first at once, then again after its
    /// timer has expired or [`repeat_handshake`](Self::repeat_handshake) was called. Returns `None`
    /// otherwise.
    #[inline(never)]
    pub fn poll_handshake(&mut self, now: Instant, stamp: Option<Timestamp>) -> Option<Transmission> {
        let handshake = self.handshake.as_mut()?;
        let repeats = std::mem::take(&mut handshake.repeats);
        self.update_view(now);
        if self.board.nxt() == 0 {
            return Some(self.send_first(now, 1, stamp, Kind::New));
        }
        (repeats && self.board.outstanding() > 0)
            .then(|| self.send_duplicate(now, 0, Kind::Retransmission(Cause::Timeout)))
    }

    /// Requests that the handshake's segment is sent again before its timer expires, because the
    /// peer has shown that it lacks the segment.
    pub fn repeat_handshake(&mut self) {
        let outstanding = self.board.outstanding() > 0;
        if let Some(handshake) = &mut self.handshake {
            handshake.repeats |= outstanding;
        }
    }

    /// Probes a window that the peer has closed. Sends the first outstanding byte, or `len`
    /// positions of new data if nothing is outstanding. Restarts the retransmission timer.
    #[inline(never)]
    pub fn probe_window(&mut self, now: Instant, len: u32, stamp: Option<Timestamp>) -> Transmission {
        self.update_view(now);
        self.path.start_timer(now);
        if self.board.outstanding() > 0 {
            self.send_duplicate(now, self.board.una(), Kind::WindowProbe)
        } else {
            self.send_first(now, len, stamp, Kind::WindowProbe)
        }
    }

    /// Records new data on the scoreboard and in the watch.
    #[inline(always)]
    pub(super) fn note_new(&mut self, now: Instant, len: u32, stamp: Option<Timestamp>) {
        self.board.on_new(now, len, stamp);
        self.path.watch.on_new(now, self.board.nxt());
    }

    /// Gives a transmission an id. No id is used twice.
    #[inline(always)]
    pub(super) fn with_id(&mut self, transmission: Transmission) -> Transmission {
        let id = TxId(self.next_id);
        self.next_id += 1;
        Transmission { id, ..transmission }
    }

    /// Gives a transmission an id, and informs loss recovery, timer and pacing of it.
    #[inline]
    fn sent(&mut self, now: Instant, transmission: Transmission) -> Transmission {
        let transmission = self.with_id(transmission);
        if !self.quiet {
            self.recovery.on_sent(now, transmission.positions(), transmission.kind);
        }
        self.path.on_sent(now, transmission.len);
        transmission
    }
}
