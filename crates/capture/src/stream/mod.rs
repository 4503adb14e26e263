//! One direction of a connection: the data that one end sends, and the other end's
//! acknowledgements.
//!
//! While data arrive in order, a half is a ring of outstanding data and a few numbers. At the first
//! sign of trouble it gets a [`Trouble`]: the record of retransmissions, and a replica of the
//! sender.

use super::again::Trouble;
use super::boundaries::{Boundaries, Place};
use super::calm::Rest;
use super::clock::Clock;
use super::sent::{Outstanding, Sent};
use super::smoothed::Smoothed;
use super::trip::{Shortest, Vantage};
use super::unheard::Unheard;
use super::{When, again};
use crate::sender::Cause;
use eifel_base::ranges::Block;
use eifel_base::units::Timestamp;
use eifel_packet::seq::{Seq, unwrap};
use serde::Serialize;

/// The position at which a connection without a captured handshake starts. Data from before the
/// capture have lower positions.
const MIDSTREAM: u64 = 1 << 32;
/// If the round trip to the sender is shorter than this, in nanoseconds, segments pass here when
/// they leave.
const NEXT_TO: u64 = 1_000_000;
/// A round trip to the sender of more than three times the smoothed one plus this, in nanoseconds,
/// includes a wait of the sender.
const IDLE: u64 = 100_000_000;
/// Half of the sequence space: a number that seems further ahead than this lies behind.
const HALF: u64 = 1 << 31;

/// The counts of one direction. Bytes are payload.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Debug)]
pub struct Counts {
    /// Segments with payload.
    pub segments: u64,
    /// Payload bytes, including retransmissions.
    pub bytes: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Retransmitted bytes.
    pub bytes_again: u64,
    /// Segments that arrived here after data sent later.
    pub reordered: u64,
    /// Bytes that were acknowledged but never seen; with SCTP, chunks.
    pub bytes_not_seen: u64,
    /// Acknowledgements without payload; with SCTP, SACK chunks.
    pub acks: u64,
}

/// A segment from the data sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) seq: Seq,
    /// Sequence numbers that it takes: the payload, and one each for SYN and FIN.
    pub(super) len: u32,
    pub(super) payload: u32,
    pub(super) syn: bool,
    pub(super) stamp: Option<Timestamp>,
    /// The newest timestamp of the receiver that the sender echoes.
    pub(super) echo: Option<Timestamp>,
    /// When it left, in nanoseconds since 1970; never later than it passed here.
    pub(super) left: u64,
}

/// The time of a packet, the distances of both ends, and whether they agreed on SACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) when: When,
    pub(super) to_receiver: Shortest,
    pub(super) to_sender: Shortest,
    pub(super) sack: bool,
}

impl Setting {
    /// Returns the shortest round trip from here to the receiver and back, in nanoseconds.
    pub(super) fn receiver(&self) -> Option<u64> {
        self.to_receiver.shortest()
    }

    /// Returns the shortest round trip from here to the sender and back, in nanoseconds.
    pub(super) fn sender(&self) -> Option<u64> {
        self.to_sender.shortest()
    }

    pub(super) fn vantage(&self) -> Vantage {
        Vantage::find(self.sender(), self.receiver())
    }

    /// Returns whether segments pass here when they leave. True if the round trip to the sender is
    /// short, or if none was seen.
    #[inline]
    pub(super) fn is_next_to_sender(&self) -> bool {
        self.sender().is_none_or(|trip| trip < NEXT_TO)
    }

    /// Returns whether a measured round trip shows that the sender is near.
    pub(super) fn is_known_next_to_sender(&self) -> bool {
        self.sender().is_some() && self.is_next_to_sender()
    }

    /// Returns the shortest round trip between sender and receiver, in nanoseconds.
    pub(super) fn round_trip(&self) -> Option<u64> {
        Some(self.sender()? + self.receiver()?)
    }
}

/// An acknowledgement, with positions unwrapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledgement {
    pub(super) when: When,
    pub(super) cumulative: u64,
    /// Whether it acknowledges new data.
    pub(super) advances: bool,
    pub(super) sacks: [Block; 4],
    pub(super) count: usize,
    pub(super) dsack: Option<Block>,
    pub(super) echo: Option<Timestamp>,
    pub(super) stamp: Option<Timestamp>,
    /// Whether it has no payload, SYN or FIN, and an unchanged window.
    pub(super) plain: bool,
}

impl Acknowledgement {
    pub(super) fn sacks(&self) -> &[Block] {
        &self.sacks[..self.count]
    }
}

