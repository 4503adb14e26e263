//! Background traffic of a link: parcels that cross only this link, and cause no event.

use super::{Link, MOST_BACKGROUND, MOST_UNCOUNTED};
use crate::background::{Background, Source};
use crate::parcel::{Counts, DropCause};
use eifel_base::time::Instant;

impl Link {
    /// Adds a source of background traffic: parcels of this length that cross only this link.
    /// Returns its number. A queue that [decides at its exit](crate::queue::QueueConfig::decides_at_exit)
    /// drops all of it.
    pub fn accompany(&mut self, bytes: u32) -> usize {
        self.background.push(Background::new(bytes));
        self.background.len() - 1
    }

    /// Offers a parcel of source number `index` at the tail of the queue, behind the elements. It
    /// causes no event and no outcome; [`background`](Self::background) counts it.
    ///
    /// # Errors
    /// The cause, if the queue drops the parcel.
    #[inline(always)]
    pub fn offer_background(&mut self, now: Instant, index: usize) -> Result<(), DropCause> {
        let bytes = self.background.get(index).map_or(0, Background::bytes);
        let admitted = if self.spare.take(bytes) { Ok(()) } else { self.admit(now, bytes) };
        if admitted.is_ok() {
            let (departs, arrives) = self.schedule(now, bytes);
            self.queued_background += 1;
            if let Some(background) = self.background.get_mut(index) {
                background.accept(departs, arrives);
            }
            if self.queued_background >= MOST_UNCOUNTED {
                self.count_departures(now);
                let kept: usize = self.background.iter().map(Background::len).sum();
                self.overfull |= kept > MOST_BACKGROUND;
            }
        } else if let Some(background) = self.background.get_mut(index) {
            background.refuse();
        }
        admitted
    }

    /// Offers all parcels of `source`, number `index`, that are due by `until`, each at its own
    /// instant.
    #[inline]
    pub fn run_background(&mut self, index: usize, source: &mut impl Source, until: Instant) {
        loop {
            let due = source.due();
            if due > until || due == Instant::NEVER || self.overfull {
                return;
            }
            // A drop is counted as well.
            let _ = self.offer_background(due, index);
            source.step();
        }
    }

    /// Returns whether more background traffic is under way than fits into memory. From then on the
    /// link takes none from [sources](Self::run_background), and the run must be given up.
    pub fn is_overfull(&self) -> bool {
        self.overfull
    }

    /// Returns what a source of background traffic sent, and how much of it arrived by `now`.
    pub fn background(&self, index: usize, now: Instant) -> Counts {
        self.background.get(index).map(|background| background.counts(now)).unwrap_or_default()
    }
}
