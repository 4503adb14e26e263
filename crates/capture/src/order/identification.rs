//! Learns how a sender counts in the IPv4 identification, and numbers its packets.
//!
//! Looks at the step from the newest identification of one direction to each next packet's. Decides
//! whether they are values of a counter: per flow, as Linux counts, or per host, with larger steps.
//! Blind with IPv6, and with identifications that are zero, constant or random.

/// Forward steps up to this one show a counter per flow. Packets with an ACK alone count too.
const NEAR: u16 = 64;
/// Identifications are compared only within a quarter of their space.
const QUARTER: u16 = 1 << 14;
/// Packets that are behind by no more than this are reordered ones of a counter.
const REORDERED: u16 = 1 << 10;
/// What a step of up to [`NEAR`] adds to the score, in either direction.
const GAIN: u8 = 8;
/// From this score on, identifications are values of a counter.
const COUNTS: u8 = 3 * GAIN;
const MOST: u8 = 4 * COUNTS;

/// What the counter in the identification shows of a packet that has just passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Follows {
    Unknown,
    /// It has the value of a packet that passed shortly before, and so is its copy.
    Itself,
    /// It has the newest value, and the one with the value before it has passed: the sender sent nothing in
    /// between.
    Directly,
}

/// What is known of the identifications of one direction. A capture may hold a hundred thousand of
/// these.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Identifications {
    newest: u16,
    /// The number of times that the counter wrapped, from 1; 0 before the first packet.
    laps: u16,
    /// The last one that came again, if its packet was one of the latest.
    repeated: u16,
    /// Which of the latest values have passed, as bits: the lowest stands for the newest.
    passed: [u8; 4],
    score: u8,
    /// Whether two packets in a row had different ones.
    varies: bool,
}

impl Identifications {
    /// Handles the identification of the next packet; 0 means that it has none. Returns the number
    /// of the packet: its identification, and above it the laps of the counter.
    #[inline(always)]
    pub fn on_packet(&mut self, identification: u16) -> u32 {
        let step = identification.wrapping_sub(self.newest);
        // Only a sender that counts has the full score.
        if step.wrapping_sub(1) < NEAR && identification > step && self.score == MOST {
            self.advance_to(identification, step);
            return u32::from(self.laps) << 16 | u32::from(identification);
        }
        self.on_unusual(identification, step)
    }

    /// Handles an identification that is not the next one, and the first ones before the full score.
    #[cold]
    #[inline(never)]
    fn on_unusual(&mut self, identification: u16, step: u16) -> u32 {
        if identification == 0 {
            return 0;
        }
        if self.laps == 0 {
            (self.newest, self.laps, self.passed) = (identification, 1, [1, 0, 0, 0]);
            return self.number(identification);
        }
        self.varies |= step != 0;
        let behind = step.wrapping_neg();
        let (gain, advances) = match step {
            0 => (-1, false),
            _ if step <= NEAR => (i16::from(GAIN), true),
            _ if step < QUARTER => (1, true),
            _ if behind <= NEAR => (i16::from(GAIN), false),
            _ if behind <= REORDERED => (0, false),
            _ if behind < QUARTER => (-1, false),
            _ => (-i16::from(COUNTS), true),
        };
        self.score = self.score.saturating_add_signed(gain as i8).min(MOST);
        if advances {
            self.laps = self.laps.wrapping_add(u16::from(identification < self.newest));
            self.advance_to(identification, step);
        } else if let Some(bit) = 1_u32.checked_shl(behind.into()) {
            let passed = u32::from_le_bytes(self.passed);
            if passed & bit != 0 {
                self.repeated = identification;
            }
            self.passed = (passed | bit).to_le_bytes();
        }
        self.number(identification)
    }

    #[inline(always)]
    fn advance_to(&mut self, identification: u16, step: u16) {
        let passed = u32::from_le_bytes(self.passed).checked_shl(step.into()).unwrap_or(0);
        (self.newest, self.passed) = (identification, (passed | 1).to_le_bytes());
    }

    /// Returns what the value of a packet that has just passed shows, if the sender counts.
    #[inline(always)]
    pub(crate) fn follows(&self, identification: u16) -> Follows {
        if !self.counts() {
            Follows::Unknown
        } else if self.repeated == identification && identification != 0 {
            Follows::Itself
        } else if self.newest == identification && self.passed[0] & 2 != 0 {
            Follows::Directly
        } else {
            Follows::Unknown
        }
    }