/// State of a direction that is kept only if the sender is far from the capture point.
#[derive(Debug, Default)]
pub(super) struct Away {
    pub(super) clock: Clock,
    /// Smoothed round trip from here to the sender and back, and its variation, in nanoseconds.
    to_sender: Smoothed,
    pub(super) unheard: Unheard,
    pub(super) boundaries: Boundaries,
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

/// One direction of a connection.
#[derive(Debug, Default)]
pub struct Half {
    pub(super) initial: Option<Seq>,
    begins: Begins,
    pub(super) una: u64,
    pub(super) nxt: u64,
    pub(super) out: Outstanding,
    /// The receiver's window in bytes, and its unscaled field.
    pub(super) window: u32,
    pub(super) window_field: u16,
    /// Duplicate ACKs in a row.
    pub(super) duplicates: u32,
    /// Smoothed round trip from here to the receiver and back, and its variation, in nanoseconds.
    estimate: Smoothed,
    pub(super) last_ack: u64,
    pub(super) last_sent: u64,
    pub(super) timer_since: u64,
    pub(super) last_advance: When,
    pub(super) stamped: bool,
    /// The largest payload of a segment, in bytes.
    pub(super) largest: u32,
    pub(super) away: Option<Box<Away>>,
    pub(super) trouble: Option<Box<Trouble>>,
    pub counts: Counts,
}

impl Half {
    /// Returns when a segment left, in nanoseconds since 1970. Near the sender it leaves when it
    /// passes; elsewhere its timestamp gives a better estimate.
    #[inline(always)]
    pub(super) fn left(&mut self, stamp: Option<Timestamp>, setting: &Setting) -> u64 {
        let passes = setting.when.nanos;
        if setting.is_next_to_sender() {
            return passes;
        }
        let repeated = self.away.as_ref().zip(stamp).and_then(|(away, stamp)| away.clock.left_with(stamp, passes));
        repeated.unwrap_or_else(|| self.left_far_away(stamp, passes))
    }

    #[cold]
    #[inline(never)]
    fn left_far_away(&mut self, stamp: Option<Timestamp>, passes: u64) -> u64 {
        self.away().clock.left(stamp, passes)
    }

    /// Returns the state that is kept only far from the sender. Creates it if necessary.
    pub(super) fn away(&mut self) -> &mut Away {
        self.away.get_or_insert_default()
    }

    /// Replaces the record of ACKs that the sender has not received. Does nothing without an
    /// [`Away`].
    pub(super) fn set_unheard(&mut self, unheard: Unheard) {
        if let Some(away) = &mut self.away {
            away.unheard = unheard;
        }
    }

    /// Returns the ACKs that the sender has not received, and the last one that it has.
    pub(super) fn unheard(&self) -> Option<&Unheard> {
        self.away.as_ref().map(|away| &away.unheard)
    }

    /// Returns the place of a position among the ends of ACKs; unknown near the sender, where these
    /// are not kept.
    pub(super) fn place(&self, position: u64) -> Place {
        self.away.as_ref().map_or(Place::Unknown, |away| away.boundaries.place(position))
    }

    /// Returns whether the sender's timestamps show when segments left.
    pub(super) fn has_fine_clock(&self) -> bool {
        self.away.as_ref().is_some_and(|away| away.clock.is_fine())
    }

    /// Handles a segment with data, a SYN or a FIN.
    #[inline(always)]
    pub(super) fn on_data(&mut self, data: &Data, setting: &Setting) {
        if data.payload > 0 {
            self.counts.segments += 1;
            self.counts.bytes += u64::from(data.payload);
            if data.payload > self.largest {
                self.largest = data.payload;
            }
        }
        let start = self.position(data);
        if !setting.is_next_to_sender()
            && self.is_calm()
            && !self.away.as_ref().is_some_and(|away| away.unheard.has_settled(data.echo))
        {
            self.hear_until((data.left, data.echo), setting.sender().unwrap_or(0));
        }
        if start == self.nxt {
            self.on_new(start, data, setting);
        } else {
            // The slow path takes a copy. So `data` needs no address, and its fields stay in
            // registers on the usual path.
            let (data, setting) = (*data, *setting);
            self.on_other(start, &data, &setting);
        }
        self.last_sent = data.left;
    }

    /// Marks the ACKs that a sender far away had received when it sent a segment.
    #[inline(never)]
    fn hear_until(&mut self, (left, echo): (u64, Option<Timestamp>), trip: u64) {
        let Away { unheard, boundaries, .. } = self.away();
        if let Some(end) = unheard.on_data(left, echo, trip) {
            boundaries.forget_below(end);
        }
    }

    /// Returns whether the data missing below `position` may extend to before the capture.
    pub(super) fn may_miss_before(&self, position: u64) -> bool {
        self.begins == Begins::MidstreamAndBefore && position == MIDSTREAM
    }

