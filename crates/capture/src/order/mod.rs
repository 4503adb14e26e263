//! The order in which a sender sent, as far as a capture shows it.
//!
//! Four marks tell the order of two transmissions: the TSval, the IPv4 identification, the time at
//! which they passed, and the ACKs that the sender had received. Each holds only as far as is known of
//! it: an identification if the sender counts in it, a time if the network had no time to reorder.
//! From the order follows what a segment is: new, a late original, a copy made on the way to the
//! capture file or by the network, or a retransmission.

mod ack_ends;
mod capture_point;
mod clock;
mod duplicate;
pub(crate) mod identification;
mod in_transit;
mod silence;
mod smoothed;
mod transmission;

pub(crate) use ack_ends::{AckEnds, AckPlace};
pub(crate) use capture_point::{AT_ONCE, CapturePoint, RoundTrip};
pub(crate) use clock::SenderClock;
pub(crate) use duplicate::{DuplicateFrames, Fingerprint, fingerprint_of};
pub(crate) use identification::Follows;
pub(crate) use in_transit::{AcksInTransit, NewAck, has_received};
pub(crate) use silence::{Pauses, Resumed, Silence};
pub(crate) use smoothed::Smoothed;
pub(crate) use transmission::Transmission;

use eifel_base::units::Timestamp;
use eifel_packet::seq::Seq;
use std::cmp::Ordering;

/// Until a round trip is known, data that are late by less than this, in nanoseconds, count as
/// reordered.
const AT_FIRST: u64 = 3_000_000;
/// The shortest timer that stacks use, in nanoseconds: Linux's wait two jiffies, and those
/// last a millisecond at least, whatever its settings (TCP_TIMEOUT_MIN).
const SHORTEST_TIMER: u64 = 2_000_000;
/// A round trip to the sender of more than three times the smoothed one plus this, in nanoseconds,
/// includes a wait of the sender.
const IDLE: u64 = 100_000_000;

/// Whether the first transmission of a segment was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Original {
    Seen,
    /// It never passed the capture point.
    Unseen,
    /// It passed after its retransmission, as their marks show.
    Late {
        /// The frame of the first transmission.
        frame: u64,
    },
    /// Equal data passed after the retransmission, too soon for another one: the first transmission, or
    /// a copy that the network made.
    LateOrCopied,
}

/// Returns the delay, in nanoseconds, below which late data count as reordered: no sender reacts
/// sooner than in half a round trip.
pub(crate) fn reordered_within(round_trip: Option<u64>) -> u64 {
    round_trip.map_or(AT_FIRST, |round_trip| round_trip / 2)
}

/// Returns whether `passing` left before `retransmission`, which carries the same data and passed
/// first. If their marks do not tell, the time does: no sender retransmits a second time within
/// `within`.
pub(crate) fn is_late_original(passing: &Transmission, retransmission: &Transmission, within: u64) -> bool {
    let in_time = || passing.nanos.saturating_sub(retransmission.nanos) < within;
    passing.departure(retransmission).map_or_else(in_time, Ordering::is_lt)
}

/// How soon a sender can send a segment again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaction {
    /// Whether a report that the segment is missing had reached the sender.
    pub(crate) prompted: bool,
    /// The shortest round trip between the ends, in nanoseconds.
    pub(crate) shortest: Option<u64>,
    /// The least time from its last transmission, or from the data behind it, in nanoseconds.
    pub(crate) takes_at_least: u64,
    /// The least time until its timer expires, in nanoseconds; `None` if it was prompted, or if the
    /// path held packets.
    pub(crate) timer: Option<u64>,
}

impl Reaction {
    /// Returns the reaction of a sender at a `smoothed` round trip. A sender that was not prompted
    /// waits for its timer, and that is longer than a round trip. If packets were held, they show
    /// nothing of that wait. The slowest link takes `link_time` for a segment: the `shortest` round trip may be
    /// of packets without data.
    pub(crate) fn new(
        prompted: bool,
        (shortest, link_time): (Option<u64>, u64),
        smoothed: Option<u64>,
        held: bool,
    ) -> Self {
        let least = reordered_within(shortest) + link_time;
        let timer = smoothed.filter(|_| !prompted && !held).map(|trip| trip.max(SHORTEST_TIMER));
        Self { prompted, shortest, takes_at_least: least.max(timer.unwrap_or(0)), timer }
    }
}

