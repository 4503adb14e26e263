//! RACK's part of RACK-TLP: a segment is lost if it was sent before a delivered one, and long enough ago (RFC 8985, section
//! 6).
//!
//! A connection and each path of an association have one. A position is the end of a segment, or
//! the one behind a chunk. The driver walks what is outstanding, each in its own record.

use std::collections::VecDeque;

use super::rack_min_rtt::MinRtt;
use crate::fact::{Acked, Covered, Delivered, Echo};
use crate::view::View;
use eifel_base::time::{Duration, Instant};

/// Recoveries after the last DSACK until the reordering window shrinks back (RACK.reo_wnd_persist,
/// section 6.2).
const PERSIST: u32 = 16;

/// The progress of fast recovery, or of recovery from a timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repairing {
    Nothing,
    Losses,
    /// The recovery ends with this ACK.
    Ending,
}

/// RACK's variables.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// RACK.segment, the delivered segment that was sent last: its send time and its end. `None`
    /// before the first delivery.
    newest: Option<(Instant, u64)>,
    min_rtt: MinRtt,
    /// RACK.rtt: the round trip of the latest segment that the last ACK delivered.
    rtt: Duration,
    /// RACK.fack: the highest position that was delivered.
    fack: u64,
    reordering_seen: bool,
    /// RACK.reo_wnd_mult.
    multiplier: u64,
    persist: u32,
    /// RACK.dsack_round: until this position is acknowledged, further DSACKs do not widen the
    /// window. `None` if the next DSACK counts.
    dsack_round: Option<u64>,
}

/// What step 5 says of a transmission that was not delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Overdue {
    /// It was sent after RACK.segment, so nothing is known of it.
    Unknown,
    /// It counts as lost from this instant on.
    At(Instant),
    /// It is lost.
    Now,
}

impl Rack {
    pub(crate) fn new() -> Self {
        Self {
            newest: None,
            min_rtt: MinRtt::UNKNOWN,
            rtt: Duration::ZERO,
            fack: 0,
            reordering_seen: false,
            multiplier: 1,
            persist: PERSIST,
            dsack_round: None,
        }
    }

    /// Takes in a round trip that no segment measured, for example that of a HEARTBEAT (step 1).
    pub(crate) fn on_round_trip(&mut self, rtt: Duration, view: &View) {
        self.min_rtt.note(rtt, view);
    }

    /// Processes the deliveries of an ACK: steps 1 to 3 of section 6.2. `highest` is the first
    /// position beyond all that it acknowledges or reports.
    pub(crate) fn on_ack(&mut self, acked: &Acked, delivered: Option<&Delivered>, highest: u64, view: &View) {
        if let Some(Covered { copies: 0, last_sent, .. }) = acked.highest {
            self.min_rtt.note(view.now.since(last_sent), view);
        }
        let Some(delivered) = delivered else { return };
        let again = delivered.again.filter(|covered| self.answers_last_transmission(acked, covered, view));
        let sent = |covered: Covered| (covered.last_sent, covered.end);
        if let Some(latest) = delivered.original.map(sent).max(again.map(sent)) {
            self.rtt = view.now.since(latest.0);
            self.newest = self.newest.max(Some(latest));
        }
        self.reordering_seen |= delivered.lowest_original.is_some_and(|lowest| lowest.end < self.fack);
        self.fack = self.fack.max(highest);
    }

    /// Returns whether an ACK for a retransmitted segment answers its last transmission (step 2).
    /// It does not if it comes sooner than RACK.min_RTT or echoes an older timestamp. Half of
    /// RACK.min_RTT allows for the clock's granularity; the original was sent earlier than that.
    fn answers_last_transmission(&self, acked: &Acked, covered: &Covered, view: &View) -> bool {
        let rtt = view.now.since(covered.last_sent);
        let min_rtt = self.min_rtt.get(view).unwrap_or(Duration::ZERO);
        rtt >= min_rtt && acked.echo.and_then(Echo::age).is_none_or(|age| age <= rtt + min_rtt / 2)
    }

    /// Adapts the reordering window (step 4). A DSACK widens it at most once per round trip.
    /// Sixteen recoveries without a DSACK reset it.
    pub(crate) fn adapt(&mut self, needless: bool, repairing: Repairing, view: &View) {
        if self.dsack_round.is_some_and(|round| view.una >= round) {
            self.dsack_round = None;
        }
        if needless && self.dsack_round.is_none() {
            self.dsack_round = Some(view.nxt);
            self.multiplier += 1;
            self.persist = PERSIST;
        } else if repairing == Repairing::Ending {
            self.persist = self.persist.saturating_sub(1);
            if self.persist == 0 {
                self.multiplier = 1;
            }
        }
    }

    /// Computes RACK.reo_wnd. `reported` is whether DupThresh segments are SACKed.
    fn reordering_window(&self, reported: bool, repairing: Repairing, view: &View) -> Duration {
        if !self.reordering_seen && (repairing == Repairing::Losses || reported) {
            return Duration::ZERO;
        }
        let Some(min_rtt) = self.min_rtt.get(view) else { return Duration::ZERO };
        let wide = min_rtt * self.multiplier / 4;
        view.round_trips.smoothed().map_or(wide, |srtt| wide.min(srtt))
    }

