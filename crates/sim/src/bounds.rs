//! What keeps a run from hanging and from taking all memory: time has to pass, and packets under way have to fit.
//!
//! Both are looked at now and then, so that they cost an event no more than a comparison.

use crate::network::Span;
use crate::run::Error;
use crate::slab::Slab;
use eifel_base::time::Instant;

/// The most packets under way of all flows, background traffic aside: 1.2 GB with what links keep of each.
pub const MOST_PACKETS: usize = 1 << 22;
/// Turns of the run's loop between two looks.
const EVERY: u64 = 1 << 14;
/// Looks in a row that may find the same instant: 4 million turns, about a second of computing.
const MOST_LOOKS: u32 = 1 << 8;

/// How far a run has come since the last look.
#[derive(Debug)]
pub struct Bounds {
    turns: u64,
    next_look: u64,
    found_at: Instant,
    looks: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { turns: 0, next_look: EVERY, found_at: Instant::NEVER, looks: 0 }
    }
}

impl Bounds {
    /// Counts a turn of the run's loop, and returns whether it is time to [look](Self::look).
    #[inline]
    pub fn turn(&mut self) -> bool {
        self.turns += 1;
        self.turns >= self.next_look
    }

    /// Returns the turns so far.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// Checks that time has passed since earlier looks, and that what is under way fits into memory.
    ///
    /// # Errors
    /// [`Error::Standstill`] and [`Error::Overfull`].
    #[cold]
    pub fn look(&mut self, now: Instant, slab: &Slab, spans: &[Span]) -> Result<(), Error> {
        self.next_look = self.turns + EVERY;
        self.looks = if now == self.found_at { self.looks + 1 } else { 0 };
        self.found_at = now;
        if self.looks >= MOST_LOOKS {
            return Err(Error::Standstill { at: now });
        }
        Self::fits(now, slab, spans)
    }

    /// Checks that what is under way fits into memory.
    ///
    /// # Errors
    /// [`Error::Overfull`].
    pub fn fits(now: Instant, slab: &Slab, spans: &[Span]) -> Result<(), Error> {
        let overfull = slab.len() > MOST_PACKETS || spans.iter().any(|span| span.link.is_overfull());
        if overfull { Err(Error::Overfull { at: now }) } else { Ok(()) }
    }
}
