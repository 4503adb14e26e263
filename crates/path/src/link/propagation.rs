//! Propagation: from the end of a transmission to the far end, with a delay that may change.

use crate::config::{DelayChange, LinkConfig};
use eifel_base::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Propagation {
    delay: Duration,
    /// Boxed, because few links have changes and every packet reads the delay.
    changes: Option<Box<Changes>>,
}

#[derive(Debug)]
struct Changes {
    /// Future changes, the next one last.
    coming: Vec<DelayChange>,
    /// The arrival of the last transmission before the last change. No later one arrives sooner.
    latest: Instant,
    /// Whether any parcel was sent before.
    used: bool,
}

impl Propagation {
    pub(super) fn new(config: &LinkConfig) -> Self {
        let coming: Vec<_> = config.delay_changes.iter().rev().copied().collect();
        let changes = Changes { coming, latest: Instant::ZERO, used: false };
        Self { delay: config.delay, changes: (!config.delay_changes.is_empty()).then(|| Box::new(changes)) }
    }

    /// Returns the arrival of a transmission that ends at `departs`, where
    /// [no change interferes](Self::steady_until).
    #[inline(always)]
    pub(super) fn arrival(&self, departs: Instant) -> Instant {
        departs + self.delay
    }

    /// Returns the arrival of a transmission that ends at `departs`; the one before it ended at
    /// `previous`.
    pub(super) fn arrive(&mut self, departs: Instant, previous: Instant) -> Instant {
        let Self { delay, changes } = self;
        let Some(changes) = changes else { return departs + *delay };
        while let Some(change) = changes.coming.pop_if(|change| change.at <= departs) {
            if changes.used && previous < change.at {
                changes.latest = changes.latest.max(previous + *delay);
            }
            *delay = change.delay;
        }
        changes.used = true;
        (departs + *delay).max(changes.latest)
    }

    /// Returns the earliest arrival that [`arrival`](Self::arrival) may not compute, after a
    /// transmission that ended at `departs`.
    pub(super) fn steady_until(&self, departs: Instant) -> Instant {
        match &self.changes {
            None => Instant::NEVER,
            Some(changes) if self.arrival(departs) < changes.latest => Instant::ZERO,
            Some(changes) => changes.coming.last().map_or(Instant::NEVER, |next| self.arrival(next.at)),
        }
    }
}