    #[inline(always)]
    fn position(&mut self, data: &Data) -> u64 {
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

    #[inline(always)]
    pub(super) fn on_new(&mut self, start: u64, data: &Data, setting: &Setting) {
        let when = setting.when;
        if self.una == self.nxt {
            self.timer_since = data.left;
        }
        self.nxt = start + u64::from(data.len);
        let stamp = data.stamp.map_or(0, |stamp| stamp.0);
        self.stamped = data.stamp.is_some();
        self.out.push(Sent { start, len: data.len, stamp, nanos: when.nanos, copies: 1, missing: false });
        if let Some(trouble) = &mut self.trouble {
            if matches!(trouble.rest, Rest::Awake { .. }) {
                let data = *data;
                trouble.replica.on_new(&data);
            }
            trouble.flight.on_new(when.nanos, self.nxt - self.una);
        }
    }

    /// Handles a segment that does not start at `nxt`.
    #[cold]
    #[inline(never)]
    fn on_other(&mut self, start: u64, data: &Data, setting: &Setting) {
        if start > self.nxt {
            if start - self.nxt < HALF {
                self.pass_over(start, setting.when);
                self.on_new(start, data, setting);
            }
            return;
        }
        let end = start + u64::from(data.len);
        if self.nxt - start > HALF {
            return;
        }
        if self.begins != Begins::WithHandshake && start < MIDSTREAM {
            // Data from before the capture began. Whether they were sent before is unknown.
            self.begins = Begins::MidstreamAndBefore;
            self.counts.reordered += 1;
            return;
        }
        if let Some(cause) = self.probe_of(start, data) {
            return self.on_probe(start, data, cause, setting);
        }
        let known = end.min(self.nxt);
        again::on_again(self, Block { start, end: known }, data, setting);
        if end > self.nxt {
            // The segment carries new data too.
            let rest = Data { len: (end - self.nxt) as u32, payload: 0, ..*data };
            self.on_new(self.nxt, &rest, setting);
        }
    }

    /// Marks everything from `nxt` to `start` as sent but not seen.
    pub(super) fn pass_over(&mut self, start: u64, when: When) {
        let (from, len) = (self.nxt, (start - self.nxt) as u32);
        self.out.push(Sent { start: from, len, stamp: 0, nanos: when.nanos, copies: 1, missing: true });
        self.nxt = start;
        if let Some(trouble) = self.trouble.as_mut().filter(|trouble| matches!(trouble.rest, Rest::Awake { .. })) {
            trouble.replica.on_unseen(when, len);
        }
    }

    /// Returns the cause of a segment that is sent again without a loss, if it is one: a SYN, a
    /// keep-alive or a zero-window probe. A keep-alive repeats the last byte while nothing is
    /// outstanding; a probe sends at most one byte while the window is closed.
    fn probe_of(&self, start: u64, data: &Data) -> Option<Cause> {
        if data.syn {
            return Some(Cause::Syn);
        }
        if data.len > 1 {
            return None;
        }
        if self.window == 0 && start + 1 >= self.una {
            return Some(Cause::ZeroWindowProbe);
        }
        (start + 1 == self.nxt && self.una == self.nxt).then_some(Cause::KeepAlive)
    }

    fn on_probe(&mut self, start: u64, data: &Data, cause: Cause, setting: &Setting) {
        let end = start + u64::from(data.len);
        again::on_probe(self, Block { start, end: end.min(self.nxt) }, data, cause, setting);
    }

    /// Returns the frame of the last ACK of new data, if everything below `end` is acknowledged.
    pub(super) fn acknowledged(&self, end: u64) -> Option<u64> {
        (end <= self.una && self.last_advance.frame > 0).then_some(self.last_advance.frame)
    }

    /// Returns the smoothed round trip between both ends and its variation, in nanoseconds, for the
    /// sender's model. `sender` stands in for the round trip to the sender until that is smoothed.
    pub(super) fn whole_estimate(&self, sender: Option<u64>) -> Option<(u64, u64)> {
        let (smoothed, variation) = self.estimate.get()?;
        let there = self.away.as_ref().and_then(|away| away.to_sender.get());
        let there = there.unwrap_or((sender.unwrap_or(0), 0));
        Some((smoothed + there.0, variation + there.1))
    }

    /// Adds a sample of the round trip from here to the sender and back, in nanoseconds. Only one
    /// is timed at a time.
    pub(super) fn sample_of_sender(&mut self, nanos: u64) {
        if let Some(away) = &mut self.away {
            // A much longer round trip includes time in which the sender had nothing to send.
            let idle = away.to_sender.get().is_some_and(|(smoothed, _)| nanos > smoothed * 3 + IDLE);
            if !idle {
                away.to_sender.sample_of_all(nanos);
            }
        }
    }

    /// Adds a sample of the round trip from here to the receiver and back, in nanoseconds.
    #[inline]
    pub(super) fn sample(&mut self, nanos: u64) {
        self.estimate.sample(nanos);
    }
}
