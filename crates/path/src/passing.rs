//! Parcels whose arrival the driver handles at admission, so that the link keeps no event for them.

use eifel_base::ring::Ring;
use eifel_base::time::Instant;

/// The number of parcels up to which departures are never counted. A network of many links keeps few parcels
/// for each.
const FEW: u32 = 32;

/// Departure and bytes of the parcels not yet counted as transmitted, in order of departure.
#[derive(Debug)]
pub(crate) struct Passing {
    waiting: Ring<(Instant, u32)>,
    /// Number of parcels at which departures are to be counted.
    limit: u32,
}

impl Default for Passing {
    fn default() -> Self {
        Self { waiting: Ring::default(), limit: FEW }
    }
}

impl Passing {
    /// Returns whether departures are to be counted, so that parcels which left do not pile up.
    #[inline]
    pub(crate) fn is_long(&self) -> bool {
        self.waiting.len() >= self.limit as usize
    }

    /// Lets a quarter more than the present parcels pile up, so that counting costs a parcel next to nothing.
    pub(crate) fn set_limit(&mut self) {
        let left = self.waiting.len() as u32;
        self.limit = FEW + left + left / 4;
    }

    /// Adds a parcel that leaves after all others.
    #[inline]
    pub(crate) fn push(&mut self, departs: Instant, bytes: u32) {
        self.waiting.push_back((departs, bytes));
    }

    /// Counts the parcels that departed by `now` as transmitted. Returns their bytes.
    pub(crate) fn count_until(&mut self, now: Instant) -> u64 {
        let mut gone = 0;
        while let Some(&(_, bytes)) = self.waiting.front().filter(|(departs, _)| *departs <= now) {
            gone += u64::from(bytes);
            self.waiting.pop_front();
        }
        gone
    }

    /// Returns the number of parcels not counted as transmitted.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns departure and bytes of the first parcel.
    pub(crate) fn first(&self) -> Option<(Instant, u32)> {
        self.waiting.front().copied()
    }

    /// Returns the number of parcels that leave after `now`, and the bytes of the others.
    pub(crate) fn left(&self, now: Instant) -> (usize, u64) {
        let gone = self.waiting.iter().take_while(|(departs, _)| *departs <= now);
        let (count, bytes) = gone.fold((0, 0), |(count, sum), (_, bytes)| (count + 1, sum + u64::from(*bytes)));
        (self.waiting.len() - count, bytes)
    }

    /// Returns the bytes of all parcels.
    pub(crate) fn bytes(&self) -> u64 {
        self.waiting.iter().map(|(_, bytes)| u64::from(*bytes)).sum()
    }
}
