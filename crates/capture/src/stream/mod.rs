//! The byte stream of one direction of a TCP connection, while nothing is lost: positions,
//! outstanding data, and what its segments and ACKs carry.

mod ack;
mod outstanding;

use ack::LEAST_WINDOW;
pub(crate) use ack::{Acknowledgement, QuietAck, Reports, is_bare, stamp_and_echo};
pub(crate) use outstanding::{Outstanding, SpareRings};

use crate::order::{CapturePoint, Follows, Reaction, Resumed, SendOrder, Smoothed, Transmission};
use crate::result::{Cause, Counts, When};
use eifel_base::units::Timestamp;
use eifel_packet::seq::{Seq, unwrap};

/// The position at which a connection without a captured handshake starts. Data from before the
/// capture have lower positions.
pub(crate) const MIDSTREAM: u64 = 1 << 32;
/// Half of the sequence space: a number that seems further ahead than this lies behind.
pub(crate) const HALF: u64 = 1 << 31;

/// The shortest interval of keep-alives that is usual, less the inaccuracy of timers, in nanoseconds.
const LEAST_KEEP_ALIVE: u64 = 900_000_000;

/// A segment from the data sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) seq: Seq,
    /// Sequence numbers that it takes: the payload, and one each for SYN and FIN.
    pub(crate) len: u32,
    pub(crate) payload: u32,
    pub(crate) syn: bool,
    /// Whether it is a FIN alone that answers new data at once.
    pub(crate) answers: bool,
    pub(crate) stamp: Option<Timestamp>,
    pub(crate) identification: u16,
    /// Its place among the sender's packets, and whether the sender is known to count them.
    pub(crate) number: u32,
    pub(crate) numbered: bool,
    /// What its identification shows of the packet before it.
    pub(crate) follows: Follows,
    /// The newest timestamp of the receiver that the sender echoes.
    pub(crate) echo: Option<Timestamp>,
    /// When it left, in nanoseconds since 1970; never later than it passed here.
    pub(crate) left: u64,
}

/// How a direction begins in the capture. One byte, because a capture may have a hundred thousand
/// directions.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Begins {
    #[default]
    WithHandshake,
    /// At [`MIDSTREAM`], without a handshake.
    Midstream,
    /// Like `Midstream`, and data from before the capture have passed since.
    MidstreamAndBefore,
}

/// The place of a segment in a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// Behind positions that have not passed.
    Ahead,
    /// Half of the sequence space away, or from before the capture.
    Ignored,
    /// Sent again without a loss.
    Probe(Cause),
    /// It starts at a position that was sent, or passed over, before.
    Repeated,
}

/// What is kept of the last segment with new data and of the last ACK of new data: one byte, like [`Begins`].
#[derive(Clone, Copy, Default, Debug)]
struct LastNew(u8);

impl LastNew {
    const STAMPED: u8 = 1;
    const ONE_BYTE: u8 = 2;
    const ACKED_UNSEEN: u8 = 4;

    #[inline(always)]
    fn on_data(&mut self, data: &Data) {
        let stamped = u8::from(data.stamp.is_some()) * Self::STAMPED;
        self.0 = (self.0 & Self::ACKED_UNSEEN) | stamped | (u8::from(data.len == 1) * Self::ONE_BYTE);
    }

    /// Notes whether the ACK covers data that had not passed.
    #[inline(always)]
    fn on_ack(&mut self, unseen: bool) {
        self.0 = (self.0 & !Self::ACKED_UNSEEN) | (u8::from(unseen) * Self::ACKED_UNSEEN);
    }

    fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// The byte stream of one direction.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub(crate) initial: Option<Seq>,
    begins: Begins,
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    pub(crate) out: Outstanding,
    /// The receiver's window in bytes, and its unscaled field.
    window: u32,
    window_field: u16,
    /// Duplicate ACKs in a row.
    pub(crate) duplicates: u32,
    /// Smoothed round trip from here to the receiver and back, and its variation, in nanoseconds.
    estimate: Smoothed,
    pub(crate) last_ack: u64,
    pub(crate) last_sent: u64,
    pub(crate) timer_since: u64,
    last_advance: When,
    last_new: LastNew,
    /// The largest payload of a segment, in bytes.
    pub(crate) largest: u32,
    pub(crate) order: SendOrder,
    pub(crate) counts: Counts,
}

