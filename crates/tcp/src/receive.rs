//! The receiving side: arrived data, acknowledgements, and the advertised window.

use eifel_base::time::Instant;
use eifel_packet::segment::SackBlocks;
use eifel_packet::seq::{Seq, unwrap, wrap};
use eifel_recovery::fact::Block;

use crate::delayed_ack::{AckPace, Due};
use crate::reassembly::Reassembly;
use crate::recv_stream::RecvStream;
use crate::sack::SackReport;
use crate::settings::{OutOfOrderAck, SackUse, Settings};
use crate::window::ReceiveWindow;

/// The effect of a segment for the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// No change.
    Nothing,
    /// Data can be read, and none could before.
    Readable,
    /// The peer's FIN and all data before it have arrived. `readable` says whether data can be
    /// read, and none could before.
    Finished { readable: bool },
}

/// The receiving side of a synchronised connection.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// RCV.NXT.
    pub(crate) nxt: u64,
    /// The peer's initial sequence number.
    pub(crate) irs: Seq,
    /// The acknowledgement due to the peer.
    pub(crate) due: Due,
    /// Last.ACK.sent of RFC 7323, section 4.3.
    pub(crate) last_ack_sent: u64,
    pub(crate) window: ReceiveWindow,
    stream: RecvStream,
    /// The position of the peer's FIN, or [`u64::MAX`] before it has arrived.
    fin: u64,
    pace: AckPace,
    sack: SackUse,
    out_of_order_ack: OutOfOrderAck,
    /// Bytes of window that limit the number of blocks beyond a gap.
    held: u32,
    /// `None` while all arrived data is in order, and no SACK block is left to report.
    out_of_order: Option<Box<OutOfOrder>>,
}

/// Segments out of order.
#[derive(Clone, Debug)]
struct OutOfOrder {
    queue: Reassembly,
    report: SackReport,
}

impl Receiver {
    /// Makes the receiving side after a SYN with sequence number `irs`. The peer's full segments
    /// carry `full_size` bytes, and the window field is shifted by `shift`.
    pub(crate) fn new(settings: &Settings, irs: Seq, full_size: u32, shift: u8, sack: SackUse) -> Self {
        let window = ReceiveWindow::of(settings, full_size, shift);
        Self {
            nxt: 1,
            irs,
            due: Due::NOTHING,
            last_ack_sent: 1,
            window,
            stream: RecvStream::new(settings.receive, window.buffer()),
            fin: u64::MAX,
            pace: AckPace::new(&settings.acks, full_size),
            sack,
            out_of_order_ack: settings.acks.out_of_order,
            held: u32::try_from(window.buffer()).unwrap_or(u32::MAX).max(settings.receive_window),
            out_of_order: None,
        }
    }

    /// Returns the position of a sequence number of the peer.
    #[inline]
    pub(crate) fn position(&self, seq: Seq) -> u64 {
        unwrap(self.nxt, self.irs, seq)
    }

    /// Returns whether a segment of positions `start..end` is acceptable (RFC 9293, section 3.4,
    /// the four cases). A segment without positions may be at the very end of the window, as every
    /// ACK of a peer that has filled the window.
    #[inline]
    pub(crate) fn accepts(&self, start: u64, end: u64) -> bool {
        if start == self.nxt {
            return true;
        }
        let last = end.max(start + 1) - 1;
        if start == end {
            self.nxt <= start && start <= self.window.edge
        } else {
            last >= self.nxt && start < self.window.edge
        }
    }

    /// Returns the number of blocks that have arrived beyond a gap.
    pub(crate) fn pieces(&self) -> usize {
        self.out_of_order.as_ref().map_or(0, |out_of_order| out_of_order.queue.pieces())
    }

    /// Returns the number of bytes of data that have arrived in order.
    #[inline]
    pub(crate) fn arrived(&self) -> u64 {
        self.nxt.min(self.fin) - 1
    }

    /// Processes the positions of an acceptable segment. The last position is a FIN if `fin` is
    /// set. `payload` is empty if bytes are not stored.
    pub(crate) fn take(&mut self, now: Instant, block: Block, fin: bool, payload: &[u8]) -> Arrival {
        let next = block.start == self.nxt && !fin;
        if next { self.take_next(now, block.end, payload) } else { self.take_any(block, fin, payload) }
    }

