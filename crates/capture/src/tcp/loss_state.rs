//! Puts a direction to rest after trouble.
//!
//! A direction rests once all its retransmissions are acknowledged and two windows have passed
//! without a sign of trouble. It then costs as little as one without trouble, until the next sign.
//! Its results are kept.

use super::again::Trouble;
use super::half::{Half, Setting};
use super::replica::Replica;
use crate::verdict::REORDERED_WITHIN;

/// The number of windows without a sign of trouble after which a direction may rest.
const WINDOWS: u32 = 2;

/// Whether packets have to be examined for the trouble.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rest {
    /// The last sign of trouble came at `since`, in nanoseconds. Since then `windows` windows were
    /// acknowledged. The current window ends at position `until`.
    Awake { since: u64, until: u64, windows: u32 },
    /// Everything is repaired.
    Asleep,
}

impl Half {
    /// Returns whether there was no trouble, or the trouble is over.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        self.trouble.as_ref().is_none_or(|trouble| matches!(trouble.rest, Rest::Asleep))
    }

    /// Returns whether an ACK up to `cumulative` covers new data and tells nothing about repairs.
    #[inline]
    pub(super) fn is_mended(&self, cumulative: u64) -> bool {
        cumulative > self.una && self.trouble.as_ref().is_some_and(|trouble| trouble.is_mended(self.una))
    }

    /// Handles a sign of trouble: creates the [`Trouble`] of the half, or wakes it.
    pub(super) fn begin(&mut self, setting: &Setting) {
        if self.trouble.is_none() {
            self.trouble = Some(Box::new(Trouble::new(Replica::new())));
        }
        if self.is_calm()
            && let Some(mut trouble) = self.trouble.take()
        {
            trouble.wake(self, setting);
            self.trouble = Some(trouble);
        }
    }

    /// Handles an ACK of new data without a sign of trouble. Puts the direction to rest if it may
    /// rest.
    pub(super) fn settle(&mut self, trouble: &mut Trouble, setting: &Setting) {
        let Rest::Awake { since, until, windows } = trouble.rest else { return };
        if self.una < until {
            return;
        }
        trouble.rest = Rest::Awake { since, until: self.nxt, windows: windows + 1 };
        // Away from the sender, windows seen here are shorter than round trips, and the path may
        // hold packets.
        let least = if setting.is_next_to_sender() { 0 } else { REORDERED_WITHIN };
        let rested = setting.when.nanos.saturating_sub(since)
            >= setting.round_trip().map_or(REORDERED_WITHIN, |trip| least.max(trip * 2));
        let repaired = || trouble.active.is_empty() && trouble.sacked.is_empty() && trouble.replica.is_repaired();
        if rested && windows + 1 >= WINDOWS && repaired() {
            let unheard = trouble.replica.rest();
            self.set_unheard(unheard);
            trouble.rest = Rest::Asleep;
        }
    }
}

impl Trouble {
    fn wake(&mut self, half: &Half, setting: &Setting) {
        self.replica.wake(half, setting);
        self.stir(half.nxt, setting);
    }

    /// Returns whether all retransmissions lie below `una` and are acknowledged, nothing above is
    /// reported by SACK, and the last ACK brought news.
    #[inline]
    fn is_mended(&self, una: u64) -> bool {
        self.repaired_below <= una && self.active.is_empty() && self.sacked.is_empty() && !self.is_without_news()
    }

    /// Records a sign of trouble after everything below `nxt` was sent.
    pub(super) fn stir(&mut self, nxt: u64, setting: &Setting) {
        self.rest = Rest::Awake { since: setting.when.nanos, until: nxt, windows: 0 };
    }
}
