//! Measures the round trips from the capture point to each end.
//!
//! The round trip to the receiver limits which transmission an ACK can answer. The round trip to
//! the sender shows how late the sender's reactions are seen. If one of them is near zero, the
//! capture was made at that end.

use crate::result::{Vantage, When};

/// If the round trip to the sender is shorter than this, in nanoseconds, segments pass here when
/// they leave.
const NEAR: u64 = 1_000_000;
/// A round trip shorter than this, in nanoseconds, is the time that the host itself takes to answer.
const HOST: u64 = 100_000;
/// The time within which an end answers a packet, even on a slow machine, in nanoseconds.
pub(crate) const AT_ONCE: u64 = 4_000_000;

/// The shortest round trip seen, in nanoseconds; `u64::MAX` if there was none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortestRtt(u64);

impl Default for ShortestRtt {
    fn default() -> Self {
        Self(u64::MAX)
    }
}

impl ShortestRtt {
    #[inline]
    fn get(self) -> Option<u64> {
        (self.0 != u64::MAX).then_some(self.0)
    }
}

/// Round trips between the capture point and one end, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrip {
    shortest: ShortestRtt,
    /// When the timestamp being timed passed on its way to that end, and the timestamp; 0 while
    /// none is timed.
    passed: u64,
    stamp: u32,
    latest_stamp: u32,
}

impl RoundTrip {
    /// Returns the shortest round trip so far.
    #[inline]
    pub(crate) fn shortest(&self) -> Option<u64> {
        self.shortest.get()
    }

    /// Returns the shortest round trip so far in its stored form.
    #[inline]
    pub(crate) fn stored(&self) -> ShortestRtt {
        self.shortest
    }

    #[inline]
    pub(crate) fn sample(&mut self, nanos: u64) {
        self.shortest.0 = self.shortest.0.min(nanos);
    }

    /// Handles a packet to that end with timestamp `stamp`. Only one timestamp is timed at a time,
    /// from the first packet that carries it; a first timestamp of 0 is not timed.
    #[inline]
    pub(crate) fn on_packet_to(&mut self, stamp: u32, when: When) {
        if self.passed == 0 && self.latest_stamp != stamp {
            (self.stamp, self.passed) = (stamp, when.nanos);
        }
        self.latest_stamp = stamp;
    }

    /// Handles a packet from that end that echoes `echo`. Returns the round trip of the timestamp
    /// being timed, in nanoseconds, if this is its echo.
    #[inline]
    pub(crate) fn on_packet_from(&mut self, echo: u32, when: When) -> Option<u64> {
        if self.passed == 0 || echo.wrapping_sub(self.stamp) >= 1 << 31 {
            return None;
        }
        let took = when.nanos.saturating_sub(std::mem::take(&mut self.passed));
        (echo == self.stamp).then(|| self.sample(took))?;
        Some(took)
    }
}

/// The capture point when a packet passes: the time, the distances of both ends, and whether these
/// agreed on SACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CapturePoint {
    pub(crate) when: When,
    pub(crate) to_receiver: ShortestRtt,
    pub(crate) to_sender: ShortestRtt,
    pub(crate) sack: bool,
}

impl CapturePoint {
    /// Returns the shortest round trip from here to the receiver and back, in nanoseconds.
    pub(crate) fn receiver_rtt(&self) -> Option<u64> {
        self.to_receiver.get()
    }

    /// Returns the shortest round trip from here to the sender and back, in nanoseconds.
    pub(crate) fn sender_rtt(&self) -> Option<u64> {
        self.to_sender.get()
    }

    pub(crate) fn vantage(&self) -> Vantage {
        Vantage::find(self.sender_rtt(), self.receiver_rtt())
    }

    /// Returns whether segments pass here when they leave. True if the round trip to the sender is
    /// short, or if none was seen. On a LAN it is short at both ends: then the place decides.
    #[inline]
    pub(crate) fn is_next_to_sender(&self) -> bool {
        let far = || matches!(self.vantage(), Vantage::Between | Vantage::Receiver);
        self.sender_rtt().is_none_or(|trip| trip < NEAR && (trip < HOST || !far()))
    }

