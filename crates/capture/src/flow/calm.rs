//! Rest after trouble: once everything that was sent again has been answered, and two windows have passed without any sign of
//! trouble, a direction costs as little as one that never had any, until the next sign. What was found stays.

use super::again::Trouble;
use super::half::{Half, Setting};
use super::replica::Replica;
use crate::verdict::REORDERED_WITHIN;

/// Windows without a sign of trouble after which there is none.
const WINDOWS: u32 = 2;

/// Whether anything has to be asked of what passes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rest {
    /// Something was sent again or reported at `since`, in nanoseconds. Since then `windows` windows were acknowledged; that which
    /// is under way ends at `until`.
    Awake { since: u64, until: u64, windows: u32 },
    /// All is repaired.
    Asleep,
}

impl Half {
    /// Whether there was no trouble, or it is over.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        self.trouble.as_ref().is_none_or(|trouble| matches!(trouble.rest, Rest::Asleep))
    }

    /// Whether an ACK of everything below `cumulative` is of new data, and tells nothing of what was repaired.
    #[inline]
    pub(super) fn is_mended(&self, cumulative: u64) -> bool {
        cumulative > self.una && self.trouble.as_ref().is_some_and(|trouble| trouble.is_mended(self.una))
    }

    /// A sign of trouble: gives the half its [`Trouble`], or wakes it.
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

    /// More is acknowledged, and nothing is amiss: goes to sleep, if it is time to.
    pub(super) fn settle(&mut self, trouble: &mut Trouble, setting: &Setting) {
        let Rest::Awake { since, until, windows } = trouble.rest else { return };
        if self.una < until {
            return;
        }
        trouble.rest = Rest::Awake { since, until: self.nxt, windows: windows + 1 };
        // Away from the sender, windows as seen here are shorter than round trips, and what it sends may be held on its way.
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

    /// Whether everything that was sent again lies below `una` and is answered, and nothing is reported or to be explained.
    #[inline]
    fn is_mended(&self, una: u64) -> bool {
        self.repaired_below <= una && self.active.is_empty() && self.sacked.is_empty() && !self.is_without_news()
    }

    /// Takes note of a sign of trouble while everything below `nxt` was sent.
    pub(super) fn stir(&mut self, nxt: u64, setting: &Setting) {
        self.rest = Rest::Awake { since: setting.when.nanos, until: nxt, windows: 0 };
    }
}
