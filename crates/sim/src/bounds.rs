//! Limits of a run: virtual time must pass, and the packets under way must fit into memory.
//!
//! Both are checked only every [`EVERY`] turns, so that a turn costs no more than a comparison.

use crate::error::Error;
use crate::span::Span;
use eifel_base::time::Instant;

/// The most packets under way in all flows, without background traffic. With the state that links
/// keep for each, they take 1.2 GB.
pub const MOST_PACKETS: usize = 1 << 22;
/// Turns of the run's loop between two checks.
const EVERY: u64 = 1 << 14;
/// Consecutive checks that may find the same virtual time: 4 million turns, about one second of
/// computing.
const MOST_LOOKS: u32 = 1 << 8;

/// Progress of a run since the last check.
#[derive(Debug)]
pub struct Bounds {
    /// Turns of the whole run at the next check.
    next_look: u64,
    /// Turns left until the next check.
    left: u64,
    /// The virtual time at the last check.
    found_at: Instant,
    /// Consecutive checks that found this time, without the first.
    looks: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { next_look: EVERY, left: EVERY, found_at: Instant::NEVER, looks: 0 }
    }
}

impl Bounds {
    /// Counts a turn of the run's loop. Returns whether [`look`](Self::look) is due.
    #[inline]
    pub fn turn(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }

    /// Returns the turns so far.
    pub fn turns(&self) -> u64 {
        self.next_look - self.left
    }

    /// Checks that time has passed since earlier checks, and that the packets under way fit into
    /// memory.
    ///
    /// # Errors
    /// [`Error::Standstill`] and [`Error::Overfull`].
    #[cold]
    pub fn look(&mut self, now: Instant, under_way: usize, spans: &[Span]) -> Result<(), Error> {
        self.next_look += EVERY;
        self.left = EVERY;
        self.looks = if now == self.found_at { self.looks + 1 } else { 0 };
        self.found_at = now;
        if self.looks >= MOST_LOOKS {
            return Err(Error::Standstill { at: now });
        }
        Self::fits(now, under_way, spans)
    }

    /// Checks that the packets under way fit into memory.
    ///
    /// # Errors
    /// [`Error::Overfull`].
    pub fn fits(now: Instant, under_way: usize, spans: &[Span]) -> Result<(), Error> {
        let overfull = under_way > MOST_PACKETS || spans.iter().any(|span| span.link.is_overfull());
        if overfull { Err(Error::Overfull { at: now }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_packets_still_fit() {
        let fits = |under_way| Bounds::fits(Instant::ZERO, under_way, &[]).is_ok();
        assert_eq!([0, MOST_PACKETS - 1, MOST_PACKETS, MOST_PACKETS + 1].map(fits), [true, true, true, false]);
    }

    #[test]
    fn time_may_stand_still_at_all_checks_but_the_last() {
        let mut bounds = Bounds::default();
        let mut looks = |now| bounds.look(now, 0, &[]).is_ok();
        // The first check that finds a time is not counted.
        assert!((0..MOST_LOOKS).all(|_| looks(Instant::ZERO)));
        assert!(!looks(Instant::ZERO));
        // Time passes, so the count starts again.
        assert!((0..MOST_LOOKS).all(|_| looks(Instant::from_nanos(1))));
        assert!(!looks(Instant::from_nanos(1)));
    }

    #[test]
    fn turns_are_counted_between_checks() {
        let mut bounds = Bounds::default();
        for turn in 1..=3 * EVERY {
            assert_eq!(bounds.turn(), turn % EVERY == 0, "{turn}");
            assert_eq!(bounds.turns(), turn);
            if turn % EVERY == 0 {
                assert!(bounds.look(Instant::from_nanos(turn), 0, &[]).is_ok());
            }
        }
    }
}