    /// Returns how many values before that of a packet that has just passed have not passed: packets between this
    /// one and the one before it did not come here, or not yet. At most 31; `None` if the sender does not count.
    #[inline(always)]
    pub(crate) fn skips(&self, identification: u16) -> Option<u32> {
        // The value before 1 is 0, which tells nothing.
        let follows = self.passed[0] & 2 != 0 || self.newest != identification || identification <= 1;
        let skipped = || if follows { 0 } else { (u32::from_le_bytes(self.passed) >> 1).trailing_zeros().min(31) };
        self.counts().then(skipped)
    }

    /// Returns whether an equal identification shows a duplicate, because it changes from packet to
    /// packet.
    pub(crate) fn varies(&self) -> bool {
        self.varies
    }

    /// Returns whether the identifications are values of a counter.
    #[inline(always)]
    pub fn counts(&self) -> bool {
        self.score >= COUNTS
    }

    /// Returns the number of a packet that has just passed, in the order in which the sender sent.
    /// It is 0 if the packet has none, and means something only if the sender
    /// [`counts`](Self::counts).
    pub(crate) fn number(&self, identification: u16) -> u32 {
        let newest = u32::from(self.laps) << 16 | u32::from(self.newest);
        let ahead = identification.wrapping_sub(self.newest) as i16;
        let known = identification != 0 && ahead.unsigned_abs() < QUARTER;
        if known { newest.wrapping_add_signed(i32::from(ahead)) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_testkit::random::Random;

    /// Returns the numbers of packets with these identifications.
    fn numbers(identifications: impl IntoIterator<Item = u16>) -> Vec<u32> {
        let mut known = Identifications::default();
        let number = |identification| {
            let number = known.on_packet(identification);
            if known.counts() { number } else { 0 }
        };
        identifications.into_iter().map(number).collect()
    }

    #[test]
    fn a_counter_is_learnt_from_three_steps() {
        assert_eq!(numbers([7, 8, 9, 11, 13]), [0, 0, 0, 0x1_000b, 0x1_000d]);
        assert_eq!(numbers([7, 8, 12, 11, 9]), [0, 0, 0, 0x1_000b, 0x1_0009]);
    }

    #[test]
    fn a_late_packet_has_the_number_of_its_departure() {
        let late = numbers([1, 2, 3, 4, 5, 7, 8, 6, 9]);
        assert_eq!(late[3..], [4, 5, 7, 8, 6, 9].map(|low| 0x1_0000 + low));
    }

    #[test]
    fn a_value_of_the_counter_that_comes_again_shows_a_copy() {
        let mut known = Identifications::default();
        let mut repeats = |identification| {
            known.on_packet(identification);
            known.follows(identification) == Follows::Itself
        };
        assert!((1..10).chain([12, 11]).all(|identification| !repeats(identification)));
        assert_eq!([9, 10, 11, 12, 13, 10].map(repeats), [true, false, true, true, false, true]);
    }

    #[test]
    fn a_value_that_is_left_out_shows_a_packet_that_did_not_come() {
        let mut known = Identifications::default();
        let mut skips = |identification| {
            known.on_packet(identification);
            known.skips(identification)
        };
        assert!((1..8).all(|identification| skips(identification).is_none_or(|skipped| skipped == 0)));
        assert_eq!([8, 10, 11, 9, 13, 0, 14].map(&mut skips), [0, 1, 0, 0, 1, 0, 0].map(Some));
        assert_eq!([18, 120].map(&mut skips), [Some(3), Some(31)]);
        // Zero has no place among the values, and no packet before the first ones is known.
        assert_eq!([0xfffe, 0xffff, 1, 2].map(skips), [Some(0); 4]);
        let mut drawn = Identifications::default();
        assert!([7, 9].into_iter().all(|identification| {
            drawn.on_packet(identification);
            drawn.skips(identification).is_none()
        }));
    }

    #[test]
    fn numbers_go_on_when_the_counter_wraps() {
        let wrapped = numbers([0xfffa, 0xfffb, 0xfffc, 0xfffd, 0xfffe, 0, 2, 0xffff, 3]);
        assert_eq!(wrapped[3..], [0x1_fffd, 0x1_fffe, 0, 0x2_0002, 0x1_ffff, 0x2_0003]);
    }

    #[test]
    fn the_counter_of_a_host_is_learnt_from_more_steps() {
        let shown = numbers((0..40).map(|packet| 100 + 1000 * packet));
        assert!(shown[..24].iter().all(|number| *number == 0) && shown[24..].is_sorted() && shown[24] > 0);
    }

    #[test]
    fn zero_constant_and_random_identifications_tell_nothing() {
        let mut random = Random(1);
        assert!(numbers([0; 100]).iter().all(|number| *number == 0));
        assert!(numbers([5; 100]).iter().all(|number| *number == 0));
        let drawn: Vec<_> = (0..1_000_000).map(|_| random.below(1 << 16) as u16).collect();
        assert!(numbers(drawn).iter().all(|number| *number == 0));
    }
}