    /// Returns whether a measured round trip shows that the sender is near.
    pub(crate) fn is_known_next_to_sender(&self) -> bool {
        self.sender_rtt().is_some() && self.is_next_to_sender()
    }

    /// Returns how long an ACK and the sender's reaction to it take from here and back, at least, in
    /// nanoseconds. At the sender's own host it is zero: the shortest round trip seen there is the
    /// host's time to answer, and it may answer sooner.
    pub(crate) fn reaction_delay(&self) -> u64 {
        let trip = self.sender_rtt().unwrap_or(0);
        if trip < HOST || self.vantage() == Vantage::Sender { 0 } else { trip }
    }

    /// Returns the shortest round trip between sender and receiver, in nanoseconds. Without one to
    /// the sender, it is the one to the receiver.
    pub(crate) fn round_trip_at_least(&self) -> Option<u64> {
        Some(self.receiver_rtt()? + self.sender_rtt().unwrap_or(0))
    }

    /// Returns the shortest round trip between sender and receiver, in nanoseconds.
    pub(crate) fn round_trip(&self) -> Option<u64> {
        Some(self.sender_rtt()? + self.receiver_rtt()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_lasts_from_a_timestamps_first_packet_to_its_first_echo() {
        let at = |nanos| When { nanos, frame: 1 };
        let mut trip = RoundTrip::default();
        trip.on_packet_to(5, at(100));
        trip.on_packet_to(5, at(150));
        trip.on_packet_to(6, at(160));
        trip.on_packet_from(4, at(170));
        assert_eq!(trip.shortest(), None);
        trip.on_packet_from(5, at(300));
        trip.on_packet_from(5, at(310));
        assert_eq!(trip.shortest(), Some(200));
        // An echo of a later timestamp ends the wait without a sample.
        trip.on_packet_to(7, at(400));
        trip.on_packet_from(8, at(410));
        trip.on_packet_to(9, at(500));
        trip.on_packet_from(9, at(650));
        assert_eq!(trip.shortest(), Some(150));
    }

    #[test]
    fn on_a_lan_a_capture_between_the_ends_is_not_next_to_the_sender() {
        let next = |sender: Option<u64>, receiver| {
            let [to_sender, to_receiver] = [sender, Some(receiver)].map(|trip| ShortestRtt(trip.unwrap_or(u64::MAX)));
            let when = When { nanos: 0, frame: 1 };
            CapturePoint { when, to_receiver, to_sender, sack: true }.is_next_to_sender()
        };
        let trips = [(500_000, 2_000_000), (500_000, 3_000_000), (99_000, 100_000), (600_000, 100_000)];
        assert_eq!(trips.map(|(sender, receiver)| next(Some(sender), receiver)), [false, true, true, false]);
        assert_eq!([next(None, 100_000), next(Some(1_000_000), 90_000_000)], [true, false]);
    }

    #[test]
    fn the_capture_was_made_at_the_end_with_the_short_round_trip() {
        const MS: u64 = 1_000_000;
        assert_eq!(Vantage::find(Some(60_000), Some(100 * MS)), Vantage::Sender);
        assert_eq!(Vantage::find(Some(100 * MS), Some(60_000)), Vantage::Receiver);
        assert_eq!(Vantage::find(Some(40 * MS), Some(60 * MS)), Vantage::Between);
        assert_eq!(Vantage::find(Some(600_000), Some(700_000)), Vantage::Between);
        assert_eq!(Vantage::find(Some(2_000), Some(100_000)), Vantage::Sender);
        // On a fast LAN, microseconds tell nothing.
        assert_eq!(Vantage::find(Some(2_000), Some(70_000)), Vantage::Unknown);
        assert_eq!(Vantage::find(None, Some(MS)), Vantage::Unknown);
    }
}
