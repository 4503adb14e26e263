//! Chooses the length of the next segment. Data is cut at the MSS, and a FIN is sent with the last
//! data. A segment that would be too short waits (silly window avoidance, RFC 9293, section
//! 3.8.6.2.1). For other reasons to wait see [`tail`](crate::tail).

use eifel_base::units::Timestamp;
use eifel_packet::segment::Flags;
use eifel_recovery::engine::Offer;

use crate::connection::Connection;
use crate::tail::Tail;

impl Connection {
    /// Returns the offer to the engine: the data that it may send next, in a segment with timestamp
    /// `stamp`.
    #[inline(always)]
    pub(crate) fn offer(&self, stamp: Option<Timestamp>) -> Offer {
        let end = if self.tail == Tail::Nothing { self.stream.end() } else { self.end_before_tail() };
        let limit = self.peer.limit;
        let full = self.full_segment();
        let next = if self.is_next_full() { full } else { self.last_length(end, limit, full) };
        let finished = self.stream.is_finished();
        let bare_fin = finished && self.engine.nxt() + 1 == self.stream.end();
        let beyond_cwnd = bare_fin && self.rare.open_settings.fin_beyond_cwnd;
        Offer { end, limit, next, full, weightless: u32::from(finished), beyond_cwnd, stamp }
    }

    /// Returns whether the next segment is certainly full: data, record and peer's window all
    /// extend beyond a full segment by more than one position.
    #[inline(always)]
    pub(crate) fn is_next_full(&self) -> bool {
        self.engine.nxt() + u64::from(self.mss) + 1 < self.stream.whole().min(self.peer.limit)
    }

    /// Returns the length of the next segment if data, a record or the peer's window may cut it. 0
    /// if there is no data, or if the data waits for a larger window. The persist timer overrides
    /// that wait.
    #[inline(never)]
    fn last_length(&self, end: u64, limit: u64, full: u32) -> u32 {
        let nxt = self.engine.nxt();
        let (wanted, room) = (end.min(self.stream.whole()).saturating_sub(nxt), limit.saturating_sub(nxt));
        let full = u64::from(full);
        let fits = wanted.min(full);
        // A FIN is added to the last segment even if that is full.
        let fits = if self.stream.is_finished() && wanted == fits + 1 { wanted } else { fits };
        let len = fits.min(room);
        let silly = len < fits && len * 2 < self.peer.largest().min(full * 2);
        if silly { 0 } else { len as u32 }
    }

    /// Returns the flags and the payload bytes of a segment that covers `len` positions from
    /// `start`.
    #[inline]
    pub(crate) fn shape(&self, start: u64, len: u32) -> (Flags, u32) {
        let last = start + u64::from(len);
        let written = self.stream.end() - u64::from(self.stream.is_finished());
        if last < written {
            return (Flags::ACK, len);
        }
        let payload_len = if last > written { len - 1 } else { len };
        let mut flags = if last > written { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        if payload_len > 0 && (self.tail != Tail::Push || self.stream.is_finished()) {
            flags = flags.with(Flags::PSH);
        }
        (flags, payload_len)
    }
}