impl Stream {
    #[inline]
    pub(crate) fn flight(&self) -> u64 {
        self.nxt - self.una
    }

    /// Returns the receiver's window in bytes.
    pub(crate) fn window(&self) -> u64 {
        u64::from(self.window)
    }

    /// Counts a segment. Returns its position.
    #[inline(always)]
    pub(crate) fn on_segment(&mut self, data: &Data) -> u64 {
        if data.payload > 0 {
            self.counts.segments += 1;
            self.counts.bytes += u64::from(data.payload);
            if data.payload > self.largest {
                self.largest = data.payload;
            }
        }
        match self.initial {
            // Nearly all data follow directly on the previous data.
            Some(initial) if data.seq.0.wrapping_sub(initial.0) == self.nxt as u32 => self.nxt,
            Some(initial) => unwrap(self.nxt, initial, data.seq),
            None => self.first(data.seq, data.syn),
        }
    }

    /// Sets the initial sequence number from the first segment seen. Returns its position.
    #[cold]
    #[inline(never)]
    fn first(&mut self, seq: Seq, syn: bool) -> u64 {
        let start = if syn { 0 } else { MIDSTREAM };
        self.initial = Some(Seq(seq.0.wrapping_sub(start as u32)));
        (self.una, self.nxt) = (start, start);
        self.begins = if syn { Begins::WithHandshake } else { Begins::Midstream };
        start
    }

    /// Handles new data that start at `start`, which is `nxt` unless the segment is only partly
    /// new.
    #[inline(always)]
    pub(crate) fn on_new(&mut self, start: u64, data: &Data, point: &CapturePoint) {
        if self.una == self.nxt {
            self.timer_since = data.left;
            let last = self.last_sent.max(self.last_ack);
            self.order.on_resumed(|| {
                let silence = if last == 0 { 0 } else { data.left.saturating_sub(last) };
                Resumed::new(silence, data.left, start + u64::from(data.len))
            });
        }
        self.nxt = start + u64::from(data.len);
        self.last_new.on_data(data);
        let sent = Transmission::new(start, data.len, point.when.nanos, data.stamp);
        self.out.push(Transmission { number: data.number, ..sent });
    }

    /// Marks everything from `nxt` to `start` as sent but not seen. Returns its length.
    pub(crate) fn pass_over(&mut self, start: u64, when: When) -> u32 {
        let len = (start - self.nxt) as u32;
        self.counts.bytes_not_seen += u64::from(len);
        self.out.push(Transmission::missing(self.nxt, len, when.nanos));
        self.nxt = start;
        len
    }

    /// Returns whether the last new data had a timestamp.
    pub(crate) fn is_stamped(&self) -> bool {
        self.last_new.has(LastNew::STAMPED)
    }

    /// Returns whether the end has sent a SYN that no ACK covers.
    pub(crate) fn is_opening(&self) -> bool {
        self.begins == Begins::WithHandshake && self.una == 0
    }

    /// Returns whether the stream began without a handshake in the capture.
    pub(crate) fn is_midstream(&self) -> bool {
        self.begins != Begins::WithHandshake
    }

    /// Finds out what a segment is that does not start at `nxt`.
    pub(crate) fn arrival(&mut self, start: u64, data: &Data, when: When) -> Arrival {
        if start > self.nxt {
            return if start - self.nxt < HALF { Arrival::Ahead } else { Arrival::Ignored };
        }
        if self.nxt - start > HALF {
            return Arrival::Ignored;
        }
        if self.is_midstream() && start < self.una.min(MIDSTREAM) && !self.extend_below(start, when) {
            // Data from before the capture began. Whether they were sent before is unknown.
            self.begins = Begins::MidstreamAndBefore;
            self.counts.reordered += 1;
            return Arrival::Ignored;
        }
        self.probe_of(start, data).map_or(Arrival::Repeated, Arrival::Probe)
    }

