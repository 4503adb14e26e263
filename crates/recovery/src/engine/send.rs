//! What leaves, and when.

use super::{Engine, Handshake};
use crate::fact::{Block, Cause, Kind, Transmission, TxId};
use crate::pace::Permit;
use crate::recover::{HighRxt, Next};
use core::ops::ControlFlow;
use eifel_base::time::{Duration, Instant};
use eifel_base::units::Timestamp;

/// What the connection has to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offer {
    /// First position that there is nothing for yet: beyond the SYN, the written data, or the FIN.
    pub end: u64,
    /// Whether the last position before `end` is a FIN, which takes no room in a segment.
    pub fin: bool,
    /// First position beyond the peer's window.
    pub limit: u64,
    /// TSval that a segment sent now would carry.
    pub stamp: Option<Timestamp>,
}

/// The longest between two probes of a closed window, unless the timer itself is longer: as stacks since 4.4BSD have it.
const LONGEST_PERSIST: Duration = Duration::from_secs(60);

impl Engine {
    /// The next thing to transmit now; it counts as sent. Call after every input until it gives `None`.
    #[inline(always)]
    pub fn poll_send(&mut self, now: Instant, offer: &Offer) -> Option<Transmission> {
        self.note_limit(offer.limit);
        if let ControlFlow::Break(sent) = self.poll_quiet(now, offer) {
            return sent;
        }
        // The other way gets copies, so that offer and transmission stay in registers on this one: read back from memory as a
        // whole, right after they were written in parts, they would cost more than all the rest.
        let Transmission { id, start, len, kind, copy } = self.poll_any(now, &Offer { ..*offer })?;
        Some(Transmission { id, start, len, kind, copy })
    }

    /// The peer's window ends before `limit`.
    #[inline(always)]
    pub(super) fn note_limit(&mut self, limit: u64) {
        if limit != self.limit {
            self.limit = limit;
            self.largest_window = self.largest_window.max(limit.saturating_sub(self.board.una()));
        }
    }

    /// The same in any case.
    #[inline(never)]
    fn poll_any(&mut self, now: Instant, offer: &Offer) -> Option<Transmission> {
        let unsent = offer.end.min(offer.limit) > self.board.nxt();
        let room = match self.room {
            // Since recovery was asked, nothing has come that would have to go first.
            Some(room) if unsent && self.path.pace.is_none() && self.probe.is_none() => room,
            _ => match self.find_room(now, offer, unsent) {
                ControlFlow::Continue(room) => room,
                ControlFlow::Break(other) => return other,
            },
        };
        self.send_new(now, offer, room)
    }