/// What is known of the order in which one end sends. Next to the sender, segments pass in that
/// order, and nothing is kept.
#[derive(Debug, Default)]
pub(crate) struct SendOrder {
    remote: Option<Box<RemoteSender>>,
}

/// The state of a sender that is far from the capture point.
#[derive(Debug, Default)]
struct RemoteSender {
    clock: SenderClock,
    /// Smoothed round trip from here to the sender and back, and its variation, in nanoseconds.
    round_trip: Smoothed,
    acks: AcksInTransit,
    ack_ends: AckEnds,
    silence: Silence,
    pauses: Pauses,
    /// The last segment that left while nothing was outstanding.
    resumed: Resumed,
    /// Sequence number, length and timestamp of the last segment that passed.
    last: (Seq, u32, Option<Timestamp>),
}

impl SendOrder {
    /// Returns when a segment left, in nanoseconds since 1970. Next to the sender it leaves when it
    /// passes; elsewhere its timestamp gives a better estimate.
    #[inline(always)]
    pub(crate) fn departure(&mut self, stamp: Option<Timestamp>, point: &CapturePoint) -> u64 {
        let passes = point.when.nanos;
        if point.is_next_to_sender() {
            return passes;
        }
        let repeated =
            self.remote.as_ref().zip(stamp).and_then(|(remote, stamp)| remote.clock.left_with(stamp, passes));
        repeated.unwrap_or_else(|| self.departure_far_away(stamp, point))
    }

    #[cold]
    #[inline(never)]
    fn departure_far_away(&mut self, stamp: Option<Timestamp>, point: &CapturePoint) -> u64 {
        let passes = point.when.nanos;
        let remote = self.remote();
        let trip = point.round_trip_at_least();
        // If a retransmission comes right behind its original, the path held both for longer than a timer.
        remote.silence.smoothed = trip.map(|trip| SHORTEST_TIMER.max(2 * trip).max(remote.pauses.usual()));
        remote.pauses.on_sent(passes, SHORTEST_TIMER.max(trip.unwrap_or(0)));
        remote.silence.on_sent(passes);
        remote.clock.left(stamp, passes)
    }