    /// Processes the positions from RCV.NXT up to `end`, without a FIN.
    #[inline(always)]
    pub(crate) fn take_next(&mut self, now: Instant, end: u64, payload: &[u8]) -> Arrival {
        let start = self.nxt;
        if end > self.window.edge || end > self.fin || self.out_of_order.is_some() {
            return self.take_any(Block { start, end }, false, payload);
        }
        self.due.in_order(now, end - start, &self.pace);
        if self.stream.is_drained() {
            self.nxt = end;
            self.after_read(end - start);
            return Arrival::Nothing;
        }
        let before = self.unread();
        self.stream.put(start - 1, payload);
        self.nxt = end;
        if before == 0 && self.unread() > 0 { Arrival::Readable } else { Arrival::Nothing }
    }

    /// Processes any segment, on the full path.
    #[inline(never)]
    fn take_any(&mut self, block: Block, fin: bool, payload: &[u8]) -> Arrival {
        let start = block.start;
        // A second FIN at another position takes no position: there would be no byte to read at it.
        let second = fin && self.fin != u64::MAX && block.end != self.fin + 1;
        let (fin, end) = if second { (false, block.end - 1) } else { (fin, block.end) };
        // Positions beyond the window or beyond the FIN are cut off.
        let kept = end.min(self.window.edge).min(self.fin.saturating_add(1));
        match self.out_of_order_ack {
            OutOfOrderAck::Alone => self.due.alone(),
            OutOfOrderAck::WithData => self.due.now(),
        }
        if kept <= start.max(self.nxt) {
            self.note_duplicate(Block { start, end: end.min(self.nxt) });
            return Arrival::Nothing;
        }
        if fin && self.fin == u64::MAX {
            self.fin = end - 1;
        }
        let whole = Block { start, end: kept };
        match start < self.nxt {
            true => self.note_duplicate(Block { start, end: self.nxt }),
            false => {
                let overlap =
                    self.out_of_order.as_ref().and_then(|out_of_order| out_of_order.queue.first_overlap(whole));
                if let Some(overlap) = overlap {
                    self.note_duplicate(overlap);
                }
            }
        }
        let new = Block { start: start.max(self.nxt), end: kept };
        self.store(start, new, payload);
        if new.start > self.nxt {
            let OutOfOrder { report, queue } = self.out_of_order_mut();
            report.touch(new.start, queue);
            return Arrival::Nothing;
        }
        self.advance(new)
    }

    /// Adds the new part of `new` to the queue, and its bytes to the stream. Bytes that arrived
    /// earlier are not overwritten.
    fn store(&mut self, start: u64, new: Block, payload: &[u8]) {
        self.out_of_order_mut();
        let Self { out_of_order: Some(out_of_order), stream, fin, .. } = self else { return };
        let limit = start + payload.len() as u64;
        out_of_order.queue.insert(new, |gap| {
            let end = gap.end.min(limit).min(*fin);
            if gap.start < end {
                stream.put(gap.start - 1, &payload[(gap.start - start) as usize..(end - start) as usize]);
            }
        });
    }

    /// Advances RCV.NXT over `new`, which begins there, and over the adjacent data that arrived
    /// earlier.
    fn advance(&mut self, new: Block) -> Arrival {
        let (unread, nxt) = (self.unread(), self.nxt.max(new.start));
        self.nxt = self.out_of_order_mut().queue.advance(nxt);
        self.free_out_of_order();
        let readable = unread == 0 && self.unread() > 0;
        match (self.nxt > self.fin, readable) {
            (true, readable) => Arrival::Finished { readable },
            (false, true) => Arrival::Readable,
            (false, false) => Arrival::Nothing,
        }
    }

    /// Makes an acknowledgement of all arrived data due: at once for a FIN, otherwise after the
    /// usual delay.
    pub(crate) fn schedule_ack(&mut self, now: Instant, arrival: Arrival) {
        match arrival {
            Arrival::Finished { .. } => self.due.now(),
            Arrival::Nothing | Arrival::Readable => self.due.in_order(now, self.arrived(), &self.pace),
        }
    }

