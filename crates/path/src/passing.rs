//! Parcels of which a link need not say that they have arrived, since the driver knows it from their admission.

use eifel_base::ring::Ring;
use eifel_base::time::Instant;

/// Those of them that have not been counted as transmitted, in order: when each leaves, and its bytes.
#[derive(Debug, Default)]
pub(crate) struct Passing {
    waiting: Ring<(Instant, u32)>,
}

impl Passing {
    /// A parcel will leave then, after all before it.
    #[inline]
    pub(crate) fn push(&mut self, departs: Instant, bytes: u32) {
        self.waiting.push_back((departs, bytes));
    }

    /// Counts as transmitted what is so by `now`; the answer is its bytes.
    pub(crate) fn settle(&mut self, now: Instant) -> u64 {
        let mut gone = 0;
        while let Some(&(_, bytes)) = self.waiting.front().filter(|(departs, _)| *departs <= now) {
            gone += u64::from(bytes);
            self.waiting.pop_front();
        }
        gone
    }

    /// How many are not counted as transmitted.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The first of them: when it leaves, and its bytes.
    pub(crate) fn first(&self) -> Option<(Instant, u32)> {
        self.waiting.front().copied()
    }

    /// How many of them leave after `now`, and the bytes of the others.
    pub(crate) fn left(&self, now: Instant) -> (usize, u64) {
        let gone = self.waiting.iter().take_while(|(departs, _)| *departs <= now);
        let (count, bytes) = gone.fold((0, 0), |(count, sum), (_, bytes)| (count + 1, sum + u64::from(*bytes)));
        (self.waiting.len() - count, bytes)
    }

    /// Their bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.waiting.iter().map(|(_, bytes)| u64::from(*bytes)).sum()
    }
}