    /// Returns whether a silence of two round trips ended less than `within` before `now`. A path that
    /// held packets shows them after such a silence, and retransmissions right behind their originals.
    pub(crate) fn is_after_silence(&self, now: u64, within: u64) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.silence.ended_within(now, within))
    }

    /// Returns how long the slowest link to here takes for a segment of a remote sender, in nanoseconds.
    pub(crate) fn link_time(&self) -> u64 {
        self.remote.as_ref().map_or(0, |remote| remote.pauses.link_time())
    }

    /// Records the segment of a remote sender that has just passed.
    #[inline(always)]
    pub(crate) fn on_passed(&mut self, last: (Seq, u32, Option<Timestamp>)) {
        if let Some(remote) = &mut self.remote {
            remote.last = last;
        }
    }

    /// Returns whether a segment equals the one of a remote sender that passed before it.
    pub(crate) fn repeats_last(&self, this: (Seq, u32, Option<Timestamp>)) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.last == this)
    }

    /// Returns whether no timer of a remote sender can have expired from `since` to `now`: segments have passed
    /// without a pause.
    pub(crate) fn is_without_pause(&self, since: u64, now: u64) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.pauses.is_without(since, now))
    }

    /// Records a segment that leaves while nothing is outstanding.
    #[inline(always)]
    pub(crate) fn on_resumed(&mut self, resumed: impl FnOnce() -> Resumed) {
        if let Some(remote) = &mut self.remote {
            remote.resumed = resumed();
        }
    }

    /// Records data of a remote sender that leave at `now`, in nanoseconds, and do not start at `nxt`.
    pub(crate) fn on_jump(&mut self, nxt: u64, now: u64) {
        if let Some(remote) = &mut self.remote {
            remote.resumed.on_jump(nxt, now);
        }
    }

    /// Returns what was silent and alone before a position, as [`Resumed::silence_before`] does.
    pub(crate) fn silence_before(&self, position: u64, round_trip: u64) -> Option<(u64, u64)> {
        self.remote.as_ref().and_then(|remote| remote.resumed.silence_before(position, round_trip))
    }

    fn remote(&mut self) -> &mut RemoteSender {
        self.remote.get_or_insert_default()
    }

    /// Returns whether a segment with this echo shows nothing new about the ACKs that a remote
    /// sender has received.
    #[inline(always)]
    pub(crate) fn repeats_echo(&self, echo: Option<Timestamp>) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.acks.repeats_echo(echo))
    }

    /// Marks the ACKs that a remote sender had received when it sent a segment at `left`. `trip` is
    /// the shortest round trip to the sender, in nanoseconds.
    #[inline(never)]
    pub(crate) fn on_data(&mut self, left: u64, echo: Option<Timestamp>, trip: u64) {
        let RemoteSender { acks, ack_ends, .. } = self.remote();
        if let Some(end) = acks.on_data(left, echo, trip) {
            ack_ends.forget_below(end);
        }
    }

    /// Records an ACK of new data on its way to a remote sender.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, ack: NewAck) {
        self.remote().acks.on_ack(ack);
    }

    /// Records that an ACK of new data ends at `cumulative`.
    #[inline(never)]
    pub(crate) fn on_ack_end(&mut self, cumulative: u64, nanos: u64) {
        self.remote().ack_ends.on_ack(cumulative, nanos);
    }

    /// Replaces the record of ACKs in transit to a remote sender.
    pub(crate) fn set_acks_in_transit(&mut self, acks: AcksInTransit) {
        if let Some(remote) = &mut self.remote {
            remote.acks = acks;
        }
    }

    /// Returns the ACKs in transit to a remote sender.
    pub(crate) fn acks_in_transit(&self) -> Option<&AcksInTransit> {
        self.remote.as_ref().map(|remote| &remote.acks)
    }

    /// Returns the place of a position among the ends of ACKs; unknown next to the sender.
    pub(crate) fn ack_place(&self, position: u64) -> AckPlace {
        self.remote.as_ref().map_or(AckPlace::Unknown, |remote| remote.ack_ends.ack_place(position))
    }

    /// Returns whether the sender's timestamps show when segments left.
    pub(crate) fn has_fine_clock(&self) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.clock.tick().is_some())
    }

    /// Returns whether a tick of the sender's clock is shorter than the time in which it can react, so that
    /// what left in one tick left without a reaction in between. A reaction to an ACK takes a round trip,
    /// and so does a timer, which is longer than any fine tick. `now` is the time of the capture in nanoseconds.
    pub(crate) fn has_shorter_ticks(&self, reaction: &Reaction, now: u64) -> bool {
        let Some(remote) = &self.remote else { return false };
        let limit = if reaction.prompted { reaction.shortest } else { reaction.shortest.max(Some(SHORTEST_TIMER)) };
        let known = |tick| !reaction.prompted || limit.is_some_and(|limit| tick <= limit);
        remote.clock.tick().is_some_and(known) || limit.is_some_and(|limit| remote.clock.is_shorter_than(limit, now))
    }

    /// Returns whether `passing` is the first transmission of `missing`, which data sent later have
    /// overtaken. `next` is the next segment that has passed.
    pub(crate) fn is_reordered(
        &self,
        passing: &Transmission,
        missing: &Transmission,
        next: Option<&Transmission>,
        reaction: &Reaction,
    ) -> bool {
        if let Some(order) = next.and_then(|next| passing.departure(next)) {
            return order.is_lt();
        }
        let same_tick = passing.stamped && next.is_some_and(|next| next.stamped);
        same_tick && self.has_shorter_ticks(reaction, passing.nanos)
            || passing.nanos.saturating_sub(missing.nanos) < reaction.takes_at_least
    }

    /// Returns the smoothed round trip to a remote sender and its variation, in nanoseconds.
    pub(crate) fn round_trip(&self) -> Option<(u64, u64)> {
        self.remote.as_ref().and_then(|remote| remote.round_trip.get())
    }

    /// Adds a sample of the round trip to the sender, in nanoseconds. Only one is timed at a time.
    pub(crate) fn sample(&mut self, nanos: u64) {
        if let Some(remote) = &mut self.remote {
            // A much longer round trip includes time in which the sender had nothing to send.
            let idle = remote.round_trip.get().is_some_and(|(smoothed, _)| nanos > smoothed * 3 + IDLE);
            if !idle {
                remote.round_trip.sample_of_all(nanos);
            }
        }
    }

    /// Reads a field from each cache line of a remote sender's state.
    pub(crate) fn touch(&self) -> u64 {
        self.remote.as_ref().map_or(0, |remote| remote.clock.touch() ^ remote.acks.touch() ^ remote.ack_ends.touch())
    }

    /// Reads the first entries of a remote sender's records.
    pub(crate) fn touch_first(&self) -> u64 {
        self.remote.as_ref().map_or(0, |remote| remote.acks.touch_first() ^ remote.ack_ends.touch_first())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::When;

    const WITHIN: u64 = 50;
    const MS: u64 = 1_000_000;

    fn sent(nanos: u64, stamp: Option<u32>) -> Transmission {
        Transmission::new(0, 100, nanos, stamp.map(Timestamp))
    }

    #[test]
    fn a_late_original_has_an_older_timestamp_or_comes_within_half_a_round_trip() {
        assert_eq!([reordered_within(Some(100)), reordered_within(None)], [WITHIN, AT_FIRST]);
        let late = |passing, retransmission| is_late_original(&passing, &retransmission, WITHIN);
        assert!(late(sent(900, Some(5)), sent(10, Some(6))));
        assert!(!late(sent(11, Some(7)), sent(10, Some(6))));
        for stamp in [Some(6), None] {
            assert_eq!([59, 60].map(|nanos| late(sent(nanos, stamp), sent(10, stamp))), [true, false]);
        }
    }

    /// Returns the order of a sender whose segments pass at `times`, in milliseconds, 10 ms away from here.
    fn remote(times: &[u64]) -> SendOrder {
        let (mut order, mut to_sender) = (SendOrder::default(), RoundTrip::default());
        to_sender.sample(10 * MS);
        let to_receiver = RoundTrip::default().stored();
        for (time, frame) in times.iter().zip(1..) {
            let when = When { nanos: time * MS, frame };
            order.departure(None, &CapturePoint { when, to_receiver, to_sender: to_sender.stored(), sack: true });
        }
        order
    }

    #[test]
    fn a_segment_that_equals_the_one_before_it_repeats_it() {
        let this = (Seq(100), 10, Some(Timestamp(5)));
        let repeats = |order: &mut SendOrder| {
            order.on_passed(this);
            let others = [(Seq(110), 10, this.2), (Seq(100), 20, this.2), (Seq(100), 10, Some(Timestamp(6)))];
            assert!(!others.iter().any(|other| order.repeats_last(*other)));
            order.repeats_last(this)
        };
        assert!(repeats(&mut remote(&[1000])));
        // Only the very last one counts.
        let mut order = remote(&[1000]);
        [this, (Seq(110), 10, this.2)].iter().for_each(|one| order.on_passed(*one));
        assert!(!order.repeats_last(this));
        // Next to the sender nothing is kept.
        assert!(!repeats(&mut SendOrder::default()));
    }

    #[test]
    fn a_pause_in_which_the_timer_can_expire_is_remembered_until_its_end() {
        let order = remote(&[1000, 1001, 1002, 1003, 1004, 1005, 1105, 1106]);
        let without = |since, now| order.is_without_pause(since * MS, now * MS);
        assert_eq!([without(1105, 1107), without(1104, 1107), without(1105, 1206)], [true, false, false]);
        assert!(!SendOrder::default().is_without_pause(0, MS), "next to the sender nothing is known");
    }

    #[test]
    fn a_sender_reacts_after_half_a_round_trip_if_prompted_and_after_its_timer_if_not() {
        let takes =
            |prompted, smoothed, held| Reaction::new(prompted, (Some(100), 0), Some(smoothed), held).takes_at_least;
        let trip = SHORTEST_TIMER + 1;
        assert_eq!([takes(true, trip, false), takes(false, trip, true)], [WITHIN, WITHIN]);
        assert_eq!([takes(false, trip, false), takes(false, 300, false)], [trip, SHORTEST_TIMER]);
    }

    #[test]
    fn data_that_fill_a_gap_are_reordered_if_they_left_before_the_data_behind_it() {
        let (order, gap) = (SendOrder::default(), Transmission::missing(0, 100, 10));
        let reaction = Reaction::new(true, (Some(2 * WITHIN), 0), None, false);
        let reordered =
            |passing, next: Option<Transmission>| order.is_reordered(&passing, &gap, next.as_ref(), &reaction);
        assert!(reordered(sent(900, Some(5)), Some(sent(10, Some(6)))));
        assert!(!reordered(sent(11, Some(7)), Some(sent(10, Some(6)))));
        // Equal timestamps of an unknown clock, or none: the time decides.
        for (stamp, next) in [(Some(6), Some(sent(10, Some(6)))), (None, None)] {
            assert_eq!([59, 60].map(|nanos| reordered(sent(nanos, stamp), next)), [true, false]);
        }
    }
}
