//! Measures the round trips from the capture point to each end.
//!
//! The round trip to the receiver limits which sending an ACK can answer. The round trip to the
//! sender shows how late the sender's reactions are seen. If one of them is near zero, the capture
//! was made at that end.

use super::When;
use serde::Serialize;

/// The shortest round trip seen, in nanoseconds; `u64::MAX` if there was none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shortest(u64);

impl Shortest {
    #[inline]
    pub(super) fn shortest(self) -> Option<u64> {
        (self.0 != u64::MAX).then_some(self.0)
    }
}

/// Round trips between the capture point and one end, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trip {
    shortest: u64,
    /// When the timestamp being timed passed on its way to that end, and the timestamp; 0 while
    /// none is timed.
    passed: u64,
    stamp: u32,
    latest_stamp: u32,
}

impl Default for Trip {
    fn default() -> Self {
        Self { shortest: u64::MAX, passed: 0, stamp: 0, latest_stamp: 0 }
    }
}

impl Trip {
    /// Returns the shortest round trip so far.
    #[inline]
    pub(crate) fn shortest(&self) -> Option<u64> {
        (self.shortest != u64::MAX).then_some(self.shortest)
    }

    /// Returns the shortest round trip so far in its stored form.
    #[inline]
    pub(super) fn kept(&self) -> Shortest {
        Shortest(self.shortest)
    }

    #[inline]
    pub(crate) fn sample(&mut self, nanos: u64) {
        self.shortest = self.shortest.min(nanos);
    }

    /// Handles a packet to that end with timestamp `stamp`. Only one timestamp is timed at a time,
    /// from the first packet that carries it; a first timestamp of 0 is not timed.
    #[inline]
    pub(super) fn passes(&mut self, stamp: u32, when: When) {
        if self.passed == 0 && self.latest_stamp != stamp {
            (self.stamp, self.passed) = (stamp, when.nanos);
        }
        self.latest_stamp = stamp;
    }

    /// Handles a packet from that end that echoes `echo`. Returns the round trip of the timestamp
    /// being timed, in nanoseconds, if this is its echo.
    #[inline]
    pub(super) fn returns(&mut self, echo: u32, when: When) -> Option<u64> {
        if self.passed == 0 || echo.wrapping_sub(self.stamp) >= 1 << 31 {
            return None;
        }
        let took = when.nanos.saturating_sub(std::mem::take(&mut self.passed));
        (echo == self.stamp).then(|| self.sample(took))?;
        Some(took)
    }
}

/// The position of the capture point relative to one direction of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Vantage {
    /// At the sender of the data, or close to it.
    Sender,
    /// At the receiver of the data, or close to it.
    Receiver,
    /// Between the two ends.
    Between,
    /// Unknown: too few packets were seen to tell.
    Unknown,
}

impl Vantage {
    /// Finds the vantage from the round trips to the sender and to the receiver, in nanoseconds.
    pub(crate) fn find(sender: Option<u64>, receiver: Option<u64>) -> Self {
        /// The time within which a host answers, in nanoseconds.
        const HOST: u64 = 1_000_000;
        let (Some(sender), Some(receiver)) = (sender, receiver) else { return Self::Unknown };
        let near = |one: u64, other: u64| one < HOST && other > one.saturating_mul(4);
        if near(sender, receiver) {
            Self::Sender
        } else if near(receiver, sender) {
            Self::Receiver
        } else {
            Self::Between
        }
    }

    /// Returns a description of the place for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sender => "at the sender",
            Self::Receiver => "at the receiver",
            Self::Between => "on the path between",
            Self::Unknown => "at an unknown place",
        }
    }

    /// Returns the evidence for it, in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Sender => "the sender reacts to ACKs at once, the receiver answers a round trip later",
            Self::Receiver => "the receiver answers data at once, the sender reacts a round trip later",
            Self::Between => "both ends are some time away",
            Self::Unknown => "no round trip was seen whole",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_timed_from_its_first_packet_to_its_first_echo() {
        let at = |nanos| When { nanos, frame: 1 };
        let mut trip = Trip::default();
        trip.passes(5, at(100));
        trip.passes(5, at(150));
        trip.passes(6, at(160));
        trip.returns(4, at(170));
        assert_eq!(trip.shortest(), None);
        trip.returns(5, at(300));
        trip.returns(5, at(310));
        assert_eq!(trip.shortest(), Some(200));
        // An echo of a later timestamp ends the wait without a sample.
        trip.passes(7, at(400));
        trip.returns(8, at(410));
        trip.passes(9, at(500));
        trip.returns(9, at(650));
        assert_eq!(trip.shortest(), Some(150));
    }

    #[test]
    fn the_near_end_is_where_the_capture_was_made() {
        const MS: u64 = 1_000_000;
        assert_eq!(Vantage::find(Some(60_000), Some(100 * MS)), Vantage::Sender);
        assert_eq!(Vantage::find(Some(100 * MS), Some(60_000)), Vantage::Receiver);
        assert_eq!(Vantage::find(Some(40 * MS), Some(60 * MS)), Vantage::Between);
        assert_eq!(Vantage::find(Some(60_000), Some(70_000)), Vantage::Between);
        assert_eq!(Vantage::find(None, Some(MS)), Vantage::Unknown);
    }
}
