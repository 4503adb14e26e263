//! Where ACKs of new data end, and when they passed.
//!
//! The retransmission timer repairs the first segment that is not acknowledged. So its
//! retransmission starts where an ACK ended. It leaves one timeout after that ACK arrived, or
//! later.

use eifel_base::ring::Ring;

/// ACKs remembered.
const MOST: usize = 256;

/// The capacity to which the memory shrinks, in ACKs.
const MOST_KEPT: usize = 2;

/// The last ACKs of new data, in ascending order of their ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct AckEnds {
    ends: Ring<(u64, u64)>,
}

/// The place of a position among the ends of ACKs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AckPlace {
    /// An ACK ended there, and passed at this time, in nanoseconds.
    End(u64),
    /// Inside the data that one ACK covered.
    Within,
    /// The ACKs below it are forgotten.
    Unknown,
}

impl AckPlace {
    /// Returns the place with the time at which the sender received that ACK, `trip` later.
    pub(crate) fn received(self, trip: u64) -> Self {
        if let Self::End(passed) = self { Self::End(passed.saturating_add(trip)) } else { self }
    }
}

impl AckEnds {
    /// Records an ACK of everything below `end` that passes at `nanos`.
    #[inline]
    pub(crate) fn on_ack(&mut self, end: u64, nanos: u64) {
        if self.ends.len() == MOST {
            self.ends.pop_front();
        }
        self.ends.push_back((end, nanos));
    }

    /// Drops ends below an ACK that the sender has received. It retransmits nothing below that.
    pub(crate) fn forget_below(&mut self, end: u64) {
        self.ends.pop_front_while(|(first, _)| *first < end);
        if self.ends.len() <= MOST_KEPT && self.ends.capacity() > 4 * MOST_KEPT {
            let mut kept = Ring::default();
            self.ends.iter().for_each(|one| kept.push_back(*one));
            self.ends = kept;
        }
    }

    /// Reads the number of ends.
    pub(crate) fn touch(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Reads the first end.
    pub(crate) fn touch_first(&self) -> u64 {
        self.ends.front().map_or(0, |(end, _)| *end)
    }

    /// Returns the place of a position among the ends.
    pub(crate) fn ack_place(&self, position: u64) -> AckPlace {
        let after = self.ends.partition_point(|(end, _)| *end <= position);
        match after.checked_sub(1).and_then(|before| self.ends.get(before)) {
            Some((end, nanos)) if *end == position => AckPlace::End(*nanos),
            Some(_) => AckPlace::Within,
            None => AckPlace::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_at_the_end_of_an_ack_or_inside_it() {
        let mut ack_ends = AckEnds::default();
        assert_eq!(ack_ends.ack_place(0), AckPlace::Unknown);
        ack_ends.on_ack(1000, 7);
        ack_ends.on_ack(3000, 9);
        let places = [999, 1000, 1001, 3000, 4000].map(|position| ack_ends.ack_place(position));
        assert_eq!(places, [AckPlace::Unknown, AckPlace::End(7), AckPlace::Within, AckPlace::End(9), AckPlace::Within]);
    }

    #[test]
    fn ends_of_received_acks_are_dropped_and_their_memory_freed() {
        let mut ack_ends = AckEnds::default();
        (0..100).for_each(|number| ack_ends.on_ack(number * 1000, number));
        ack_ends.forget_below(98_000);
        let places = [97_000, 98_000, 98_500, 99_000].map(|position| ack_ends.ack_place(position));
        assert_eq!(places, [AckPlace::Unknown, AckPlace::End(98), AckPlace::Within, AckPlace::End(99)]);
        assert_eq!(ack_ends.ends.capacity(), MOST_KEPT);
    }

    #[test]
    fn the_oldest_incomplete_packets_are_dropped() {
        let mut ack_ends = AckEnds::default();
        (0..=MOST as u64).for_each(|end| ack_ends.on_ack(end, end));
        assert_eq!(ack_ends.ack_place(0), AckPlace::Unknown);
        assert_eq!(ack_ends.ack_place(1), AckPlace::End(1));
        assert_eq!(ack_ends.ends.len(), MOST);
    }
}
