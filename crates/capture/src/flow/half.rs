//! One direction of a connection: the data of one end, and the other end's acknowledgements of them.
//!
//! As long as data arrive in order, a half is a ring of what is outstanding and a few numbers. With the first sign of trouble
//! it gets its [`Trouble`]: the record of what was sent again, and a replica of the sender.

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

/// Where positions begin in a connection whose handshake was not seen: what comes late lies below.
const MIDSTREAM: u64 = 1 << 32;
/// With a trip to the sender shorter than this, in nanoseconds, segments pass when they leave.
const NEXT_TO: u64 = 1_000_000;
/// A trip to the sender that takes three times as long as those before, and this much more, in nanoseconds, has waited there.
const IDLE: u64 = 100_000_000;
/// Half of the sequence space: what lies further ahead lies behind.
const HALF: u64 = 1 << 31;

/// The counts of a direction. Bytes are payload.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Debug)]
pub struct Counts {
    /// Segments with payload.
    pub segments: u64,
    /// Bytes in them, what was sent again included.
    pub bytes: u64,
    /// Segments that sent something again.
    pub retransmissions: u64,
    /// Bytes that were sent again.
    pub bytes_again: u64,
    /// Segments that came later than what was sent after them.
    pub reordered: u64,
    /// Bytes that were acknowledged or passed over, and never seen.
    pub bytes_not_seen: u64,
    /// Acknowledgements without payload.
    pub acks: u64,
}

/// A segment of the data sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) seq: Seq,
    /// Positions taken: payload, and one for a SYN or FIN.
    pub(super) len: u32,
    pub(super) payload: u32,
    pub(super) syn: bool,
    pub(super) stamp: Option<Timestamp>,
    /// The newest timestamp of the receiver that the sender has heard.
    pub(super) echo: Option<Timestamp>,
    /// When it left, in nanoseconds since 1970: no later than it passed.
    pub(super) left: u64,
}

/// The agreements of both ends, and their distance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) when: When,
    pub(super) to_receiver: Shortest,
    pub(super) to_sender: Shortest,
    pub(super) sack: bool,
}

impl Setting {
    /// Smallest round trip to the receiver and back, in nanoseconds.
    pub(super) fn receiver(&self) -> Option<u64> {
        self.to_receiver.shortest()
    }

    /// The same to the sender.
    pub(super) fn sender(&self) -> Option<u64> {
        self.to_sender.shortest()
    }

    pub(super) fn vantage(&self) -> Vantage {
        Vantage::find(self.sender(), self.receiver())
    }

    /// Whether segments pass when they leave: the sender's reactions come at once, or none was seen.
    #[inline]
    pub(super) fn is_next_to_sender(&self) -> bool {
        self.sender().is_none_or(|trip| trip < NEXT_TO)
    }

    /// Whether that is known, and not only taken to be so.
    pub(super) fn is_known_next_to_sender(&self) -> bool {
        self.sender().is_some() && self.is_next_to_sender()
    }

    /// From the sender to the receiver and back.
    pub(super) fn round_trip(&self) -> Option<u64> {
        Some(self.sender()? + self.receiver()?)
    }
}

/// An acknowledgement as it came, with positions unwrapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledgement {
    pub(super) when: When,
    pub(super) cumulative: u64,
    /// It acknowledges new data.
    pub(super) advances: bool,
    pub(super) sacks: [Block; 4],
    pub(super) count: usize,
    pub(super) dsack: Option<Block>,
    pub(super) echo: Option<Timestamp>,
    pub(super) stamp: Option<Timestamp>,
    /// Neither payload nor SYN or FIN, and the window as before.
    pub(super) plain: bool,
}

impl Acknowledgement {
    pub(super) fn sacks(&self) -> &[Block] {
        &self.sacks[..self.count]
    }
}

/// The state of a direction whose sender is far from the place of the capture.
#[derive(Debug, Default)]
pub(super) struct Away {
    pub(super) clock: Clock,
    /// Smoothed trip from here to the sender and back, and its variation, in nanoseconds.
    to_sender: Smoothed,
    pub(super) unheard: Unheard,
    pub(super) boundaries: Boundaries,
}

/// Where a direction begins in the capture. One byte, because a capture may hold a hundred thousand of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Begins {
    #[default]
    WithHandshake,
    /// At [`MIDSTREAM`].
    Midstream,
    /// The same, and something from before has passed since.
    MidstreamAndBefore,
}

/// One direction.
#[derive(Debug, Default)]
pub struct Half {
    pub(super) initial: Option<Seq>,
    begins: Begins,
    pub(super) una: u64,
    pub(super) nxt: u64,
    pub(super) out: Outstanding,
    /// The receiver's window in bytes, and as on the wire.
    pub(super) window: u32,
    pub(super) window_field: u16,
    /// Duplicate ACKs in a row.
    pub(super) duplicates: u32,
    /// Smoothed round trip from here to the receiver and its variation, in nanoseconds.
    estimate: Smoothed,
    pub(super) last_ack: u64,
    pub(super) last_sent: u64,
    pub(super) timer_since: u64,
    pub(super) last_advance: When,
    pub(super) stamped: bool,
    /// Bytes of the largest segment.
    pub(super) largest: u32,
    pub(super) away: Option<Box<Away>>,
    pub(super) trouble: Option<Box<Trouble>>,
    /// The counts of the direction.
    pub counts: Counts,
}