    /// Extends the outstanding data to `start`, below the first data of the capture, unless an ACK shows
    /// that they had arrived. Returns whether it does.
    pub(crate) fn extend_below(&mut self, start: u64, when: When) -> bool {
        let near = start < self.una && self.una - start <= u64::from(LEAST_WINDOW);
        let extends = near && self.may_extend_below();
        if extends {
            let len = (self.una - start) as u32;
            self.out.push_front(Transmission::missing(start, len, when.nanos));
            self.counts.bytes_not_seen += u64::from(len);
            self.una = start;
        }
        extends
    }

    /// Returns whether data below the first of the capture may be outstanding.
    pub(crate) fn may_extend_below(&self) -> bool {
        self.is_midstream() && self.last_advance.frame == 0
    }

    /// Returns whether data at `position` may have passed before the capture began.
    pub(crate) fn may_be_older(&self, position: u64) -> bool {
        self.is_midstream() && position < MIDSTREAM
    }

    /// Returns the counts at the end of the capture. Data that no ACK covers do not count as not seen.
    pub(crate) fn final_counts(&self) -> Counts {
        let unseen = self.out.iter().filter(|sent| sent.missing && sent.copies == 1).map(|sent| u64::from(sent.len));
        let bytes_not_seen = self.counts.bytes_not_seen.saturating_sub(unseen.sum());
        Counts { bytes_not_seen, ..self.counts }
    }

    /// Returns the cause of a segment that is sent again without a loss, if it is one: a SYN, a
    /// keep-alive, a zero-window probe, or an ACK with the FIN. A keep-alive repeats the last byte after a pause in which
    /// nothing is outstanding; a probe sends at most one byte while the window is closed. Without the
    /// pause, it is a last segment of one byte, and its sender has not received the ACK yet.
    fn probe_of(&self, start: u64, data: &Data) -> Option<Cause> {
        if data.syn {
            return Some(Cause::Syn);
        }
        if data.answers {
            return Some(Cause::RepeatedFin);
        }
        // A FIN alone takes a sequence number, and has no payload.
        if data.payload != 1 || data.len > 1 {
            return None;
        }
        if self.window == 0 && start + 1 >= self.una {
            return Some(Cause::ZeroWindowProbe);
        }
        // A segment of one byte that was lost looks the same, unless the connection was idle.
        let idle = data.left.saturating_sub(self.last_sent.max(self.last_ack)) >= LEAST_KEEP_ALIVE;
        (start + 1 == self.nxt && self.una == self.nxt && (idle || !self.last_new.has(LastNew::ONE_BYTE)))
            .then_some(Cause::KeepAlive)
    }

    /// Returns whether the last ACK of new data may cover data at `position` that had not passed.
    pub(crate) fn was_acked_unseen(&self, position: u64) -> bool {
        self.last_new.has(LastNew::ACKED_UNSEEN) || self.may_be_older(position)
    }

    /// Returns whether the data missing below `position` may extend to before the capture.
    pub(crate) fn may_miss_before(&self, position: u64) -> bool {
        self.begins == Begins::MidstreamAndBefore && position == MIDSTREAM
    }

    /// Returns when the last ACK of new data passed, if everything below `end` is acknowledged.
    pub(crate) fn acknowledged(&self, end: u64) -> Option<When> {
        (end <= self.una && self.last_advance.frame > 0).then_some(self.last_advance)
    }

    /// Returns how soon the sender can send a segment again, if it was `prompted` or not.
    pub(crate) fn reaction(&self, prompted: bool, point: &CapturePoint) -> Reaction {
        let smoothed = self.round_trip_estimate(point.sender_rtt()).map(|(smoothed, _)| smoothed);
        let held = smoothed.is_some_and(|smoothed| self.order.is_after_silence(point.when.nanos, smoothed));
        Reaction::new(prompted, (point.round_trip(), self.order.link_time()), smoothed, held)
    }

    /// Returns the smoothed round trip between both ends and its variation, in nanoseconds.
    /// `sender` stands in for the round trip to the sender until that is smoothed.
    pub(crate) fn round_trip_estimate(&self, sender: Option<u64>) -> Option<(u64, u64)> {
        let (smoothed, variation) = self.estimate.get()?;
        let there = self.order.round_trip().unwrap_or((sender.unwrap_or(0), 0));
        Some((smoothed + there.0, variation + there.1))
    }
}