    /// How many bytes of new data may go; or what goes before it, and nothing if everything waits.
    #[inline(never)]
    fn find_room(&mut self, now: Instant, offer: &Offer, unsent: bool) -> ControlFlow<Option<Transmission>, u64> {
        self.look(now);
        if self.window_probe_due {
            return ControlFlow::Break(self.send_probe(now, offer));
        }
        if self.handshake.is_some() {
            return ControlFlow::Break(self.send_syn(now, offer));
        }
        match self.path.permit(now) {
            Permit::Now => self.path.released_at = Instant::NEVER,
            Permit::At(instant) => {
                let has_work = self.has_work(offer);
                self.path.released_at = if has_work { instant } else { Instant::NEVER };
                if !has_work {
                    self.persist(now, offer);
                }
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
        match self.ask_recovery(now, offer, unsent) {
            Next::Retransmit { at, room, mark } => ControlFlow::Break(self.send_again(now, offer, (at, room), mark)),
            Next::New { room } if unsent => ControlFlow::Continue(room),
            Next::New { .. } => {
                self.persist(now, offer);
                ControlFlow::Break(None)
            }
        }
    }

    fn ask_recovery(&mut self, now: Instant, offer: &Offer, unsent: bool) -> Next {
        self.room = None;
        if self.board.outstanding() == 0 && offer.end > self.board.nxt() {
            self.path.restart_after_idle(now);
        }
        self.recovery.next(&self.board, &self.path.window, self.path.watch.view(), unsent)
    }

    fn has_work(&self, offer: &Offer) -> bool {
        offer.end.min(offer.limit) > self.board.nxt() || self.board.lost_below() > self.board.una()
    }

    pub(super) fn send_new(&mut self, now: Instant, offer: &Offer, room: u64) -> Option<Transmission> {
        let nxt = self.board.nxt();
        let idle = self.board.outstanding() == 0;
        let len = match u64::from(self.path.watch.view().mss) {
            // Nothing ends near it.
            full if full + 1 < offer.end.min(offer.limit) - nxt => full,
            _ => {
                let Some(len) = self.last_length(offer) else {
                    if idle {
                        self.persist(now, offer);
                    }
                    return None;
                };
                len
            }
        };
        if len > room && !idle {
            self.leave_room(room);
            return None;
        }
        self.leave_room(room.saturating_sub(len));
        self.probes = 0;
        let len = len as u32;
        self.note_new(now, len, offer.stamp);
        Some(self.sent(now, Transmission { id: TxId(0), start: nxt, len, kind: Kind::New, copy: 0 }))
    }

    /// Lets `room` more bytes leave before loss recovery is asked again. It is never asked while all is quiet.
    #[inline(always)]
    fn leave_room(&mut self, room: u64) {
        if !self.quiet {
            self.room = Some(room);
        }
    }

    /// How long the next segment of new data is where the data or the peer's window end with it or soon after; `None` if
    /// it waits for room (silly window avoidance, RFC 9293, section 3.8.6.2.1; the persist timer overrides it).
    #[inline(never)]
    fn last_length(&self, offer: &Offer) -> Option<u64> {
        let nxt = self.board.nxt();
        let wanted = offer.end - nxt;
        let fits = wanted.min(u64::from(self.path.watch.view().mss));
        // A FIN rides on the last segment even if that is full.
        let fits = if offer.fin && wanted == fits + 1 { wanted } else { fits };
        let len = fits.min(offer.limit - nxt);
        let silly = len < fits && len * 2 < self.largest_window.min(u64::from(self.path.watch.view().mss) * 2);
        (!silly).then_some(len)
    }

    #[inline(never)]
    fn send_again(
        &mut self,
        now: Instant,
        offer: &Offer,
        (at, room): (u64, u64),
        mark: HighRxt,
    ) -> Option<Transmission> {
        let whole = self.board.segment_at(at)?;
        let mss = u64::from(self.path.watch.view().mss);
        // The path may take less than when it was sent first; a FIN rides on a full segment.
        let fin = u64::from(offer.fin && whole.end == offer.end && whole.end - at == mss + 1);
        let block = Block { start: at, end: whole.end.min(at + mss + fin) };
        let len = block.end - block.start;
        if len > room && self.board.pipe() > 0 {
            return None;
        }
        let cause = self.episode().map_or(Cause::Timeout, |episode| episode.cause);
        self.quiet = false;
        let (copy, original) = self.board.on_retransmission(now, block, mark);
        let kind = Kind::Retransmission(cause);
        let transmission = self.sent(now, Transmission { id: TxId(0), start: at, len: len as u32, kind, copy });
        self.path.watch.on_retransmission(&transmission, offer.stamp, original);
        Some(transmission)
    }

    #[inline(always)]
    pub(super) fn note_new(&mut self, now: Instant, len: u32, stamp: Option<Timestamp>) {
        self.board.on_new(now, len, stamp);
        self.path.watch.on_new(now, self.board.nxt());
    }

    /// Takes note of a repetition that repairs no presumed loss; returns how often its first position was sent before.
    fn note_repeat(&mut self, now: Instant, start: u64) -> u32 {
        self.quiet = false;
        self.path.watch.on_repeat(start);
        self.board.on_retransmission(now, Block { start, end: start + 1 }, HighRxt::Advance).0
    }

    /// The SYN, for the first time or after its timer has expired.
    #[inline(never)]
    fn send_syn(&mut self, now: Instant, offer: &Offer) -> Option<Transmission> {
        let again = self.board.outstanding() > 0;
        let repeats = self.handshake.as_mut().is_some_and(|handshake| std::mem::take(&mut handshake.repeats));
        let (kind, copy) = if again && repeats {
            (Kind::Retransmission(Cause::Timeout), self.note_repeat(now, 0))
        } else if !again && offer.end > 0 && self.board.nxt() == 0 {
            self.note_new(now, 1, offer.stamp);
            (Kind::New, 0)
        } else {
            return None;
        };
        Some(self.sent(now, Transmission { id: TxId(0), start: 0, len: 1, kind, copy }))
    }

    /// One byte, or what fits, into a window that the peer has closed.
    #[inline(never)]
    fn send_probe(&mut self, now: Instant, offer: &Offer) -> Option<Transmission> {
        self.window_probe_due = false;
        let (start, len, copy) = if self.board.outstanding() > 0 {
            let start = self.board.una();
            (start, 1, self.note_repeat(now, start))
        } else {
            let start = self.board.nxt();
            if offer.end <= start {
                return None;
            }
            let len = offer
                .limit
                .saturating_sub(start)
                .clamp(1, u64::from(self.path.watch.view().mss))
                .min(offer.end - start) as u32;
            self.note_new(now, len, offer.stamp);
            (start, len, 0)
        };
        self.path.start_timer(now);
        self.probes = self.probes.saturating_add(1);
        Some(self.sent(now, Transmission { id: TxId(0), start, len, kind: Kind::Probe, copy }))
    }

    /// Its name, and what the seams see of it.
    #[inline(always)]
    pub(super) fn named(&mut self, transmission: Transmission) -> Transmission {
        let id = TxId(self.next_id);
        self.next_id += 1;
        Transmission { id, ..transmission }
    }

    #[inline]
    fn sent(&mut self, now: Instant, transmission: Transmission) -> Transmission {
        let transmission = self.named(transmission);
        if !self.quiet {
            self.recovery.on_sent(transmission.positions(), transmission.kind);
        }
        self.persist = Instant::NEVER;
        self.path.on_sent(now, transmission.len);
        transmission
    }

    /// Nothing may be sent into the peer's window and nothing is outstanding that would bring an ACK.
    fn persist(&mut self, now: Instant, offer: &Offer) {
        let waiting = offer.end > self.board.nxt() && self.board.outstanding() == 0;
        if waiting && self.persist == Instant::NEVER {
            // The interval grows though the probes are taken: a window that stays closed must not be fed byte by byte as
            // fast as the round trip allows (RFC 9293, section 3.8.6.1).
            let first = self.path.rto.expires(now, now).since(now);
            let interval = (first * (1 << self.probes.min(30))).min(LONGEST_PERSIST.max(first));
            self.persist = now + interval;
            self.path.stop_timer();
        }
    }
}

impl Engine {
    /// The SYN goes out again though its timer has not expired: the peer has shown that it has not had it.
    pub fn repeat_syn(&mut self) {
        let outstanding = self.board.outstanding() > 0;
        if let Some(Handshake { repeats, .. }) = &mut self.handshake {
            *repeats |= outstanding;
        }
    }
}