impl Half {
    /// When a segment left. Next to the sender it passes then; elsewhere its timestamp says more.
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

    /// Returns the state that is kept only far from the sender.
    pub(super) fn away(&mut self) -> &mut Away {
        self.away.get_or_insert_default()
    }

    /// From now on they are noted here, beginning with these.
    pub(super) fn set_unheard(&mut self, unheard: Unheard) {
        if let Some(away) = &mut self.away {
            away.unheard = unheard;
        }
    }

    /// The ACKs that the sender has not heard, and the last that it has.
    pub(super) fn unheard(&self) -> Option<&Unheard> {
        self.away.as_ref().map(|away| &away.unheard)
    }

    /// Returns how a position lies among the ends of ACKs. Next to the sender they are not kept.
    pub(super) fn place(&self, position: u64) -> Place {
        self.away.as_ref().map_or(Place::Unknown, |away| away.boundaries.place(position))
    }

    /// Whether the sender's timestamps tell when segments left.
    pub(super) fn has_fine_clock(&self) -> bool {
        self.away.as_ref().is_some_and(|away| away.clock.is_fine())
    }

    /// Takes in a segment with data, a SYN or a FIN.
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
            // A copy has an address, so that the fields of `data` stay in registers on the usual way.
            let (data, setting) = (*data, *setting);
            self.on_other(start, &data, &setting);
        }
        self.last_sent = data.left;
    }

    /// Far from the sender: it had heard some ACKs when it sent this.
    #[inline(never)]
    fn hear_until(&mut self, (left, echo): (u64, Option<Timestamp>), trip: u64) {
        let Away { unheard, boundaries, .. } = self.away();
        if let Some(end) = unheard.on_data(left, echo, trip) {
            boundaries.forget_below(end);
        }
    }

    /// Whether what is missing below `position` may begin before the capture.
    pub(super) fn may_miss_before(&self, position: u64) -> bool {
        self.begins == Begins::MidstreamAndBefore && position == MIDSTREAM
    }

    #[inline(always)]
    fn position(&mut self, data: &Data) -> u64 {
        match self.initial {
            // Nearly all data follow the last.
            Some(initial) if data.seq.0.wrapping_sub(initial.0) == self.nxt as u32 => self.nxt,
            Some(initial) => unwrap(self.nxt, initial, data.seq),
            None => self.first(data.seq, data.syn),
        }
    }

    /// The direction begins here in the capture; returns the position.
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

    /// A segment that does not follow the last one.
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
            // From before the capture began; whether it was sent before, nobody knows.
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
            // It carries new data too.
            let rest = Data { len: (end - self.nxt) as u32, payload: 0, ..*data };
            self.on_new(self.nxt, &rest, setting);
        }
    }

    /// Notes that everything from `nxt` to `start` was sent and not seen.
    pub(super) fn pass_over(&mut self, start: u64, when: When) {
        let (from, len) = (self.nxt, (start - self.nxt) as u32);
        self.out.push(Sent { start: from, len, stamp: 0, nanos: when.nanos, copies: 1, missing: true });
        self.nxt = start;
        if let Some(trouble) = self.trouble.as_mut().filter(|trouble| matches!(trouble.rest, Rest::Awake { .. })) {
            trouble.replica.on_unseen(when, len);
        }
    }

    /// A keep-alive repeats the last byte while nothing is outstanding; so does a probe of a window that is closed.
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

    /// The ACK that covers everything below `end`, if one has been seen.
    pub(super) fn acknowledged(&self, end: u64) -> Option<u64> {
        (end <= self.una && self.last_advance.frame > 0).then_some(self.last_advance.frame)
    }

    /// Returns the estimate of the whole round trip, which the sender's model uses.
    pub(super) fn whole_estimate(&self, sender: Option<u64>) -> Option<(u64, u64)> {
        let (smoothed, variation) = self.estimate.get()?;
        let there = self.away.as_ref().and_then(|away| away.to_sender.get());
        let there = there.unwrap_or((sender.unwrap_or(0), 0));
        Some((smoothed + there.0, variation + there.1))
    }

    /// The trip from here to the sender and back has taken `nanos`. One is timed at a time.
    pub(super) fn sample_of_sender(&mut self, nanos: u64) {
        if let Some(away) = &mut self.away {
            // Of a trip that took much longer than those before it, the sender has waited for something to send.
            let idle = away.to_sender.get().is_some_and(|(smoothed, _)| nanos > smoothed * 3 + IDLE);
            if !idle {
                away.to_sender.sample_of_all(nanos);
            }
        }
    }

    /// The trip to the receiver and back has taken `nanos`.
    #[inline]
    pub(super) fn sample(&mut self, nanos: u64) {
        self.estimate.sample(nanos);
    }
}