    /// Returns how long a transmission has to be answered: RACK.rtt and the reordering window.
    /// `reported` is whether DupThresh segments are SACKed.
    pub(crate) fn wait(&self, reported: bool, repairing: Repairing, view: &View) -> Duration {
        self.rtt + self.reordering_window(reported, repairing, view)
    }

    /// Returns whether anything was delivered yet.
    pub(crate) fn has_deliveries(&self) -> bool {
        self.newest.is_some()
    }

    /// Makes this RACK one that has seen reordering.
    #[cfg(test)]
    pub(crate) fn see_reordering(&mut self) {
        self.reordering_seen = true;
    }

    /// Returns whether a transmission is lost that was sent at `sent` and ends at `end`: step 5,
    /// RACK_detect_loss.
    pub(crate) fn overdue(&self, (sent, end): (Instant, u64), wait: Duration, now: Instant) -> Overdue {
        match self.newest {
            Some(newest) if newest > (sent, end) => match sent + wait {
                lost_at if lost_at > now => Overdue::At(lost_at),
                _ => Overdue::Now,
            },
            _ => Overdue::Unknown,
        }
    }
}

/// The send time and start of each retransmission, sorted by both (RACK_sent_after).
#[derive(Clone, Debug, Default)]
pub(crate) struct Resent(VecDeque<(Instant, u64)>);

impl Resent {
    /// Records a retransmission that is sent at `now` and begins at `start`. Of several sent at the
    /// same instant, the lowest counts as sent first, whatever their order (RACK_sent_after,
    /// section 6.2).
    pub(crate) fn on_retransmission(&mut self, now: Instant, start: u64) {
        let later = self.0.iter().rev().take_while(|&&earlier| earlier > (now, start)).count();
        self.0.insert(self.0.len() - later, (now, start));
    }

    /// Returns the first retransmission.
    pub(crate) fn first(&self) -> Option<(Instant, u64)> {
        self.0.front().copied()
    }

    /// Removes the first retransmission.
    pub(crate) fn remove_first(&mut self) {
        self.0.pop_front();
    }

    /// Iterates over the retransmissions, in the order of sending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Instant, u64)> {
        self.0.iter().copied()
    }

    /// Forgets all retransmissions, after a timeout or an undo.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtt::RoundTrips;
    use eifel_base::units::Timestamp;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + ms(millis)
    }

    /// A view with a shortest round trip of 100 ms.
    fn view(now: u64, una: u64) -> View {
        let mut round_trips = RoundTrips::new(true);
        round_trips.on_unambiguous(Some(ms(100)));
        View { now: at(now), una, nxt: 10_001, mss: 1000, sack: true, round_trips }
    }

    fn acked(echo_age: Option<u64>) -> Acked<'static> {
        let echo = echo_age.map(|age| Echo::Known { value: Timestamp(0), age: ms(age) });
        Acked { cumulative: 1001, bytes: 1000, echo, ..Acked::default() }
    }

    /// The segment was retransmitted at 50 ms, and the shortest round trip is 100 ms. An answer
    /// counts from 150 ms on, if it echoes a timestamp at most 150 ms old.
    #[test]
    fn an_ack_of_the_last_transmission_comes_no_sooner_than_min_rtt_and_echoes_no_older_timestamp() {
        let again = Covered { end: 1001, copies: 1, last_sent: at(50) };
        let rack = Rack::new();
        let answers = |now, age| rack.answers_last_transmission(&acked(age), &again, &view(now, 1));
        assert_eq!([149, 150].map(|now| answers(now, None)), [false, true]);
        assert_eq!([150, 151].map(|age| answers(150, Some(age))), [true, false]);
    }

    /// Sixteen recoveries that end without a DSACK reset the window. A second DSACK in a round trip
    /// does not widen it.
    #[test]
    fn the_window_adapts_to_dsacks() {
        let mut rack = Rack::new();
        rack.adapt(true, Repairing::Nothing, &view(0, 1));
        rack.adapt(true, Repairing::Nothing, &view(0, 10_000));
        assert_eq!(rack.multiplier, 2);
        rack.adapt(true, Repairing::Nothing, &view(0, 10_001));
        assert_eq!(rack.multiplier, 3);
        for _ in 0..40 {
            rack.adapt(false, Repairing::Losses, &view(0, 30_001));
            rack.adapt(false, Repairing::Nothing, &view(0, 30_001));
        }
        assert_eq!(rack.multiplier, 3, "no recovery has ended");
        (0..15).for_each(|_| rack.adapt(false, Repairing::Ending, &view(0, 30_001)));
        assert_eq!(rack.multiplier, 3);
        rack.adapt(false, Repairing::Ending, &view(0, 30_001));
        assert_eq!(rack.multiplier, 1);
    }
}