    /// Answers a segment that is not acceptable, and reports its duplicate part by DSACK.
    pub(crate) fn answer_unacceptable(&mut self, block: Block) {
        self.due.alone();
        self.note_duplicate(Block { start: block.start, end: block.end.min(self.nxt) });
    }

    fn note_duplicate(&mut self, block: Block) {
        if self.sack == SackUse::WithDuplicates && block.start < block.end {
            self.out_of_order_mut().report.duplicate(block);
        }
    }

    /// Frees the state of out-of-order segments, if no gap is left and no block is left to report.
    fn free_out_of_order(&mut self) {
        let restored = |out_of_order: &mut Box<OutOfOrder>| {
            let OutOfOrder { report, queue } = &mut **out_of_order;
            if queue.is_empty() {
                report.forget_blocks();
            }
            queue.is_empty() && report.is_empty()
        };
        self.out_of_order.take_if(restored);
    }

    /// Returns the state of out-of-order segments. Creates it if necessary.
    fn out_of_order_mut(&mut self) -> &mut OutOfOrder {
        let window = u64::from(self.held);
        self.out_of_order.get_or_insert_with(|| {
            Box::new(OutOfOrder { queue: Reassembly::new(window), report: SackReport::default() })
        })
    }

    /// Records that the application has left after reading everything. Later data stays unread.
    pub(crate) fn stop_reading(&mut self) {
        self.stream = RecvStream::Counted { read: self.arrived() };
    }

    /// Makes a window update due if reading `count` bytes has opened the window enough.
    #[inline]
    fn after_read(&mut self, count: u64) {
        if count > 0 && self.nxt <= self.fin && self.window.is_worth_telling(self.nxt, self.unread()) {
            self.due.now();
        }
    }

    /// Reads bytes; see [`RecvStream::read`].
    pub(crate) fn read(&mut self, into: &mut [u8]) -> usize {
        let count = self.stream.read(self.arrived(), into);
        self.after_read(count as u64);
        count
    }

    /// Discards bytes; see [`RecvStream::skip`].
    pub(crate) fn skip(&mut self, limit: u64) -> u64 {
        let count = self.stream.skip(self.arrived(), limit);
        self.after_read(count);
        count
    }

    /// Returns the number of bytes that can be read.
    #[inline]
    pub(crate) fn unread(&self) -> u64 {
        self.stream.unread(self.arrived())
    }

    /// Returns whether bytes are stored, so that segments must come with their payload.
    #[inline]
    pub(crate) fn holds_bytes(&self) -> bool {
        matches!(self.stream, RecvStream::Held(_))
    }

    /// Returns whether SACK was negotiated.
    #[inline]
    pub(crate) fn agreed_on_sack(&self) -> bool {
        self.sack != SackUse::Off
    }

    /// Returns the acknowledgement number and the window field of a segment sent now. No
    /// acknowledgement is due afterwards.
    #[inline]
    pub(crate) fn acknowledge(&mut self) -> (Seq, u16) {
        self.window.advance(self.nxt, self.unread());
        self.due = Due::NOTHING;
        self.last_ack_sent = self.nxt;
        (wrap(self.nxt, self.irs), self.window.field(self.nxt))
    }

    /// Returns whether an acknowledgement may have SACK blocks.
    #[inline]
    pub(crate) fn has_blocks(&self) -> bool {
        self.out_of_order.is_some()
    }

    /// Returns the number of SACK blocks for which a data segment becomes shorter.
    pub(crate) fn blocks_beside_data(&self) -> usize {
        match (&self.out_of_order, self.out_of_order_ack, self.sack) {
            (Some(out_of_order), OutOfOrderAck::WithData, SackUse::Plain | SackUse::WithDuplicates) => {
                out_of_order.queue.pieces() + usize::from(out_of_order.report.has_duplicate())
            }
            _ => 0,
        }
    }

    /// Returns the SACK blocks of an acknowledgement, at most `room`.
    pub(crate) fn sack_blocks(&mut self, room: usize) -> SackBlocks {
        let blocks = match &mut self.out_of_order {
            Some(out_of_order) if self.sack != SackUse::Off => {
                let OutOfOrder { report, queue } = &mut **out_of_order;
                report.take(room, self.irs, queue)
            }
            _ => SackBlocks::EMPTY,
        };
        self.free_out_of_order();
        blocks
    }
}
