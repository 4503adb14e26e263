//! Where ACKs of new data have ended, and when they passed.
//!
//! The timer repairs the first segment that is not acknowledged. So its retransmission begins where an ACK has ended, and leaves
//! a timeout after that ACK has come at the soonest.

use eifel_base::ring::Ring;

/// ACKs remembered.
const MOST: usize = 256;

/// Memory that is kept while there are few, in ACKs.
const MOST_KEPT: usize = 2;

/// The last ACKs of new data, in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Boundaries {
    ends: Ring<(u64, u64)>,
}

/// How a position lies among the ends of ACKs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// An ACK has ended there, and passed at this time, in nanoseconds.
    End(u64),
    /// Within what one ACK has covered.
    Within,
    /// The ACKs before it are forgotten.
    Unknown,
}

impl Boundaries {
    /// An ACK of everything below `end` passes at `nanos`.
    #[inline]
    pub(super) fn on_ack(&mut self, end: u64, nanos: u64) {
        if self.ends.len() == MOST {
            self.ends.pop_front();
        }
        self.ends.push_back((end, nanos));
    }

    /// The sender has heard an ACK of everything below `end`: it sends nothing again that begins before.
    pub(super) fn forget_below(&mut self, end: u64) {
        self.ends.pop_front_while(|(first, _)| *first < end);
        if self.ends.len() <= MOST_KEPT && self.ends.capacity() > 4 * MOST_KEPT {
            let mut kept = Ring::default();
            self.ends.iter().for_each(|one| kept.push_back(*one));
            self.ends = kept;
        }
    }

    /// Reads how many there are.
    pub(super) fn touch(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Reads one of them.
    pub(super) fn touch_first(&self) -> u64 {
        self.ends.front().map_or(0, |(end, _)| *end)
    }

    /// Returns how a position lies among them.
    pub(super) fn place(&self, position: u64) -> Place {
        let after = self.ends.partition_point(|(end, _)| *end <= position);
        match after.checked_sub(1).and_then(|before| self.ends.get(before)) {
            Some((end, nanos)) if *end == position => Place::End(*nanos),
            Some(_) => Place::Within,
            None => Place::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_the_end_of_an_ack_or_within_one() {
        let mut boundaries = Boundaries::default();
        assert_eq!(boundaries.place(0), Place::Unknown);
        boundaries.on_ack(1000, 7);
        boundaries.on_ack(3000, 9);
        let places = [999, 1000, 1001, 3000, 4000].map(|position| boundaries.place(position));
        assert_eq!(places, [Place::Unknown, Place::End(7), Place::Within, Place::End(9), Place::Within]);
    }

    #[test]
    fn what_the_sender_has_heard_is_forgotten_with_its_memory() {
        let mut boundaries = Boundaries::default();
        (0..100).for_each(|number| boundaries.on_ack(number * 1000, number));
        boundaries.forget_below(98_000);
        let places = [97_000, 98_000, 98_500, 99_000].map(|position| boundaries.place(position));
        assert_eq!(places, [Place::Unknown, Place::End(98), Place::Within, Place::End(99)]);
        assert_eq!(boundaries.ends.capacity(), MOST_KEPT);
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut boundaries = Boundaries::default();
        (0..=MOST as u64).for_each(|end| boundaries.on_ack(end, end));
        assert_eq!(boundaries.place(0), Place::Unknown);
        assert_eq!(boundaries.place(1), Place::End(1));
        assert_eq!(boundaries.ends.len(), MOST);
    }
}
